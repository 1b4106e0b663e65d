"""The folder that parts go to: whose it is, what may go on in it, and how it ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.files import make_folder, remove_leftovers
from steelyard.foundation.store_address import Address, Place
from steelyard.foundation.version import __version__
from steelyard.runs.claim import check_new, claim
from steelyard.runs.lock import RunLock
from steelyard.runs.parts import FILE, Parts, is_parted
from steelyard.runs.seal import read_seal, sealed
from steelyard.tables.sources.file_checks import reading

AT_ONCE = 16  # requests to a store


def wanted_parts(kind: str, parts: int, made: Mapping[str, Any], decides: Mapping[str, Any]) -> Parts:
    """What parts.json says while a folder is made; its order is the digest of all that decides what is in the parts."""
    content = {"kind": kind, "parts": parts, "steelyard": __version__, **decides}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return Parts(kind, parts, order=digest, made=dict(made))


@contextmanager
def held(target: Place, wanted: Parts) -> Iterator[None]:
    """Hold a folder while its parts are made; refuse one that holds something else.

    On an object store nothing is locked: the same order may be done twice at once, and does the same twice.
    """
    _check(target, wanted)
    if isinstance(target, Address):
        if not is_parted(target) and not claim(target, wanted):
            _check(target, wanted)  # another command was faster
        yield
        return
    make_folder(target)
    lock = RunLock(target)
    try:
        _check(target, wanted)  # another command may have begun, and ended, since
        if not is_parted(target):
            wanted.write(target)
        yield
    finally:
        lock.release()


def _check(target: Place, wanted: Parts) -> None:
    if isinstance(target, Path) and target.exists() and not target.is_dir():
        raise SettingError(f"cannot write to {target}: it is a file; {choose_another('folder')}")
    if is_parted(target):
        before = Parts.read(target)
        if before.order != wanted.order:
            raise SettingError(
                f"{target} holds {before.kind} of another command ({_difference(before, wanted)}): "
                f"{choose_another('folder')}"
            )
    elif isinstance(target, Address):
        check_new(target)
    elif target.exists() and any(map(_foreign, target.iterdir())):
        raise SettingError(f"cannot write to {target}: it already exists; {choose_another('folder')}")


def _foreign(path: Path) -> bool:
    """Whether a file is none of those that a command leaves behind which is killed in its first moment."""
    return path.name != "lock" and not path.name.startswith(f".{FILE}.")


def seals_of(paths: Sequence[Place], seal: Callable[[Place], dict[str, Any] | None]) -> Iterator[dict[str, Any] | None]:
    """What `sealed` or `read_seal` says of every part, one after the other; a store is asked for some at once."""
    if paths and isinstance(paths[0], Path):
        yield from map(seal, paths)
        return
    with ThreadPoolExecutor(AT_ONCE) as asking:
        for start in range(0, len(paths), AT_ONCE):
            yield from asking.map(seal, paths[start : start + AT_ONCE])


def finish(target: Place, wanted: Parts, paths: Sequence[Place]) -> Parts:
    """Write down that all parts are there, with the rows and the bytes of each."""
    seals = list(seals_of(paths, sealed if isinstance(target, Address) else read_seal))
    for path, seal in zip(paths, seals, strict=True):
        if seal is None or seal.get("order") != wanted.order:
            raise RunError(f"{path} was lost, or written by another command, meanwhile: run the same command again")
    with reading(paths[0]):
        schema = pl.scan_parquet(str(paths[0]), glob=False).collect_schema()
    sums: dict[str, Any] = {name: [seal[name] for seal in seals if seal] for name in ("rows", "bytes", "sha256")}
    if isinstance(target, Path):
        remove_leftovers(target)
    columns = {name: str(kind) for name, kind in schema.items()}
    whole = replace(wanted, columns=columns, finished=True, **sums)
    whole.write(target)
    return whole


def _difference(before: Parts, wanted: Parts) -> str:
    """What another order has otherwise, in a few words."""
    names = [name for name in wanted.made if before.made.get(name) != wanted.made[name]]
    told = [f"{name} was {before.made.get(name)!r:.60}, now {wanted.made.get(name)!r:.60}" for name in names]
    return "; ".join(told[:3]) or "the files that are read, the plan or the version of Steelyard have changed"
