"""steelyard fit: learn the weights from a labelled file and keep them as a plan."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.evaluate_view import check_frugal
from steelyard.cli.methods import settings_from
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.sampling_options import ScorePrice
from steelyard.cli.text_tables import print_mix, print_table, print_weights
from steelyard.evaluation.percentages import percent, points

if TYPE_CHECKING:
    from steelyard import Method, Pool

EXAMPLE = "Example: steelyard fit labelled.parquet --score prm:last -o plan.json"
DEFAULT = "calibrated"
FOR_SOURCES = "committee"


def run(
    files: opt.Files,
    method: Annotated[list[str] | None, opt.method_option("Default: calibrated, or committee with --source.")] = None,
    settings: Annotated[
        list[str] | None,
        opt.option(
            "--set", "KEY=VALUE", "Setting of the method; may be repeated. 'steelyard methods NAME' lists them."
        ),
    ] = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    unlabelled: Annotated[
        Path | None,
        opt.option(
            "--unlabelled",
            "FILE",
            "Unlabelled responses: a committee with few labels also learns from which sources agree.",
        ),
    ] = None,
    frugal: Annotated[
        str | None,
        opt.option(
            "--frugal",
            "RULE",
            "Score on demand: learn which scores expected can skip, or the confidence of verdicts by exact.",
        ),
    ] = None,
    price_score: ScorePrice = None,
    output: Annotated[Path | None, opt.output_option("the plan (.json)")] = None,
    n: Annotated[int | None, opt.n_option("Uses the first N; choose the N of your deployment. Default: all")] = None,
    calibrate: Annotated[
        float, opt.calibrate_option("All by default here: fit tests nothing, and the plan is for new questions.")
    ] = 1.0,
    answers: opt.Answers = "auto",
    labels: opt.Labels = "majority",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    seed: opt.Seed = 0,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Learn from a labelled file what a score is worth, and save it as a plan."""
    import steelyard as sy
    from steelyard.foundation.outputs import check_output
    from steelyard.tables.labelled import labelled_questions
    from steelyard.tables.source_column import source_of_run
    from steelyard.voting.methods import configured
    from steelyard.voting.methods.base.plan import PLAN

    check_frugal(frugal, price_score)
    source = source or source_of_run(files)
    named = opt.one_name(method, "--method")
    name = named or (DEFAULT if source is None else FOR_SOURCES)
    kind = sy.method_class(name)
    seeded = {"seed": seed} if "seed" in kind().settings() else {}
    voter = configured(name, seeded | settings_from(kind, settings))
    if voter.oracle:
        raise sy.SettingError(f"{name} is an oracle: it reads labels when it votes; measure it with 'evaluate'")
    if output:
        check_output(output, PLAN, inputs=[*files, unlabelled], overwrite=overwrite)
    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        options: dict[str, Any] = {
            "source": source, "rename": opt.renames(rename), "layout": layout, "answers": answers, "labels": labels,
        }  # fmt: skip
        reads: dict[str, Any] = {"need_score": voter.scored, "texts": frugal is not None, "progress": progress}
        named_files = opt.source_of(files)
        table = labelled_questions(named_files, layout=layout, rename=opt.renames(rename))
        named_so = options if table is named_files else options | {"rename": {}, "layout": None}
        pool = sy.read(table, score=score, **reads, **named_so)
        pool = replace(pool, origin=replace(pool.origin, rename=tuple(opt.renames(rename).items())))
    more = _unlabelled(voter, unlabelled, options | {"answers": pool.origin.answers})
    if calibrate != 1.0:
        pool = pool.split(calibrate, seed=seed)[0]
    if named is None and source is not None and len(pool.sources) < 2:
        console.note(f"only one source, {pool.sources[0]!r}, so there is no committee: the plan is {DEFAULT}")
        voter = configured(DEFAULT, seeded | settings_from(sy.method_class(DEFAULT), settings))
    if named is None and not isinstance(pool, sy.LabelledPool):
        voter = _without_labels(pool)
    voter = _frugal(_fitted(voter, pool, n, more), pool, frugal, price_score)
    learned = _assessed(voter, pool if n is None else pool.first(n))
    if output:
        voter.save(output, overwrite=overwrite)
    if json:
        console.as_json({**voter.summary(), **learned})
        return
    if learned:
        console.tell(learned["explained"])
        console.say()
    _show(voter, learned, opt.title_of(files), pool)
    console.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this plan.")
    if output:
        console.say(f"Next: steelyard vote FILE --plan {shlex.quote(str(output))} -o verdicts.parquet")


def _fitted(voter: Method, pool: Pool, n: int | None, more: dict[str, Pool]) -> Method:
    """The method, fitted; the majority vote where the labels can teach it nothing."""
    from steelyard.voting.methods import fit_or_majority

    return voter.fit(pool, n=n, **more) if more else fit_or_majority(voter, pool, n)


def _frugal(voter: Method, pool: Pool, rule: str | None, price: float | None) -> Method:
    """Let the plan learn what another score is worth, if it is to, and say what that comes to."""
    from steelyard.evaluation.accuracy import need_labels
    from steelyard.evaluation.scores_on_demand import PRICE, learn_asking, learn_confidence
    from steelyard.voting.on_demand import asking_rule

    if rule is None:
        return voter
    if rule != "expected":
        asking_rule(rule).check(voter)
        return learn_confidence(voter, need_labels(pool))
    learned = learn_asking(voter, need_labels(pool), price=PRICE if price is None else price)
    if learned.asking_:
        console.note(learned.asking_.explain())
    return learned


def _without_labels(pool: Pool) -> Method:
    """What can be made of a file without labels."""
    import steelyard as sy

    if len(pool.sources) > 1:
        console.note("no labels: the plan is consensus, which weights each source by its agreement with the others")
        return sy.method_class("consensus")()
    console.note(
        "no labels, so nothing can be calibrated: the plan is vanilla, which weights each response by its score"
    )
    return sy.method_class("vanilla")()


def _unlabelled(voter: Method, file: Path | None, options: dict[str, Any]) -> dict[str, Pool]:
    """The responses without labels that a committee also learns from, if there are any."""
    import steelyard as sy

    if file is None:
        return {}
    if voter.name != FOR_SOURCES or options["source"] is None:
        raise sy.SettingError("--unlabelled is for a committee: add --source COLUMN, and no other --method")
    return {"unlabelled": sy.read(file, score="none", **options)}


def _show(voter: Method, learned: dict[str, Any], where: str, pool: Pool) -> None:
    """Print what was fitted, what each score contributed, what a score is worth, and what more labels bring."""
    names = {"accuracy": "accuracy on these questions", "standard_error": "its standard error"}
    summary = voter.summary()
    plain = [(name, value) for name, value in summary.items() if name not in ("mix", "sources") and value is not None]
    rows = [(names.get(name, name), console.value(value)) for name, value in plain]
    print_table(f"Fitted {voter.name} on {where}", ("", "value"), rows)
    if voter.mix_:
        print_mix(voter.mix_)
    if "sources" in summary:
        worth = [(name, f"{weight:.2f}") for name, weight in summary["sources"].items()]
        print_table("What every source is worth", ("source", "weight"), worth)
    if hasattr(voter, "weight"):
        print_weights(voter.weight, *(() if voter.mix_ else _seen(pool)))
    if learned:
        steps = learned["learning_curve"]
        cells = [(str(row["questions"]), points(row["gain"]), percent(row["se"])) for row in steps]
        title = f"Gain over majority in points, by number of questions to learn from (of {pool.n_questions:,})"
        print_table(title, ("questions", "gain", "error"), cells)
        console.say("Each gain is measured on held-out questions; error: its standard error.\n")


def _seen(pool: Pool) -> tuple[float, float]:
    """The lowest and the highest score of a pool; 0 and 1 for one without scores."""
    import numpy as np

    scores = np.empty(0) if pool.scores is None else pool.scores[~np.isnan(pool.scores)]
    return (float(scores.min()), float(scores.max())) if scores.size else (0.0, 1.0)


def _assessed(voter: Method, pool: Pool) -> dict[str, Any]:
    """What a method that can be assessed gains on questions it was not fitted on, and what more labels would bring."""
    from steelyard import LabelledPool
    from steelyard.evaluation.method_tables import learning_curve
    from steelyard.voting.methods.base.assessable import Assessable

    if not isinstance(voter, Assessable) or not isinstance(pool, LabelledPool):
        return {}
    curve = [asdict(row) for row in learning_curve(voter, pool, seed=getattr(voter, "seed", 0))]
    return {"learning_curve": curve, "explained": voter.assess(pool).explain()}
