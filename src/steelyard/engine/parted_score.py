"""A run in parts, scored by many workers: `steelyard score RUN --engine`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from steelyard.engine.board import Board
from steelyard.engine.engines import Engine, engine_of
from steelyard.engine.over_parts import holds_of, over_parts, read_workers, unfinished
from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.score_part import PartsScoreOrder, score_part
from steelyard.errors import RunError, SettingError
from steelyard.jobs.frugal_rule import frugal_rule
from steelyard.jobs.frugal_score import check_readable
from steelyard.jobs.progress import Progress
from steelyard.jobs.score_opened import ScoreOrder
from steelyard.jobs.score_samples import Scored, refuse_other
from steelyard.llm.embedded import LOCAL
from steelyard.methods.base.method import Method
from steelyard.runs.part_folders import check_storage
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.parted_scores import settled
from steelyard.runs.parts import is_parted_run


def score_parts(
    run: str | Path,
    verifier: str,
    *,
    engine: str | Engine,
    workers: str | int | None = None,
    gpus_per_worker: float = 0,
    plan: Method | str | Path | None = None,
    frugal: str | bool | None = None,
    answers: str = "math",
    progress: Callable[[Progress], None] = lambda _: None,
    **options: Any,
) -> Scored:
    """Have a verifier score every response of a run in parts; what is scored is never asked twice.

    Every worker loads the verifier once, and keeps it from part to part. The scores are those of `score` with the same
    options; asked on demand they are the same too, as a rule looks at one question at a time. A part that cannot be
    scored is named in the RunError at the end, and the others are scored.
    """
    chosen, many = engine_of(engine), read_workers(workers)
    order = ScoreOrder(verifier, **options)
    if order.at == LOCAL:
        raise SettingError("the embedded LLM is for one process: name a server with --upstream URL")
    order.check()
    on_demand = frugal_rule(frugal, plan, order.name, answers)
    if gpus_per_worker and isinstance(chosen, ProcessEngine):
        raise SettingError(
            "processes share the GPUs of this machine: leave --gpus-per-worker away, or use --engine ray, where each "
            "worker has its own"
        )
    folder = Path(run)
    if not is_parted_run(folder):
        raise SettingError(
            f"{folder} is no run in parts, which many workers can score: make one with 'steelyard generate --engine', "
            "or leave --engine away"
        )
    if not 0 <= gpus_per_worker <= 1024:
        raise SettingError(f"a worker cannot have {gpus_per_worker:g} GPUs: --gpus-per-worker is 0 or more")
    check_storage(folder)
    parted = PartedRun.read(folder)
    scoring = order.scoring(parted.manifest)
    refuse_other(folder, settled(folder, scoring.column) or asdict(scoring), scoring)
    parts = parted.finished()
    if len(parts) < len(parted.wanted):
        raise RunError(
            f"{len(parted.wanted) - len(parts)} of {len(parted.wanted)} parts of {folder} are not sampled to their "
            "end: give its 'steelyard generate' command again first"
        )
    responses = sum(holds_of(parted, part).get("samples", 0) for part in parts)
    board = Board(folder, responses, len(parts), "responses", progress)
    wanted = PartsScoreOrder(folder.resolve(), order, gpus_per_worker > 0, on_demand)
    failed = over_parts(chosen, score_part, wanted, parted, parts, board, workers=many, gpus=gpus_per_worker)
    if failed:
        raise unfinished(parted, failed, len(parts), stopped=board.stopped)
    done = _added_up(folder, board)
    if on_demand is not None:
        check_readable(folder, done.readable)
        done.rule = on_demand.rule.name
    return done


def _added_up(folder: Path, board: Board) -> Scored:
    """What the workers did, as one."""
    parts = list(board.finished.values())
    done = Scored(new=sum(part.done for part in parts), run=folder)
    for name in ("before", "truncated", "empty", "unsampled", "not_asked", "copied", "readable"):
        setattr(done, name, sum(part.about[name] for part in parts))
    done.failures = sum((part.reasons for part in parts), Counter[str]())
    done.found = next((part.about["found"] for part in parts if part.about["found"]), {})
    return done
