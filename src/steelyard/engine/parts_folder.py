"""The folder that parts go to: whose it is, what may go on in it, and how it ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import RunError, SettingError
from steelyard.files import make_folder, remove_leftovers
from steelyard.runs.lock import RunLock
from steelyard.runs.parts import FILE, Parts, is_parted
from steelyard.runs.seal import read_seal
from steelyard.version import __version__


def wanted_parts(kind: str, parts: int, made: Mapping[str, Any], decides: Mapping[str, Any]) -> Parts:
    """What parts.json says while a folder is made; its order is the digest of all that decides what is in the parts."""
    content = {"kind": kind, "parts": parts, "steelyard": __version__, **decides}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return Parts(kind, parts, order=digest, made=dict(made))


@contextmanager
def held(target: Path, wanted: Parts) -> Iterator[None]:
    """Hold a folder while its parts are made; refuse one that holds something else."""
    _check(target, wanted)
    make_folder(target)
    lock = RunLock(target)
    try:
        _check(target, wanted)  # another command may have begun, and ended, since
        if not is_parted(target):
            wanted.write(target)
        yield
    finally:
        lock.release()


def _check(target: Path, wanted: Parts) -> None:
    if target.exists() and not target.is_dir():
        raise SettingError(f"cannot write to {target}: it is a file; choose a folder with -o")
    if is_parted(target):
        before = Parts.read(target)
        if before.order != wanted.order:
            raise SettingError(
                f"{target} holds {before.kind} of another command ({_difference(before, wanted)}): "
                "choose another folder with -o"
            )
    elif target.exists() and any(map(_foreign, target.iterdir())):
        raise SettingError(f"cannot write to {target}: it is there already; choose another folder with -o")


def _foreign(path: Path) -> bool:
    """Whether a file is none of those that a command leaves behind which is killed in its first moment."""
    return path.name != "lock" and not path.name.startswith(f".{FILE}.")


def finish(target: Path, wanted: Parts, paths: Sequence[Path]) -> Parts:
    """Write down that all parts are there, with the rows and the bytes of each."""
    seals = [read_seal(path) for path in paths]
    for path, seal in zip(paths, seals, strict=True):
        if seal is None or seal.get("order") != wanted.order:
            raise RunError(f"{path} was lost, or written by another command, meanwhile: run the same command again")
    columns = {name: str(kind) for name, kind in pl.read_parquet_schema(paths[0]).items()}
    sums: dict[str, Any] = {name: [seal[name] for seal in seals if seal] for name in ("rows", "bytes", "sha256")}
    remove_leftovers(target)
    whole = replace(wanted, columns=columns, finished=True, **sums)
    whole.write(target)
    return whole


def _difference(before: Parts, wanted: Parts) -> str:
    """What another order has otherwise, in a few words."""
    names = [name for name in wanted.made if before.made.get(name) != wanted.made[name]]
    told = [f"{name} was {before.made.get(name)!r:.60}, now {wanted.made.get(name)!r:.60}" for name in names]
    return "; ".join(told[:3]) or "the files that are read, the plan or the version of Steelyard have changed"
