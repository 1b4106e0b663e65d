"""The part of the page that belongs to one file, as HTML; every text that comes from a file is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.evaluation.curves import default_sizes
from steelyard.pool import LabelledPool
from steelyard.report import charts, details, words
from steelyard.report.ballots import CHANGED, MAJORITY_RIGHT, MISSED, RIGHT, ballots, encoded, flags
from steelyard.report.style import COLOURS
from steelyard.report.summary import Case, Summary, open_case, summarise
from steelyard.report.words import percent, points
from steelyard.tables.texts import texts_of


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
    room: int,
    progress: Callable[[float], None] | None = None,
) -> Section:
    """Measure a file and lay it out; its ballots take what is left of `room` bytes."""
    case = open_case(str(file), pool, method, share=share, seed=seed)
    found = summarise(case, share=share, seed=seed, progress=progress)
    spoken = test_words(case, texts_of(file, rename=rename))
    data: dict[str, Any] = {}
    body = [_answer(found), *_figures(number, case, found, spoken, data, seed)]
    used = sum(len(encoded(spec)) for spec in data.values()) + sum(map(len, body)) + 40_000
    ballot = ballots(case, spoken, budget=room - used)
    data[f"ballots-{number}"] = ballot
    body.append(_browser(number, case, ballot))
    head = f'<section class="file" id="file-{number}" aria-label="{escape(found.file)}">'
    return Section(found, head + "\n".join(body) + "</section>", data)


def test_words(case: Case, spoken: pl.DataFrame) -> pl.DataFrame:
    """The texts of the test questions, row for row as their pool."""
    ids = pl.DataFrame({"question": pl.Series(case.test.questions).cast(pl.String)})
    return ids.join(spoken, on="question", how="left", maintain_order="left_right").drop("question")


def _answer(s: Summary) -> str:
    """The answer first, and what was calibrated on what."""
    said = "".join(f"<p class=lead>{escape(text)}</p>" for text in words.answer(s))
    cards = [_card(percent(s.accuracy[s.method]), "%", f"{s.method}: right answers on the test questions", "")]
    cards += [
        _card(points(gain), "points", f"against {words.named(name)}; 95 % interval {points(gain.low)} to {points(gain.high)}", words.outcome(gain))
        for name, gain in s.gain.items() if name != "vanilla"
    ]  # fmt: skip
    match = s.match.get("majority")
    if match:
        share = "never" if match.fraction is None else percent(match.fraction)
        to = "never" if match.fraction_high is None else f"{percent(match.fraction_high)} %"
        note = f"of the {s.n} samples reach majority vote's accuracy with all; interval {percent(match.fraction_low or 1)} % to {to}"
        cards.append(_card(share, "%" if match.fraction is not None else "", note, ""))
    b = "" if s.b is None else f"{s.b:.4g}"
    facts = {
        "file": s.file,
        "LLM": s.llm or "not named in the file",
        "score of the verifier": s.score,
        "method": s.method + (f", b = {b}" if b else ""),
        "samples a question (N)": str(s.n),
        "calibrated on": f"{s.cal_questions:,} questions, {s.cal_samples:,} samples",
        "tested on": f"{s.test_questions:,} other questions",
        "split and seed": f"{100 * s.share:g} % to calibrate, seed {s.seed}",
    }
    listed = "".join(f"<div><dt>{escape(k)}</dt><dd><bdi>{escape(v)}</bdi></dd></div>" for k, v in facts.items())
    return f'<h1>{escape(words.headline(s))}</h1>{said}<div class=big>{"".join(cards)}</div><dl class=facts>{listed}</dl>'


def _card(value: str, unit: str, what: str, state: str) -> str:
    return (
        f'<div class="card {state}"><div class=value>{escape(value)} <span class=unit>{escape(unit)}</span></div>'
        f"<div class=what>{escape(what)}</div></div>"
    )


def _figures(number: int, case: Case, s: Summary, spoken: pl.DataFrame, data: dict[str, Any], seed: int) -> list[str]:
    """Headings and figures, in the order of the page; their specifications go into `data`."""

    def figure(name: str, title: str, note: str, *specs: charts.Spec, after: str = "") -> str:
        places = []
        for i, spec in enumerate(specs):
            key = f"chart-{name}-{number}-{i}"
            data[key] = spec
            places.append(f'<div class=chart data-spec="{key}" role=img aria-label="{escape(title)}"></div>')
        return f"<figure><h3>{escape(title)}</h3><p class=note>{escape(note)}</p>{''.join(places)}{after}</figure>"

    weights, offsets = details.weights_of(case), details.offsets_of(case)
    first = case.test.starts[:-1]
    domain = spoken["domain"].gather(first) if "domain" in spoken.columns else None
    domains, fewer = details.domains_of(case, domain, seed=seed)
    note = (
        f"Mean over {s.draws} random subsets of each question's samples, calibrated anew at each N; bands: 95 % over "
        "test questions. pass-at-n is the ceiling no vote can pass."
    )
    parts = ["<h2>Accuracy over the number of samples</h2>"]
    parts.append(figure("curves", words.title_curves(s), note, charts.curves(s.curves, s.method), after=_table(s)))
    parts.append("<h2>What a score is worth</h2>")
    note = "Weight learned on the calibration questions, over the scores of their right and wrong responses."
    specs = [charts.weights(weights, s.method)] if weights.line else []
    parts.append(figure("weights", words.title_weights(s, weights), note, *specs, charts.scores(weights)))
    if offsets:
        note = "Exact for every b: nothing is searched on a grid. Shaded: where the calibration questions do best."
        parts.append("<h2>Accuracy over the offset b</h2>")
        parts.append(figure("offsets", words.title_offsets(offsets), note, charts.offsets(offsets, s.method)))
    parts.append("<h2>Is the confidence to be believed?</h2>")
    note = "Test questions in bins of confidence; on the dashed line a confidence of 70 % is right 70 % of the time. Bars: 95 %."
    parts.append(figure("reliability", words.title_reliability(s), note, charts.reliability(s.reliability, s.method)))
    if domains:
        left = f" The {fewer} smallest domains are left out." if fewer else ""
        note = f"At N = {s.n}; the bar is the 95 % interval of {s.method}.{left}"
        parts.append("<h2>Accuracy by domain</h2>")
        parts.append(figure("domains", words.title_domains(s, domains), note, charts.domains(domains, s.method)))
    return parts


def _table(s: Summary) -> str:
    """The curves as figures, at the powers of two."""
    sizes = default_sizes(s.n)
    cells = {(row["method"], row["n"]): percent(row["accuracy"]) for row in s.curves}
    rows = [
        f'<tr{" class=own" if name == s.method else ""}><th scope=row>{_swatch(name)}{escape(name)}</th>'
        + "".join(f"<td>{cells.get((name, n), '–')}</td>" for n in sizes)
        + "</tr>"
        for name in s.accuracy
    ]
    heads = "".join(f"<th scope=col>{n}</th>" for n in sizes)
    return (
        "<details><summary>The figures as a table</summary><div class=scroll tabindex=0><table><caption>Accuracy in % by "
        f"samples a question</caption><thead><tr><th scope=col>method</th>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _swatch(method: str) -> str:
    return f'<span class=swatch style="background:{COLOURS.get(method, "#000000")}"></span>'


def _browser(number: int, case: Case, ballot: dict[str, Any]) -> str:
    """The frame of the ballot browser; the script fills it."""
    flag = flags(case)
    changed, missed = flag & CHANGED > 0, flag & MISSED > 0
    fixed = int((changed & (flag & RIGHT > 0) & (flag & MAJORITY_RIGHT == 0)).sum())
    broken = int((changed & (flag & RIGHT == 0) & (flag & MAJORITY_RIGHT > 0)).sum())
    choices = (
        ("all", "all", f"{len(flag):,}", True),
        ("changed", "calibration changed the verdict", f"{int(changed.sum()):,} ({fixed} to right, {broken} to wrong)", False),
        ("missed", "wrong although a right answer was present", f"{int(missed.sum()):,}", False),
    )
    radios = "".join(
        f'<label><input type=radio name="filter-{number}" value="{key}"{" checked" if on else ""}>{escape(text)} '
        f"<span class=count>{escape(count)}</span></label>"
        for key, text, count, on in choices
    )
    notes = []
    if ballot["left_out"]:
        notes.append(f"To keep this page small, {ballot['left_out']:,} questions where nothing changed are not stored in it.")
    if ballot["dropped"]:
        notes.append(f"{ballot['dropped']:,} texts did not fit either; their scores and weights are here.")
    kept = f"<p class=note>{escape(' '.join(notes))}</p>" if notes else ""
    return f"""<h2>The ballots</h2>
<p class=note>Every test question, every answer, every weight. Arrow keys move from question to question.</p>{kept}
<div class=card data-ballots="ballots-{number}">
<fieldset class=filters><legend>Show the questions</legend>{radios}</fieldset>
<div class=pick>
<input class=wide type=search data-part=search placeholder="Search questions and answers" aria-label="Search questions and answers">
<select class=wide data-part=select aria-label="Question"></select>
<button type=button data-part=previous>← Previous</button>
<button type=button data-part=next>Next →</button>
</div>
<p class=count data-part=status role=status></p>
<div data-part=view></div>
</div>"""


def comparison(summaries: Sequence[Summary]) -> str:
    """Several files side by side, and the tabs that lead to each."""
    s = summaries[0]
    rows = "".join(
        f"<tr><th scope=row><bdi>{escape(s.file)}</bdi></th><td>{s.n}</td><td>{s.test_questions:,}</td>"
        + "".join(f"<td>{percent(s.accuracy[name])}</td>" for name in _shown(s))
        + "".join(f"<td>{points(gain)}<br><small>{points(gain.low)} to {points(gain.high)}</small></td>" for gain in [s.gain.get("majority")] if gain)
        + f"<td>{_matched(s)}</td></tr>"
        for s in summaries
    )  # fmt: skip
    heads = [f"{_swatch(name)}{escape(name)}" for name in _shown(s)]
    gain = [f"{escape(s.method)} over majority, points"] if "majority" in s.gain else []
    columns = "".join(f"<th scope=col>{head}</th>" for head in ["file", "N", "test questions", *heads, *gain, "samples to match majority"])
    better = sum("majority" in s.gain and words.outcome(s.gain["majority"]) == "better" for s in summaries)
    title = f"{words.named(s.method)} is clearly better than majority vote in {better} of {len(summaries)} files"
    tabs = "".join(
        f'<button type=button role=tab aria-controls="file-{i}"><bdi>{escape(s.file)}</bdi></button>'
        for i, s in enumerate(summaries)
    )
    return (
        f"<h1>{escape(title[0].upper() + title[1:])}</h1><div class='card scroll' tabindex=0><table><caption>Accuracy in % "
        f"on test questions, 95 % intervals paired over questions</caption><thead><tr>{columns}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div><div class=tabs role=tablist aria-label='Files' hidden>{tabs}</div>"
    )


def _shown(s: Summary) -> list[str]:
    return list(dict.fromkeys(("majority", "best-of-n", "vanilla", s.method, "pass-at-n")))


def _matched(s: Summary) -> str:
    match = s.match.get("majority")
    if match is None:
        return "–"
    high = "never" if match.high is None else f"{match.high:.0f}"
    return f"{'never' if match.samples is None else f'{match.samples:.0f}'}<br><small>{match.low or 0:.0f} to {high}</small>"
