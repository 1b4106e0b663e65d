"""Jobs from one folder of parts to another: each part is processed by one worker, sealed, and never processed twice.

The order is the digest of all settings, of the plan, of the parts that are read and of the version. A job with the same
order resumes where it was stopped; another one is refused. summary.json is written last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.input_parts import InputPart, InputParts
from steelyard.engine.scheduler import Failed
from steelyard.engine.worker_messages import failure_summary
from steelyard.foundation.arguments import choose_another
from steelyard.foundation.drafts import put_bytes
from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.files import make_folder, remove_leftovers
from steelyard.foundation.store_address import Address, Place, place_of
from steelyard.foundation.version import __version__
from steelyard.runs.lock import RunLock
from steelyard.runs.parts import FILE, Parts, check_new, claim, is_parted
from steelyard.runs.seal import read_seal, sealed, write_sealed_table
from steelyard.tables.layouts.long import Long
from steelyard.tables.sources.file_checks import reading
from steelyard.tables.writing import KEY, kind_of

SUMMARY = "summary.json"
AT_ONCE = 16  # requests to a store


@dataclass(frozen=True)
class TablePart:
    """An input part, and the path of its output."""

    read: InputPart
    target: str
    order: str

    @property
    def name(self) -> str:
        return self.read.name

    @property
    def path(self) -> str:
        return self.read.path


@dataclass(frozen=True)
class TableJob:
    """What to make: `kind` is the content of the parts, `settings` are all settings that determine it."""

    read: InputParts
    target: Place
    kind: str
    settings: Mapping[str, Any]
    reads: Mapping[str, str]  # files and their SHA-256, which must be the same for every worker

    def run(
        self,
        engine: Engine,
        task: Callable[[Any, TablePart], Any],
        order: Any,
        *,
        workers: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the summary of every part, first of those that exist already; in the end all parts exist."""
        rows = sum(part.rows for part in self.read.parts)
        expected = self._expected()
        with held(self.target, expected):
            into = self.target.absolute()
            parts = [TablePart(part, str(into / f"{part.name}.parquet"), expected.order) for part in self.read.parts]
            paths = [place_of(part.target) for part in parts]
            done = 0
            left: list[TablePart] = []
            for part, seal in zip(parts, seals_of(paths, sealed), strict=True):
                if seal is None or seal.get("order") != expected.order:
                    left.append(part)
                else:
                    done += part.read.rows
                    yield seal["summary"]
            failed: list[Failed[TablePart]] = []
            for result in engine.run(task, order, left, workers=workers, reads=self.reads) if left else ():
                done += result.part.read.rows
                if progress:
                    progress(done / max(1, rows))
                if isinstance(result, Failed):
                    failed.append(result)
                else:
                    yield result.summary
            if failed:
                raise RunError(failure_summary(failed, len(parts)))
            finish(self.target, expected, paths)

    def _expected(self) -> Parts:
        """The content of parts.json until the folder is finished."""
        made = {"from": str(self.read.source), **self.settings}
        decides = {"settings": self.settings, "reads": sorted(self.reads.values()), "from": self.read.digest}
        return parts_to_make(self.kind, len(self.read.parts), made, decides)

    def summarise(self, summary: Mapping[str, Any]) -> None:
        """Write summary.json, the last file."""
        put_bytes(self.target / SUMMARY, (json.dumps(summary, indent=2) + "\n").encode(), follow=True)


def check_cut(source: Place, settings: Mapping[str, Any]) -> None:
    """Refuse options that change the questions: one question would then be in several parts."""
    rename = settings.get("rename") or {}
    again = f"cut its rows again with 'steelyard partition {source} -o FOLDER', which takes these options too"
    if "question" in {*rename, *rename.values()}:
        raise SettingError(f"--rename cannot change 'question', by which {source} is cut into parts: {again}")
    if settings.get("layout", Long.name) != Long.name:
        raise SettingError(
            f"--layout {settings['layout']} is for files, and {source} has one row per response: {again}"
        )


def seal_part(part: TablePart, table: pl.DataFrame, summary: Mapping[str, Any]) -> None:
    """Write the output of a part, sealed."""
    made_from, metadata = {"order": part.order, "summary": summary}, {KEY: kind_of(table.columns)}
    write_sealed_table(place_of(part.target), table, made_from, safe="what is sealed is safe", metadata=metadata)


def parts_to_make(kind: str, parts: int, made: Mapping[str, Any], decides: Mapping[str, Any]) -> Parts:
    """The content of parts.json until a folder is finished; its order is the digest of what determines the parts."""
    content = {"kind": kind, "parts": parts, "steelyard": __version__, **decides}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return Parts(kind, parts, order=digest, made=dict(made))


@contextmanager
def held(target: Place, expected: Parts) -> Iterator[None]:
    """Lock a folder while its parts are made; refuse one with other content.

    An object store has no locks: the same job may run twice at once, with the same output.
    """
    _check(target, expected)
    if isinstance(target, Address):
        if not is_parted(target) and not claim(target, expected):
            _check(target, expected)  # another command was faster
        yield
        return
    make_folder(target)
    lock = RunLock(target)
    try:
        _check(target, expected)  # another command may have begun, and ended, since
        if not is_parted(target):
            expected.write(target)
        yield
    finally:
        lock.release()


def _check(target: Place, expected: Parts) -> None:
    if isinstance(target, Path) and target.exists() and not target.is_dir():
        raise SettingError(f"cannot write to {target}: it is a file; {choose_another('folder')}")
    if is_parted(target):
        before = Parts.read(target)
        if before.order != expected.order:
            raise SettingError(
                f"{target} holds {before.kind} of another command ({_changes(before, expected)}): "
                f"{choose_another('folder')}"
            )
    elif isinstance(target, Address):
        check_new(target)
    elif target.exists() and any(map(_is_foreign, target.iterdir())):
        raise SettingError(f"cannot write to {target}: it already exists; {choose_another('folder')}")


def _is_foreign(path: Path) -> bool:
    """Whether a file is not a leftover of a command that was killed at its start."""
    return path.name != "lock" and not path.name.startswith(f".{FILE}.")


def seals_of(paths: Sequence[Place], seal: Callable[[Place], dict[str, Any] | None]) -> Iterator[dict[str, Any] | None]:
    """The result of `sealed` or `read_seal` for every part; a store gets several requests at once."""
    if paths and isinstance(paths[0], Path):
        yield from map(seal, paths)
        return
    with ThreadPoolExecutor(AT_ONCE) as asking:
        for start in range(0, len(paths), AT_ONCE):
            yield from asking.map(seal, paths[start : start + AT_ONCE])


def finish(target: Place, expected: Parts, paths: Sequence[Place]) -> Parts:
    """Mark the folder as finished, with the rows and the bytes of each part."""
    seals = list(seals_of(paths, sealed if isinstance(target, Address) else read_seal))
    for path, seal in zip(paths, seals, strict=True):
        if seal is None or seal.get("order") != expected.order:
            raise RunError(f"{path} was lost, or written by another command, meanwhile: run the same command again")
    with reading(paths[0]):
        schema = pl.scan_parquet(str(paths[0]), glob=False).collect_schema()
    sums: dict[str, Any] = {name: [seal[name] for seal in seals if seal] for name in ("rows", "bytes", "sha256")}
    if isinstance(target, Path):
        remove_leftovers(target)
    columns = {name: str(kind) for name, kind in schema.items()}
    finished = replace(expected, columns=columns, finished=True, **sums)
    finished.write(target)
    return finished


def _changes(before: Parts, expected: Parts) -> str:
    """The differences to another order, in a few words."""
    names = [name for name in expected.made if before.made.get(name) != expected.made[name]]
    changes = [f"{name} was {before.made.get(name)!r:.60}, now {expected.made.get(name)!r:.60}" for name in names]
    return "; ".join(changes[:3]) or "the files that are read, the plan or the version of Steelyard have changed"
