"""The public functions on runs that many workers can do: each is that of one process, and takes `engine=` as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.engine.public_tables import folder_named
from steelyard.engine.with_engine import with_engine
from steelyard.foundation.errors import SettingError
from steelyard.sampling.generate.generate_run import generate as generate_alone
from steelyard.sampling.progress import Progress
from steelyard.sampling.score.score import score as score_alone
from steelyard.sampling.score.score_samples import Scored

if TYPE_CHECKING:
    from steelyard.engine.engines import Engine


@with_engine(generate_alone)
def generate(
    questions: str | Path,
    run: str | Path,
    *,
    engine: Engine,
    parts: int | None = None,
    workers: str | int | None = None,
    fork: str | Path | None = None,
    **options: Any,
) -> Progress:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers ask, `workers` at once ("2:8").

    `run` becomes a run in `parts` parts, each of which one worker fills; by default 4 per worker. Every worker asks
    for `concurrency` samples at once. `fork` and `serve` are for one process; so is `agenerate`.
    """
    from steelyard.engine.parted_generate import generate_parts

    if fork is not None or options.pop("serve", None) is not None:
        raise SettingError("fork= and serve= are for a run of one process: leave them, or engine=, away")
    return generate_parts(questions, run, engine=engine, parts=parts, workers=workers, **options)


@with_engine(score_alone)
def score(
    run: Any,
    verifier: str,
    *,
    engine: Engine,
    workers: str | int | None = None,
    gpus_per_worker: float | None = None,
    upstream: str | None = None,
    at: str | None = None,
    output: str | Path | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
    **options: Any,
) -> Scored:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers score, `workers` at once ("2:8").

    `run` is then a run in parts, as `generate` leaves it with an engine; on Ray every worker has `gpus_per_worker`
    GPUs of its own, with `local` one if there are any. `ascore` is for one process.
    """
    from steelyard.engine.parted_score import score_parts

    if output is not None or rename or layout:
        raise SettingError("output=, rename= and layout= are for tables, and an engine scores a run in parts")

    def share(stands: Progress) -> None:
        progress(min(1.0, (stands.there + stands.done + stands.failed) / max(1, stands.wanted)))

    at = at if upstream is None else upstream
    return score_parts(
        str(folder_named(run)),
        verifier,
        engine=engine,
        workers=workers,
        gpus_per_worker=gpus_per_worker,
        at=at,
        progress=share,
        **options,
    )
