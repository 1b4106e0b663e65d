"""steelyard evaluate: how good every method is on a labelled file, over N."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.engine_options import EngineName, Workers, check_engine, measured_by
from steelyard.cli.evaluate_view import (
    check_frugal,
    methods_without_scores,
    refuse_beside_plan,
    replay,
    show_frugal,
    show_replay,
    warn_of_accuracy,
)
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.sampling_options import ScorePrice
from steelyard.cli.text_tables import print_accuracies, print_outcomes, print_table

if TYPE_CHECKING:
    import polars as pl

    from steelyard.voting.pools.pool import LabelledPool

ENOUGH = 20_000_000  # responses drawn in all, unless --resamples says otherwise
PART = 0.3  # of the questions to calibrate on
EXAMPLE = (
    "Example: steelyard evaluate labelled.parquet --score prm -n 1,4,16 --method majority,logit\n\n"
    "Example (a plan made by plan-budget): steelyard evaluate other.parquet --plan plan.json"
)


def run(
    files: opt.Files,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    calibrate: Annotated[float | None, opt.calibrate_option("Default: 0.3.")] = None,
    n: Annotated[str | None, opt.n_option("Several: 1,2,4. Default: powers of two, and all samples")] = None,
    method: Annotated[
        list[str] | None,
        opt.method_option(
            "Repeatable, or several with commas: majority,logit. Default: all except borda, mob and other rare ones."
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help="Random subsets of n samples per question; 0: the first n. Default: 100, or fewer for large files.",
        ),
    ] = None,
    frugal: Annotated[
        str | None,
        opt.option(
            "--frugal",
            "RULE",
            "Score on demand: replay exact (changes no verdict) or expected (scores worth their price).",
        ),
    ] = None,
    price_score: ScorePrice = None,
    plan: Annotated[
        Path | None,
        opt.option(
            "--plan",
            "FILE",
            "Plan made by 'steelyard fit'. Instead of measuring methods, replay its cascade on questions it was "
            "not learned on.",
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        opt.option(
            "--price",
            "NAME=PRICE",
            "Price of a million tokens of each source, such as gpt=10,llama=0.1. Or sample=COLUMN, a column of "
            "costs. With --plan. Default: the plan's.",
        ),
    ] = None,
    shuffle_scores: Annotated[
        bool, typer.Option("--shuffle-scores", help="Control experiment: shuffle the test scores.")
    ] = False,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    engine: EngineName = None,
    workers: Workers = None,
    json: opt.Json = False,
) -> None:
    """Fit each method on some of the questions and measure it on the rest."""
    import steelyard as sy
    from steelyard.evaluation.accuracy import need_labels
    from steelyard.evaluation.accuracy_curves import all_methods
    from steelyard.evaluation.scores_on_demand import evaluate_frugal
    from steelyard.tables.score_columns import NO_SCORE
    from steelyard.tables.source_column import source_of_run

    source = source or source_of_run(files)
    reading: dict[str, Any] = {
        "score": score, "source": source, "rename": opt.renames(rename), "layout": layout, "answers": answers,
        "labels": labels,
    }  # fmt: skip
    if plan is not None:
        beside = {"calibrate": calibrate is not None, "resamples": resamples is not None, "frugal": frugal}
        beside |= {"price_score": price_score is not None, "engine": engine}
        refuse_beside_plan(method=method, n=n, shuffle_scores=shuffle_scores, **beside)
        show_replay(replay(files, plan, opt.names(price), seed=seed, **reading), json)
        return
    if price is not None:
        raise sy.SettingError("--price needs a plan with a cascade: add --plan plan.json")
    check_engine(engine, workers, files, frugal)
    chosen = opt.names(method)
    check_frugal(frugal, price_score)
    if frugal is not None and chosen is None:
        chosen = ["calibrated"]
    scored = any(sy.method_class(name).scored for name in chosen) if chosen is not None else source is None
    with progress_bar(f"Reading {opt.title_of(files)}") as counted:
        read = sy.read(
            opt.source_of(files), **reading, need_score=scored, texts=frugal is not None, progress=counted
        )  # fmt: skip
    pool = need_labels(read)
    if chosen is None and (score == NO_SCORE or (pool.scores is None and len(pool.sources) < 2)):
        chosen = methods_without_scores(pool)
    cal, test = pool.split(PART if calibrate is None else calibrate, seed=seed)
    if shuffle_scores:
        test = test.with_shuffled_scores(seed)
    sizes = {"calibration_questions": cal.n_questions, "test_questions": test.n_questions, "seed": seed}
    if frugal is not None:
        prices = {} if price_score is None else {"price": price_score}
        with progress_bar("Replaying"):
            replayed = evaluate_frugal(chosen or [], cal, test, frugal, n=opt.numbers(n), seed=seed, **prices)
        show_frugal(replayed, {"rule": frugal, **sizes, "score": pool.origin.score}, json)
        return
    draws = resamples if resamples is not None else max(3, min(100, ENOUGH // test.n_responses))
    listed, drawn = (
        all_methods(cal) if chosen is None else chosen,
        {"n": opt.numbers(n), "resamples": draws, "seed": seed},
    )
    if engine is None:
        result, trust = _measured(listed, cal, test, **drawn)
    else:
        split = {"calibrate": PART if calibrate is None else calibrate, "shuffle_scores": shuffle_scores, **drawn}
        result, trust = measured_by(
            engine, workers, listed, files, reading | {"need_score": scored, "answers": pool.origin.answers}, **split
        )
    warn_of_accuracy(pool)
    facts = {**sizes, "changes": _changes(listed, cal, test)}
    if json:
        report = {"rows": result.to_dicts(), **facts, "score": pool.origin.score, "resamples": draws}
        console.as_json(report | {"confidence": trust.to_dicts()})
        return
    _show(result, trust, listed, test.n, facts)


def _show(result: pl.DataFrame, trust: pl.DataFrame, methods: list[str], n: int, facts: dict[str, Any]) -> None:
    """Print the accuracy of every method, and how good its confidence is."""
    from steelyard.voting.methods import method_class

    oracles = {name for name in methods if method_class(name).oracle}
    print_accuracies(result, facts["calibration_questions"], facts["test_questions"], oracles)
    print_outcomes(result)
    rows = [(name, *(f"{value:.3f}" for value in values)) for name, *values in trust.iter_rows()]
    if rows:
        print_table(f"Is the confidence calibrated? At n = {n}, smaller is better", trust.columns, rows)
    without = [name for name in methods if name not in {*oracles, *trust["method"]}]
    if without:
        console.tell(f"No confidence, because they learn no probability: {', '.join(without)}.")
    console.tell("\n".join(facts["changes"].values()))


def _changes(methods: list[str], cal: LabelledPool, test: LabelledPool) -> dict[str, str]:
    """What the default and a committee learned, and how many test verdicts they change against the majority vote."""
    import steelyard as sy
    from steelyard.evaluation.method_tables import plan_changes
    from steelyard.voting.methods.base.assessable import Assessable

    fitted = [sy.method_class(name)() for name in methods if issubclass(sy.method_class(name), Assessable)]
    bare = test.unlabelled()
    majority = sy.MajorityVote().decide(bare)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        return {vote.name: plan_changes(vote.fit(cal), vote.decide(bare), majority) for vote in fitted}


def _measured(
    methods: list[str], cal: LabelledPool, test: LabelledPool, **drawn: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Measure methods in this process: their accuracy, and how good their confidence is."""
    import steelyard as sy
    from steelyard.evaluation.method_tables import confidence_table

    with progress_bar("Evaluating") as progress:
        result = sy.evaluate(methods, cal, test, progress=progress, **drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        return result, confidence_table(methods, cal, test)
