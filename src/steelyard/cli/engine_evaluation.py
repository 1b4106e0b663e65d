"""`evaluate --engine`: methods that are measured by many workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli import show
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    import polars as pl


def check_engine(engine: str | None, workers: int | None, files: list[Path], frugal: str | None) -> None:
    """Refuse what has no meaning with an engine, or without one."""
    if engine is None:
        if workers is not None:
            raise SettingError("--workers is for an engine: give --engine ray or --engine processes:2 too")
    elif frugal is not None:
        raise SettingError("--frugal is replayed in this process: leave --engine away")
    elif any(str(file) == "-" for file in files):
        raise SettingError("workers cannot read standard input: save it as a file, or leave --engine away")


def measured_by(
    engine: str, workers: int | None, methods: list[str], files: list[Path], reading: dict[str, Any], **split: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Let an engine measure every method: their accuracy, and how good their confidence is."""
    from steelyard.engine.engines import engine_of
    from steelyard.engine.evaluate_methods import EvaluateOrder, evaluate_methods

    named = tuple(str(file.absolute() if file.exists() else file) for file in files)
    read = tuple((reading | {"rename": tuple(reading["rename"].items())}).items())
    wanted = split | {"n": tuple(split["n"]) if split["n"] else None}
    order = EvaluateOrder(files=named, reading=read, **wanted)
    with show.progress("Evaluating") as progress:
        return evaluate_methods(methods, order, engine_of(engine), workers=workers, progress=progress)
