"""`sy.score`: have a verifier score a run, from this process, or a run in parts, by many workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO
from steelyard.engine.engines import Engine, engine_of
from steelyard.engine.process_engine import ProcessEngine
from steelyard.engine.run_jobs import holds_of, read_workers, run_parts, unfinished
from steelyard.engine.run_progress import RunProgress
from steelyard.engine.score_worker import JUDGED, ScorePartsOrder, read_servers, score_part
from steelyard.engine.with_engine import folder_named, with_engine
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.lock import check_no_store
from steelyard.runs.part_folders import check_storage
from steelyard.runs.parted_run import PartedRun, stored_settings
from steelyard.runs.parts import is_parted_run
from steelyard.runs.token_usage import total_usage
from steelyard.sampling.llm.address import KEY_ENV
from steelyard.sampling.progress import Progress
from steelyard.sampling.score.frugal_rule import frugal_rule
from steelyard.sampling.score.frugal_score import check_readable
from steelyard.sampling.score.score import ScoreOrder, check_has_samples
from steelyard.sampling.score.score import score as score_alone
from steelyard.sampling.score.score_samples import Scored, refuse_other
from steelyard.voting.methods.base.method import Method


@with_engine(score_alone)
def score(
    run: Any,
    verifier: str,
    *,
    engine: Engine,
    workers: str | int | None = None,
    gpus_per_worker: float | None = None,
    upstream: str | None = None,
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
    if output is not None or rename or layout:
        raise SettingError("output=, rename= and layout= are for tables, and an engine scores a run in parts")

    def share(total: Progress) -> None:
        progress(min(1.0, (total.there + total.done + total.failed) / max(1, total.requested)))

    options |= {"workers": workers, "gpus_per_worker": gpus_per_worker, "at": upstream, "progress": share}
    return score_parts(str(folder_named(run)), verifier, engine=engine, **options)


def score_parts(
    run: str | Path,
    verifier: str,
    *,
    engine: str | Engine,
    workers: str | int | None = None,
    gpus_per_worker: float | None = None,
    at: str | None = None,
    plan: Method | str | Path | None = None,
    frugal: str | bool | None = None,
    answers: str = AUTO,
    progress: Callable[[Progress], None] = lambda _: None,
    **options: Any,
) -> Scored:
    """Have a verifier score every response of a run in parts; what is scored is never asked twice.

    Every worker loads the verifier once, and keeps it from part to part; on Ray it has a GPU of its own if there are
    any, unless `gpus_per_worker` says otherwise. Of several servers, `at="URL,URL"`, each worker asks its own. The
    scores are those of `score` with the same options; asked on demand they are the same too, as a rule looks at one
    question at a time. A part that cannot be scored is named in the RunError at the end, and the others are scored.
    """
    chosen_engine, worker_range = engine_of(engine), read_workers(workers)
    servers = read_servers(at, options.get("key_env", KEY_ENV))
    order = ScoreOrder(verifier, at=servers[0] if servers else None, **options)
    order.check(on_demand=bool(frugal))
    gpus = _gpus(gpus_per_worker, order, chosen_engine)
    on_demand = frugal_rule(frugal, plan, order.name, answers)
    check_no_store(run)
    folder = Path(run)
    if not is_parted_run(folder):
        raise SettingError(
            f"{folder} is not a run in parts, which --engine needs: make one with 'steelyard generate --engine', "
            "or leave out --engine"
        )
    check_storage(folder)
    parted = PartedRun.read(folder)
    scoring = order.scoring(parted.manifest)
    refuse_other(folder, stored_settings(folder, scoring.column) or asdict(scoring), scoring)
    parts = parted.finished()
    if (missing := len(parted.nonempty_parts) - len(parts)) > 0:
        raise RunError(
            f"{missing} of {len(parted.nonempty_parts)} parts of {folder} are not completely sampled: "
            "run its 'steelyard generate' command again first"
        )
    responses = sum(holds_of(parted, part).get("samples", 0) for part in parts)
    check_has_samples(folder, responses)
    status = RunProgress(folder, responses, len(parts), "responses", progress)
    parts_order = ScorePartsOrder(folder.resolve(), order, gpus is None or gpus > 0, on_demand, servers)
    failed = run_parts(chosen_engine, score_part, parts_order, parted, parts, status, workers=worker_range, gpus=gpus)
    if failed:
        raise unfinished(parted, failed, len(parts), stopped=status.stopped)
    done = _total(folder, status)
    if on_demand is not None:
        check_readable(folder, done.readable)
        done.rule = on_demand.rule.name
    return done


def _gpus(requested: float | None, order: ScoreOrder, engine: Engine) -> float | None:
    """The GPUs of each worker; None is one where there are any. Refuse those that would stand idle."""
    if requested is None:
        return None if order.local else 0
    if requested and isinstance(engine, ProcessEngine):
        raise SettingError(
            "processes share the GPUs of this machine: leave out --gpus-per-worker, or use --engine ray, where each "
            "worker has its own"
        )
    if requested and not order.local:
        raise SettingError(
            f"{order.verifier} does not run in workers, so GPUs would be idle: leave out --gpus-per-worker, or run "
            "the verifier in the workers with --local"
        )
    if not 0 <= requested <= 1:
        raise SettingError(
            f"a verifier runs on one GPU, and --gpus-per-worker is {requested:g}: give 1, less than 1 to have workers "
            "share a GPU, or 0 for CPUs"
        )
    return requested


def _total(folder: Path, status: RunProgress) -> Scored:
    """What the workers did, as one."""
    parts = list(status.finished.values())
    done = Scored(new=sum(part.done for part in parts), run=folder, spent=total_usage(status.total.spent))
    for name in ("before", "truncated", "empty", "unsampled", "not_scored", "copied", "readable", *JUDGED):
        setattr(done, name, sum(part.details[name] for part in parts))
    done.failures = sum((part.reasons for part in parts), Counter[str]())
    done.detected = next((part.details["detected"] for part in parts if part.details["detected"]), {})
    return done
