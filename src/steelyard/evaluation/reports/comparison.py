"""Several files side by side, as HTML, and the tabs that lead to each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports import headline as words
from steelyard.evaluation.reports.headline import points
from steelyard.evaluation.reports.style import swatch
from steelyard.evaluation.reports.summary import Summary


def comparison(summaries: Sequence[Summary]) -> str:
    """A table with one row per file, and the tabs."""
    method = summaries[0].method
    better = sum("majority" in s.gain and words.outcome(s.gain["majority"]) == "better" for s in summaries)
    title = f"{words.named(method)} is clearly better than majority vote in {better} of {len(summaries)} files"
    shown = list(dict.fromkeys(("majority", "best-of-n", "vanilla", method, "pass-at-n")))
    heads = ["file", "N", "test questions", *(f"{swatch(name)}{escape(name)}" for name in shown)]
    heads += [f"{escape(method)} over majority (points)", "samples to match majority"]
    columns = "".join(f"<th scope=col>{head}</th>" for head in heads)
    tabs = "".join(
        f'<button type=button role=tab aria-controls="file-{i}"><bdi>{escape(s.file)}</bdi></button>'
        for i, s in enumerate(summaries)
    )
    return (
        f"<h1>{escape(title[0].upper() + title[1:])}</h1><div class='card scroll' tabindex=0><table>"
        "<caption>Accuracy in % on the test questions; below a difference its paired 95 % interval</caption>"
        f"<thead><tr>{columns}</tr></thead><tbody>{''.join(_row(s, shown) for s in summaries)}</tbody></table></div>"
        f"<div class=tabs role=tablist aria-label='Files' hidden>{tabs}</div>"
    )


def _row(s: Summary, shown: list[str]) -> str:
    gain, match = s.gain.get("majority"), s.match.get("majority")
    cells = [str(s.n), f"{s.test_questions:,}", *(percent(s.accuracy[name]) for name in shown)]
    cells.append(
        f"{points(gain)}<br><small>{points(gain.low)} to {points(gain.high)}</small>" if gain is not None else "–"
    )
    cells.append(
        f"{_samples(match.samples)}<br><small>{_samples(match.low)} to {_samples(match.high)}</small>" if match else "–"
    )
    return f"<tr><th scope=row><bdi>{escape(s.file)}</bdi></th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _samples(count: float | None) -> str:
    return "never" if count is None else f"{count:.0f}"
