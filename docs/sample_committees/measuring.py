"""The measurement: what every division of T samples gets right on the test questions of each split."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.committees.cells import Outcome, mean_and_error
from docs.sample_committees.choices import (
    PUBLISHED,
    best_members,
    consensus_ranking,
    limit_weights,
    merit,
    random_division,
)
from docs.sample_committees.samples import FILES, SampleSet, equal_division
from steelyard.evaluation.committee_strategies import StrategyChoice
from steelyard.evaluation.purchase import Purchase
from steelyard.evaluation.source_prices import priced

TOTALS = (1, 2, 4, 8, 16, 32, 64)
LABELS = {"aime": 15, "gpqa": 50, "math500": 50}
SPLITS = range(20)
FEW = 3  # LLMs that the consensus keeps
WORKERS = 2
PROMISED = "plan on labels"  # cross-validated, before the choice among purchases
REFERENCES = {"chosen": "single chosen", "equal": "majority", "hindsight": "single best"}
Cell = dict[tuple[int, str], Outcome]  # by number of samples and rule


def measure(folder: Path) -> dict[str, pl.DataFrame]:
    """Measure every set: the accuracies, and what plan_budget, the labels and Best-of-infinity choose."""
    sets = {name: SampleSet.read(folder / file, answers) for name, (file, answers) in FILES.items()}
    tasks = [(name, seed) for name in sets for seed in SPLITS]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as executor:
        cells = list(executor.map(_cell_of, [sets[name] for name, _ in tasks], *zip(*tasks, strict=True)))
    accuracy: list[dict[str, Any]] = []
    for name, samples in sets.items():
        own = [cell for (task, _), (cell, _) in zip(tasks, cells, strict=True) if task == name]
        accuracy += _summary(name, samples.llms, own)
    choices = pl.DataFrame([row for _, rows in cells for row in rows])
    choices = choices.group_by("set", "samples", "rule", "llm", maintain_order=True).agg(pl.col("bought").mean())
    return {"accuracy": pl.DataFrame(accuracy), "choices": choices.filter(pl.col("bought") > 0)}


def _cell_of(samples: SampleSet, name: str, seed: int) -> tuple[Cell, list[dict[str, Any]]]:
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    return cell(samples, name, LABELS[name], seed)


def split(questions: int, labels: int, seed: int) -> tuple[Any, Any]:
    """The positions of the labelled questions, and of the test questions: all others."""
    order = np.random.default_rng(seed).permutation(questions)
    return np.sort(order[:labels]), np.sort(order[labels:])


def cell(
    samples: SampleSet, name: str, labels: int, seed: int, totals: Sequence[int] = TOTALS
) -> tuple[Cell, list[dict[str, Any]]]:
    """What every rule gets right on the test questions of one split, and how many samples of each LLM it buys."""
    rng = np.random.default_rng([seed, 1])
    labelled_at, test_at = split(len(samples.answer), labels, seed)
    drawn = samples.shuffled(rng)
    labelled, test = drawn.take(labelled_at), drawn.take(test_at)
    llms, size = len(samples.llms), len(test_at)
    everyone = np.tile(np.arange(llms), (len(samples.answer), 1))
    by_consensus = consensus_ranking(labelled)
    weights = {"limit weights": limit_weights(labelled.limit_shares(), labelled.correct, rng)}
    if name == "gpqa":
        weights["published weights"] = np.array([PUBLISHED.get(llm, 0.0) for llm in samples.llms])
    plan = planned(labelled, test, totals)
    outcomes: Cell = {}
    rows: list[dict[str, Any]] = []

    def divided(members: Sequence[int], total: int) -> Any:
        return equal_division(total, np.tile(np.array(members), (size, 1)), llms, rng)

    for total in totals:
        right: dict[str, Outcome] = {}
        singles = test.singles(total)
        right |= {f"single {llm}": singles[:, i] for i, llm in enumerate(samples.llms)}
        by_llm = merit(labelled, total, rng)
        right["single average"] = singles.mean(axis=1)
        right["single chosen"] = singles[:, by_llm.mean(axis=0).argmax()]
        right["consensus chosen"] = singles[:, by_consensus[0]]
        members = best_members(labelled, total, by_llm, rng)
        divisions = {"best members": divided(members, total), "consensus members": divided(by_consensus[:FEW], total)}
        divisions |= {rule: random_division(total, w, size, rng) for rule, w in weights.items()}
        bought, right["plan"], promised = plan[total]
        divisions["plan majority"] = np.tile(np.array(bought.samples), (size, 1))
        right |= {rule: test.majority(division) for rule, division in divisions.items()}
        right |= equal_votes(drawn, equal_division(total, everyone, llms, rng), labelled_at, test_at, rng)
        for rule, outcome in right.items():
            outcomes[total, rule] = np.full(len(samples.answer), np.nan)
            outcomes[total, rule][test_at] = outcome
        outcomes[total, PROMISED] = np.full(len(samples.answer), np.nan)
        outcomes[total, PROMISED][labelled_at] = promised
        for rule in ("best members", "plan majority", *weights):
            mean = divisions[rule].mean(axis=0)
            rows += [
                {"set": name, "samples": total, "rule": rule, "llm": llm, "bought": float(mean[i])}
                for i, llm in enumerate(samples.llms)
            ]
    return outcomes, rows


def equal_votes(
    drawn: SampleSet, division: Any, labelled_at: Any, test_at: Any, rng: np.random.Generator
) -> dict[str, Outcome]:
    """Votes on equal numbers of samples of all LLMs; the votes learn from these samples alone."""
    pool = drawn.pool(division, rng)
    new, test, labelled = pool.unlabelled(), pool.take(test_at), pool.take(labelled_at)
    votes: dict[str, sy.Method] = {"consensus": sy.ConsensusVote().fit(new), "committee": sy.CommitteeVote()}
    votes["committee"].fit(labelled)
    votes["few-label"] = sy.CommitteeVote().fit(labelled, unlabelled=new)
    right = {rule: vote.predict(test.unlabelled()).correct(test).astype(np.float64) for rule, vote in votes.items()}
    return right | {"majority": drawn.take(test_at).majority(division[test_at])}


def planned(
    labelled: SampleSet, test: SampleSet, totals: Sequence[int]
) -> dict[int, tuple[Purchase, Outcome, Outcome]]:
    """What sy.plan_budget buys for a price of 1 per sample, and what it gets right on test and labelled questions.

    The parts behind sy.plan_budget, which divides the questions itself and asks for 20 labelled ones.
    """
    limit = max(totals)
    few, others = (
        priced(part.pool(np.full(part.answer.shape[:2], limit)), None, 1.0, None) for part in (labelled, test)
    )
    choice = StrategyChoice(sy.CommitteeVote(), few, limit, totals)
    bought = {total: choice.within(total) for total in totals}
    measured = {strategy.key: choice.strategies.measured(strategy, others) for strategy in bought.values()}
    return {n: (chosen.bought, measured[chosen.key].correct, chosen.correct) for n, chosen in bought.items()}


def _summary(name: str, llms: Sequence[str], cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """One row for every number of samples and rule: accuracy, and paired differences to three references."""
    rules = [rule for total, rule in cells[0] if total == TOTALS[0]]
    for total in TOTALS:
        accuracy = {llm: mean_and_error([cell[total, f"single {llm}"] for cell in cells])[0] for llm in llms}
        best = max(accuracy, key=accuracy.__getitem__)
        by_rule = {
            rule: [cell[total, rule] for cell in cells] for rule in rules if rule.removeprefix("single ") not in llms
        }
        by_rule["single best"] = [cell[total, f"single {best}"] for cell in cells]
        for rule, outcomes in by_rule.items():
            mean, error = mean_and_error(outcomes)
            row = {"set": name, "samples": total, "rule": rule, "accuracy": mean, "se": error}
            for column, reference in ({} if rule == PROMISED else REFERENCES).items():
                pairs = zip(outcomes, by_rule[reference], strict=True)
                gain, gain_se = mean_and_error([outcome - other for outcome, other in pairs])
                row |= {f"over_{column}": gain, f"over_{column}_se": gain_se}
            yield row | {"llm": best if rule == "single best" else ""}
