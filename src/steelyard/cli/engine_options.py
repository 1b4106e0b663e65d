"""Options of verbs that many workers can do (--engine, --workers), and the log of their progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from steelyard.cli import options as opt
from steelyard.cli.progress_display import live, progress_bar, sentence
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place, place_of

if TYPE_CHECKING:
    import polars as pl

    from steelyard.sampling.progress import Progress

LOG = "progress.log"
EVERY = 30.0  # seconds between lines of the log, unless a part is finished
EngineName = Annotated[
    str | None,
    opt.option(
        "--engine",
        "NAME",
        "Run in parallel with ray, ray:ADDRESS (a cluster) or processes:2. Default: this process only.",
    ),
]
Workers = Annotated[
    int | None,
    opt.option(
        "--workers", "COUNT", "With --engine: number of parts processed at once. Default: as many as fit.", min=1
    ),
]
WorkerRange = Annotated[
    str | None,
    opt.option(
        "--workers",
        "COUNT",
        "With --engine: number of parts processed at once, or a range such as 2:8. Default: as many as fit.",
    ),
]


def folder_for(
    files: list[Path], output: Path | None, engine: str | None, workers: int | None, overwrite: bool
) -> Place | None:
    """The folder of parts for an engine; None without an engine."""
    if engine is None:
        if workers is not None:
            raise SettingError("--workers needs an engine: add --engine ray or --engine processes:2")
        return None
    if len(files) > 1:
        raise SettingError("--engine needs a single folder of parts: make one with 'steelyard partition'")
    if output is None:
        raise SettingError("--engine writes a folder: name it with -o")
    no_overwrite(overwrite)
    return place_of(files[0])


def no_overwrite(overwrite: bool) -> None:
    """Refuse --overwrite with an engine."""
    if overwrite:
        raise SettingError("--engine overwrites no folder: leave out --overwrite, and choose another folder with -o")


def need_engine(**options: Any) -> None:
    """Refuse options that need an engine."""
    for name, value in options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise SettingError(f"{option} needs an engine: add --engine ray or --engine processes:2")


@contextmanager
def logged(
    title: str, folder: Path, keep: Callable[[Progress], None] = lambda _: None
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows where the work on all parts stands, and writes lines to RUN/progress.log.

    `keep` is called with it too.
    """
    last = {"parts": -1, "time": float("-inf")}
    with live(title) as shown:

        def tell(progress: Progress) -> None:
            keep(progress)
            shown(progress)
            now = time.monotonic()
            if progress.pieces_done != last["parts"] or now - last["time"] > EVERY:
                last.update(parts=progress.pieces_done, time=now)
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
                with (
                    suppress(OSError),
                    (folder / LOG).open("a", encoding="utf-8") as file,
                ):  # a failing log does not stop the job
                    file.write(f"{stamp} {title}: {sentence(progress)}\n")

        yield tell


def check_engine(engine: str | None, workers: int | None, files: list[Path], frugal: str | None) -> None:
    """Refuse options that need an engine, or that exclude one."""
    if engine is None:
        if workers is not None:
            raise SettingError("--workers needs an engine: add --engine ray or --engine processes:2")
    elif frugal is not None:
        raise SettingError("--frugal is replayed in this process: leave out --engine")
    elif any(str(file) == "-" for file in files):
        raise SettingError("workers cannot read standard input: save it as a file, or leave out --engine")


def measured_by(
    engine: str, workers: int | None, methods: list[str], files: list[Path], reading: dict[str, Any], **split: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Measure every method on an engine: accuracy, and the quality of the confidence."""
    from steelyard.engine.engines import engine_of
    from steelyard.engine.evaluate import EvaluateOrder, evaluate_methods

    paths = tuple(str(file.absolute() if file.exists() else file) for file in files)
    reading_options = tuple((reading | {"rename": tuple(reading["rename"].items())}).items())
    settings = split | {"n": tuple(split["n"]) if split["n"] else None}
    order = EvaluateOrder(files=paths, reading=reading_options, **settings)
    with progress_bar("Evaluating") as progress:
        return evaluate_methods(methods, order, engine_of(engine), workers=workers, progress=progress)
