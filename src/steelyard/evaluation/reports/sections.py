"""The section of the page for one file, and the comparison of several, as HTML; texts from files are escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.evaluation.accuracy_curves import default_sizes
from steelyard.evaluation.method_tables import plan_changes
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports import chart_data, charts, score_charts
from steelyard.evaluation.reports.ballot_browser import browser
from steelyard.evaluation.reports.ballot_data import ballots, encoded
from steelyard.evaluation.reports.html_parts import as_html, card, facts, folded_table, lead, swatch
from steelyard.evaluation.reports.sentences import (
    answer,
    calibration_title,
    curves_title,
    domains_title,
    headline,
    named,
    no_confidence,
    offsets_title,
    outcome,
    points,
    share_of,
    weights_note,
    weights_title,
)
from steelyard.evaluation.reports.source_details import sources_of
from steelyard.evaluation.reports.source_figures import source_figures
from steelyard.evaluation.reports.summary import Case, Summary, open_case, summarise, verifier_facts
from steelyard.foundation.charts.figures import Spec
from steelyard.tables.response_rows import texts_of
from steelyard.voting.pools.pool import LabelledPool


@dataclass(frozen=True)
class Section:
    """One file on the page: what it shows, as HTML, and the data its charts and ballots read, by element id."""

    summary: Summary
    html: str
    data: dict[str, Any]


def section(
    number: int,
    file: str | Path,
    pool: LabelledPool,
    *,
    method: str,
    share: float,
    seed: int,
    rename: dict[str, str] | None,
    layout: str | None,
    room: int,
    alone: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Section:
    """Measure a file and lay it out; its ballots take what is left of `room` bytes."""
    case = open_case(str(file), pool, method, share=share, seed=seed)
    summary = summarise(case, share=share, seed=seed, progress=progress)
    ids = pl.DataFrame({"question": pl.Series(case.test.questions).cast(pl.String)})
    texts = texts_of(file, rename=rename, layout=layout)  # then of the test questions, row for row as their pool
    texts = ids.join(texts, on="question", how="left", maintain_order="left_right").drop("question")
    data: dict[str, Any] = {}
    learned = plan_changes(case.method, case.verdicts[case.method.name], case.verdicts["majority"])
    body = [
        _answer(summary, alone, verifier_facts(file, case)),
        *([lead([learned])] if case.method.learns else []),
        *_figures(number, case, summary, texts, data, seed),
    ]
    used = sum(len(encoded(spec)) for spec in data.values()) + sum(map(len, body)) + 40_000
    ballot = ballots(case, texts, budget=room - used)
    data[f"ballots-{number}"] = ballot
    body.append(browser(number, case, ballot))
    head = f'<section class="file" id="file-{number}" aria-label="{escape(summary.file)}">'
    return Section(summary, head + "\n".join(body) + "</section>", data)


def _answer(s: Summary, alone: bool, more: dict[str, str]) -> str:
    """The answer first, and what was calibrated on what."""
    named = {
        "file": s.file,
        "LLM": s.llm or "not named",
        "score of the verifier": s.score,
        "method": s.method + ("" if s.b is None else f", b = {s.b:.4g}"),
        "samples per question (N)": str(s.n),
        "calibrated on": f"{s.cal_questions:,} questions",
        "tested on": f"{s.test_questions:,} other questions",
        "split": f"{100 * s.share:g} %, seed {s.seed}",
        **more,
    }
    tag = "h1" if alone else "h2 class=headline"
    head = f"<{tag}>{as_html(headline(s))}</{tag[:2]}>{lead(answer(s))}"
    return f"{head}<div class=big>{''.join(_cards(s))}</div>{facts(named)}"


def _cards(s: Summary) -> list[str]:
    """The figures of the answer, large."""
    cards = [card(percent(s.accuracy[s.method]), "%", f"correct answers of {named(s.method)}")]
    for name in ("majority", "best-of-n"):
        gain = s.gain.get(name)
        if gain is not None:
            reach = f"against {named(name)} (95 %: {points(gain.low)} to {points(gain.high)})"
            cards.append(card(points(gain), "points", reach, outcome(gain)))
    if match := s.match.get("majority"):
        low, high = (share_of(end) for end in (match.fraction_low, match.fraction_high))
        note = f"of the samples match majority vote with all {s.n} (95 %: {low} to {high})"
        value, _, unit = share_of(match.fraction).partition(" ")
        cards.append(card(value, unit, note, ""))
    return cards


def _figures(number: int, case: Case, s: Summary, texts: pl.DataFrame, data: dict[str, Any], seed: int) -> list[str]:
    """Headings and figures, in the order of the page; their specifications go into `data`."""

    def figure(name: str, title: str, note: str, *specs: Spec, after: str = "", width: int = 0) -> str:
        places = []
        for i, spec in enumerate(specs):
            key = f"chart-{name}-{number}-{i}"
            data[key] = spec
            place = f'<div class=chart data-spec="{key}" role=img aria-label="{escape(title)}"'
            least = f' style="min-width:{width}px"></div></div>' if width else "></div>"
            places.append(("<div class=scroll tabindex=0>" if width else "") + place + least)
        return f"<figure><h3>{as_html(title)}</h3><p class=note>{as_html(note)}</p>{''.join(places)}{after}</figure>"

    weights = chart_data.weights_of(case) if case.cal.scores is not None else None
    offsets = chart_data.offsets_of(case.method) if weights else None
    sources = sources_of(case, seed=seed)
    first = case.test.starts[:-1]
    domain = texts["domain"].gather(first) if "domain" in texts.columns else None
    domains, fewer = chart_data.domains_of(case, domain, seed=seed)
    how = "with all of them" if sources else "anew at each N"
    note = (
        f"Mean over {s.draws} random subsets of each question's samples, calibrated {how}; bands: 95 % over "
        "test questions. Dashed: pass-at-n, the ceiling no vote can pass. The table has more methods."
    )
    parts = ["<h2>Accuracy over the number of samples</h2>"]
    parts.append(figure("curves", curves_title(s), note, charts.curves(s.curves, s.method), after=_table(s)))
    parts += source_figures(sources, figure) if sources else []
    if weights:
        parts.append("<h2>What a score is worth</h2>")
        note = weights_note(s)
        specs = [score_charts.weights(weights, s.method)] if weights.line else []
        parts.append(figure("weights", weights_title(s, weights), note, *specs, score_charts.scores(weights)))
    if weights and offsets:
        note = f"Exact for every b. Shaded: where the calibration questions do best. Chosen by the rule {offsets.rule}."
        parts.append("<h2>Accuracy over the offset b</h2>")
        parts.append(
            figure(
                "offsets", offsets_title(offsets), note, score_charts.offsets(offsets, offsets.method, weights.frame)
            )
        )
    parts.append("<h2>Is the confidence calibrated?</h2>")
    if s.calibration is None:
        parts.append(f"<p class=note>{as_html(no_confidence(s))}</p>")
    else:
        note = (
            "Test questions in bins of confidence, with 95 % intervals; the numbers say how many are in a bin. The "
            "mean distance is the expected calibration error; a bin is off where its interval misses the diagonal."
        )
        spec = charts.calibration_curve(s.calibration, s.method)
        parts.append(figure("reliability", calibration_title(s.calibration), note, spec))
    if domains:
        left = f" The {fewer} smallest domains are left out." if fewer else ""
        note = f"At N = {s.n}; the bar is the 95 % interval of {s.method}.{left}"
        parts.append("<h2>Accuracy by domain</h2>")
        parts.append(figure("domains", domains_title(s, domains), note, charts.domains(domains, s.method)))
    return parts


def _table(s: Summary) -> str:
    """The curves as figures, at the powers of two."""
    sizes = default_sizes(s.n)
    cells = {(row["method"], row["n"]): percent(row["accuracy"]) for row in s.curves}
    rows = [
        f"<tr{' class=own' if name == s.method else ''}><th scope=row>{swatch(name)}{escape(name)}</th>"
        + "".join(f"<td>{cells.get((name, n), '–')}</td>" for n in sizes)
        + "</tr>"
        for name in s.accuracy
    ]
    return folded_table("Accuracy in % by samples per question", ["method", *map(str, sizes)], "".join(rows))


def comparison(summaries: Sequence[Summary]) -> str:
    """A table with one row per file, and the tabs."""
    method = summaries[0].method
    better = sum("majority" in s.gain and outcome(s.gain["majority"]) == "better" for s in summaries)
    title = f"{named(method)} is clearly better than majority vote in {better} of {len(summaries)} files"
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
