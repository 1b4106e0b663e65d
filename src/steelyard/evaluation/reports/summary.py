"""Everything the page says about one file, as plain data without HTML or charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from steelyard.evaluation.accuracy import Estimate, accuracy, estimates, need_labels, paired_difference
from steelyard.evaluation.accuracy_curves import Curves, curves
from steelyard.evaluation.matching_compute import ComputeToMatch, compute_to_match, fine_sizes
from steelyard.foundation.errors import LabelError, RunError, SettingError
from steelyard.runs.bill import run_bills
from steelyard.tables.score_spelling import parse_score
from steelyard.voting.confidence.calibration_error import CalibrationCurve, calibration_curve
from steelyard.voting.fitting.score_quality import auroc, auroc_within
from steelyard.voting.methods import configured, fit_or_majority, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_scored
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts

COMPARED = ("majority", "best-of-n", "vanilla", "linear", "logit", "kde", "calibrated", "pass-at-n")
COMMITTEES = ("consensus", "committee")  # also compared where there are several sources
BASELINES = ("majority", "best-of-n", "vanilla", "consensus")  # those of them that were compared
DRAWN = 5_000_000  # responses drawn for the scaling curves, at most
MOST_DRAWS = 100
RULE = "exact"


@dataclass(frozen=True)
class Case:
    """One file: the questions it was calibrated and tested on, and what every method decided."""

    name: str
    method: Method  # fitted; the one the page is about
    cal: LabelledPool
    test: LabelledPool
    verdicts: dict[str, Verdicts]  # by method, at the full N
    raw: tuple[LabelledPool, LabelledPool]  # cal and test before the method mixed their scores, if there are several


@dataclass(frozen=True)
class Summary:
    """What one file shows; accuracies are shares of the test questions, at the full N where no n is named."""

    file: str
    llm: str | None
    score: str
    method: str
    learns: bool
    n: int
    cal_questions: int
    test_questions: int
    cal_samples: int
    share: float
    seed: int
    draws: int
    b: float | None  # None: the method has no such point
    harmful: float | None  # share of the calibration responses that harm their answer; None: the method does not say
    accuracy: dict[str, Estimate]
    gain: dict[str, Estimate]  # the method's, paired, over each baseline
    match: dict[str, ComputeToMatch]  # samples to reach each baseline's accuracy at full N
    auroc: float | None  # None: there are no scores
    auroc_within: float | None
    calibration: CalibrationCurve | None  # None: the method has learned no probability
    curves: list[dict[str, Any]]  # method, n, accuracy, low, high
    attempted: float | None = None  # share of the method's verdicts; None: no response is marked as not attempted


def open_case(name: str, pool: LabelledPool, method: str, *, share: float, seed: int) -> Case:
    """Split a labelled pool, fit every method on one part and let it vote on the other."""
    try:
        labelled = need_labels(pool)
    except LabelError as error:
        raise LabelError(f"{name}: {error}") from None
    if method_class(method).oracle:
        raise SettingError(
            f"{method} is an oracle: it reads labels when it votes; a report needs a method that does not"
        )
    cal, test = labelled.split(share, seed=seed)
    voters = {key: fit_or_majority(_voter(key, seed), cal, test.n) for key in _compared(labelled, method)}
    verdicts = {key: voter.predict(test) for key, voter in voters.items()}
    mine = voters[method]
    return Case(name, mine, mine.mixed(cal), mine.mixed(test), verdicts, (cal, test))


def _compared(pool: LabelledPool, method: str) -> list[str]:
    """The methods that can vote on a pool: without scores those that read none, with several sources the committees."""
    names = dict.fromkeys((*COMPARED, *(COMMITTEES if len(pool.sources) > 1 else ()), method))

    def votes(name: str) -> bool:
        kind = method_class(name)
        return (pool.scores is not None or not kind.scored) and (pool.similarity is None or kind.votes_on_similar)

    return [name for name in names if name == method or votes(name)]


def _voter(name: str, seed: int) -> Method:
    return configured(name, {"seed": seed} if "seed" in method_class(name)().settings() else {})


def summarise(case: Case, *, share: float, seed: int, progress: Callable[[float], None] | None = None) -> Summary:
    """Measure everything the page shows of a case, apart from its ballots."""
    cal, test, method = case.cal, case.test, case.method.name
    draws = max(3, min(MOST_DRAWS, DRAWN // test.n_responses))
    methods = [_voter(name, seed) for name in case.verdicts]
    again: Literal["each", "full"] = "full" if len(test.sources) > 1 else "each"  # n of the sources are no committee
    measured = curves(
        methods, *case.raw, n=fine_sizes(test.n), resamples=draws, recalibrate=again, seed=seed, progress=progress
    )
    mine = case.verdicts[method]
    others = [name for name in BASELINES if name != method and name in case.verdicts]
    return Summary(
        file=case.name,
        llm=test.origin.llm or (f"{len(test.sources)} sources" if test.sources else None),
        score=test.origin.score or ("" if test.scores is not None else "none"),
        method=method,
        learns=case.method.learns,
        n=test.n,
        cal_questions=cal.n_questions,
        test_questions=test.n_questions,
        cal_samples=measured.calibration_samples,
        share=share,
        seed=seed,
        draws=draws,
        b=getattr(case.method, "b", None),
        harmful=getattr(case.method, "harmful_response_share_", None),
        accuracy={name: accuracy(verdicts, test, seed=seed) for name, verdicts in case.verdicts.items()},
        gain={name: paired_difference(mine, case.verdicts[name], test, seed=seed) for name in others},
        match={name: compute_to_match(measured, method, name, seed=seed) for name in others},
        auroc=None if test.scores is None else auroc(test),
        auroc_within=None if test.scores is None else auroc_within(test),
        calibration=None if mine.p_correct is None else calibration_curve(mine.p_correct, mine.correct(test)),
        curves=_rows(measured, seed),
        attempted=float(mine.correct(test.labelled_by_attempt()).mean()) if test.reports_attempts else None,
    )


def _rows(measured: Curves, seed: int) -> list[dict[str, Any]]:
    """One row per method and n, with its interval over questions; sizes a method could not be fitted at are absent."""
    questions = len(measured.correct)
    every = estimates(measured.correct.reshape(questions, -1), seed=seed, shares=True)
    keys = [(name, size) for size in measured.sizes for name in measured.methods]
    return [
        {"method": name, "n": size, "accuracy": float(value), "low": value.low, "high": value.high}
        for (name, size), value in zip(keys, every, strict=True)
        if not np.isnan(value)
    ]


def verifier_facts(file: str | Path, case: Case) -> dict[str, str]:
    """The share of the responses that had to be read for the same verdicts; and what a run was billed for."""
    facts = {}
    test = case.raw[1]
    if test.scores is not None and test.parts is None and case.method.reads_scores():
        try:
            on_demand = replay(asking_rule(RULE), case.method, test.unlabelled())
        except SettingError:  # the method gives no bounds
            pass
        else:
            share = float(texts_scored(on_demand).sum() / test.n_responses)
            facts["read by score --frugal"] = f"{100 * share:.1f} % of the responses, same verdicts"
    score = parse_score(test.origin.score or "")
    return facts | (_billed(Path(file), score.column) if score else {})


def _billed(run: Path, column: str) -> dict[str, str]:
    """What a run says that its verifier has read."""
    try:
        entry = run_bills(run).get(column)
    except RunError:
        return {}
    if entry is None:
        return {}
    bill = entry.bill
    total = bill["read"] + bill["copied"] + bill["not_scored"]
    tokens = "" if not bill["tokens_read"] else f" ({bill['tokens_read']:,} tokens)"
    seconds = f" in {bill['seconds']:.3g} s" if bill["seconds"] else ""
    return {"the verifier read": f"{bill['read']:,} of {total:,} responses{tokens}{seconds}"}
