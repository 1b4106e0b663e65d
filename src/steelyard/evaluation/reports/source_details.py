"""What the page says of the sources of a committee: who errs with whom, and what each adds to the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.evaluation.accuracy import Estimate
from steelyard.evaluation.reports.summary import Case
from steelyard.evaluation.source_analysis import ErrorAgreement, error_agreement, error_order, leave_one_out
from steelyard.foundation.charts.figures import Rows
from steelyard.voting.methods import method_class

MOST = 40  # sources on a picture, the heaviest
FEWEST = 5  # sources on the picture of losses, if there are so many
LONGEST = 28  # characters of a name on an axis
ENOUGH = 20  # questions in which both are wrong, to name a pair


@dataclass(frozen=True)
class Pair:
    """Two sources that err together more than the others do on the same questions."""

    first: str
    second: str
    share: float
    expected: float
    questions: int


@dataclass(frozen=True, eq=False)
class SourceDetails:
    """The sources of one file; the figures are of its test questions."""

    method: str  # whose weights these are
    order: list[str]  # of the picture of errors
    agreement: ErrorAgreement
    pair: Pair | None  # that stands out most; None: none does
    weights: dict[str, float]  # heaviest first, MOST of them
    lost: dict[str, Estimate]  # accuracy with all less that without the source
    sources: int  # all that the file has


def sources_of(case: Case, *, seed: int, progress: Callable[[float], None] | None = None) -> SourceDetails | None:
    """Measure the sources of a case; None where it has fewer than two."""
    cal, test = case.raw
    if len(test.sources) < 2:
        return None
    vote = case.method if type(case.method).weighs_sources else method_class("committee")().fit(cal)
    learned: dict[str, float] = vars(vote)["weights_"]  # a new source weighs what it votes with
    every = {name: learned.get(name, float(vars(vote)["newcomer_"])) for name in test.sources}
    weights = dict(sorted(every.items(), key=lambda item: (-item[1], item[0]))[:MOST])
    agreement = error_agreement(test, tuple(weights))
    lost = leave_one_out(vote, cal, test, list(weights), seed=seed, progress=progress)
    order = [agreement.names[s] for s in error_order(agreement)]
    return SourceDetails(vote.name, order, agreement, _closest(agreement), weights, lost, len(test.sources))


def _closest(agreement: ErrorAgreement) -> Pair | None:
    """The pair that is most above what the others do, counted in standard errors, if it is beyond doubt."""
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(agreement.expected * (1 - agreement.expected) / agreement.both)
        above = np.where(
            agreement.both >= ENOUGH, (agreement.share - agreement.expected) / np.maximum(spread, 0.01), np.nan
        )
    if not np.isfinite(above).any() or np.nanmax(above) < 3:
        return None
    s, t = np.unravel_index(int(np.nanargmax(above)), above.shape)
    share, expected, both = (float(table[s, t]) for table in (agreement.share, agreement.expected, agreement.both))
    return Pair(agreement.names[s], agreement.names[t], share, expected, int(both))


def short_names(names: Sequence[str], longest: int) -> dict[str, str]:
    """A name for every source that fits an axis: printable, cut in its middle where it is long, and its own.

    >>> short_names(["gpt-4o", "Meta-Llama-3.1-405B-Instruct@host"], 28)
    {'gpt-4o': 'gpt-4o', 'Meta-Llama-3.1-405B-Instruct@host': 'Meta-Llama-3.1-405B…uct@host'}
    """
    shown: dict[str, str] = {}
    for name in names:
        plain = "".join(char if char.isprintable() else " " for char in name)
        tail = longest * 2 // 7
        short = plain if len(plain) <= longest else f"{plain[: longest - tail - 1]}…{plain[-tail:]}"
        alike = sum(other.split(" #")[0] == short for other in shown.values())
        shown[name] = f"{short} #{alike + 1}" if alike else short
    return shown


def telling(details: SourceDetails) -> list[str]:
    """The sources without which something changes; a few of the heaviest where nothing does."""
    moves = [n for n, w in details.weights.items() if w or details.lost[n].low or details.lost[n].high]
    return moves if len(moves) >= FEWEST else list(details.weights)[:FEWEST]


def error_rows(details: SourceDetails) -> Rows:
    """One row for every two sources, with their places in the order of the picture."""
    place, label = {name: i for i, name in enumerate(details.order)}, short_names(details.order, LONGEST)
    rows: Rows = []
    for s, name in enumerate(details.agreement.names):
        for t, other in enumerate(details.agreement.names):
            row: dict[str, Any] = {"source": name, "other": other, "row": place[name], "column": place[other]}
            row |= {"both": int(details.agreement.both[s, t]), "label": label[name], "over": label[other]}
            if np.isfinite(details.agreement.share[s, t]):
                row["share"] = float(details.agreement.share[s, t])
            if np.isfinite(details.agreement.expected[s, t]):
                row["expected"] = float(details.agreement.expected[s, t])
            if s != t:
                rows.append(row)
    return rows


def nearest(details: SourceDetails, name: str) -> tuple[str, float, float] | None:
    """The source that errs with this one most, the share, and what the others do; None: no share is known."""
    s = details.agreement.names.index(name)
    share = details.agreement.share[s]
    if not np.isfinite(share).any():
        return None
    t = int(np.nanargmax(share))
    return details.agreement.names[t], float(share[t]), float(details.agreement.expected[s, t])
