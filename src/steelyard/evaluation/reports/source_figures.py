"""The part of the page about the sources of a committee: titles, notes, two pictures and the same as a table."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from math import isnan

from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports import source_charts
from steelyard.evaluation.reports.headline import named, outcome, points
from steelyard.evaluation.reports.source_details import SourceDetails, nearest, telling

Figure = Callable[..., str]


def source_figures(found: SourceDetails, figure: Figure) -> list[str]:
    """Both figures with their heading, in the order of the page."""
    left = found.sources - len(found.weights)
    fewer = f" The {len(found.weights)} heaviest of {found.sources} sources." if left else ""
    silent = len(found.weights) - len(telling(found))
    quiet = f" The {silent} others change nothing: the table has them." if silent else ""
    return [
        "<h2>What each source adds</h2>",
        figure(
            "losses",
            losses_title(found),
            "On the test questions, the weights of the others learned anew; bars: 95 % over questions, paired."
            f"{quiet}{fewer}",
            source_charts.losses(found),
            after=_table(found),
        ),
        "<h2>Who errs with whom</h2>",
        figure(
            "errors",
            errors_title(found),
            "Of the test questions in which both are wrong, the share in which they give the same wrong answer. "
            f"Sources that err together stand together; pairs that are rarely wrong together are blank.{fewer}",
            source_charts.errors(found),
            width=source_charts.least_width(found),
        ),
    ]


def losses_title(found: SourceDetails) -> str:
    """The finding of the leave-one-out."""
    needed = [name for name, lost in found.lost.items() if outcome(lost) == "better"]
    harmful = [name for name, lost in found.lost.items() if outcome(lost) == "worse"]
    worst = max(found.lost, key=lambda name: (found.lost[name], name))
    if not needed:
        said = f"No source of {len(found.lost)} is missed for certain: the others make up for any one of them"
    else:
        lost = found.lost[worst]
        said = (
            f"Without {worst} {named(found.method)} loses {percent(float(lost))} points; {len(needed)} of "
            f"{len(found.lost)} sources would be missed for certain"
        )
    return said + (f", and the vote would be better without {_listed(harmful)}" if harmful else "")


def errors_title(found: SourceDetails) -> str:
    """The finding of the picture of errors."""
    pair = found.pair
    if pair is None:
        return "No two sources repeat each other's errors clearly more than the others do"
    return (
        f"{pair.first} and {pair.second} repeat each other: when both are wrong they give the same answer in "
        f"{100 * pair.share:.0f} % of {pair.questions} questions, others in {100 * pair.expected:.0f} %"
    )


def _listed(names: list[str]) -> str:
    shown = names[:3]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(shown) + more


def _table(found: SourceDetails) -> str:
    """Both pictures as figures."""
    rows = []
    for name, weight in found.weights.items():
        lost, near = found.lost[name], nearest(found, name)
        cells = [f"{weight:.2f}", points(lost), f"{points(lost.low)} to {points(lost.high)}"]
        cells += ["–", "–", "–"] if near is None else [near[0], f"{100 * near[1]:.0f}", _share(near[2])]
        columns = "".join(f"<td>{escape(each)}</td>" for each in cells)
        rows.append(f"<tr><th scope=row><bdi>{escape(name)}</bdi></th>{columns}</tr>")
    heads = (
        "source",
        "weight",
        "points lost without it",
        "95 % interval",
        "errs most with",
        "same answer %",
        "others %",
    )
    return (
        "<details><summary>The figures as a table</summary><div class=scroll tabindex=0><table>"
        "<caption>What each source weighs and adds, and with whom it shares its errors</caption>"
        f"<thead><tr>{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _share(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:.0f}"
