"""One self-contained page: every table and figure with what the paper reports and what ours shows."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from steelyard.evaluation.paper.paper_tables import count
from steelyard.evaluation.paper.run_experiments import Reproduction, Result

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #5f5f5f; --line: #d8d8d8; --paper: #fff; --shade: #f5f5f2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #a8a8a8; --line: #3c3c3c; --paper: #161616; --shade: #222; } }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { line-height: 1.2; } h2 { line-height: 1.3; margin: 3rem 0 .3rem; font-size: 1.25rem; }
a { color: inherit; } .soft, .note { color: var(--soft); font-size: .9rem; }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: .4rem 1rem; } dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; } }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; } .text { text-align: left; }
thead th { border-bottom: 2px solid var(--line); } tr.rule td { border-top: 1px solid var(--line); }
details { margin: .5rem 0; } summary { cursor: pointer; } figure { margin: 1rem 0; background: #fff; padding: .5rem; }
figure { overflow-x: auto; } figure img { max-width: 100%; min-width: 34rem; height: auto; display: block; }
.no { background: #d55e0022; border-left: 4px solid #d55e00; padding: .3rem .8rem; }
.yes { background: #0072b222; border-left: 4px solid #0072b2; padding: .3rem .8rem; }
.problems { background: var(--shade); padding: .5rem 1rem; border-left: 4px solid #e69f00; }
.list { list-style: none; padding: 0; } .list li { display: grid; grid-template-columns: 8rem 1fr; margin: .25rem 0; }
"""
GENERATOR = "Steelyard reproduce"
LONG = 30  # rows; a longer table is folded


def page(made: Reproduction, drawings: dict[str, str]) -> str:
    """The page; `drawings` are the figures as SVG, by name."""
    sections = [_section(result, drawings.get(result.name)) for result in made.results]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="{GENERATOR}">'
        f"<title>The paper, reproduced</title><style>{STYLE}</style></head><body><h1>The paper's tables and figures "
        f"on {escape(made.grid)}</h1>{_head(made)}{_contents(made)}{''.join(sections)}</body></html>\n"
    )


def _head(made: Reproduction) -> str:
    at = made.settings
    speed = " A quick run: a part of the grid, few repetitions." if at.quick else ""
    items = "".join(f"<li>{escape(problem)}</li>" for problem in made.problems)
    problems = f'<div class="problems">What is missing or odd in this grid:<ul>{items}</ul></div>' if items else ""
    return (
        "<p>Kuang et al., “Optimal Aggregation of LLM and PRM Signals for Efficient Test-Time Scaling”, ICLR 2026, "
        "measured again with Steelyard. Every section gives what the paper reports, what this grid shows, and why "
        f"they may differ.</p><p class='soft'>Seed {at.seed}, {count(at.runs, 'calibration set')} a cell, "
        f"{at.resamples} random subsets a point of a curve.{speed}</p>{problems}"
    )


def _contents(made: Reproduction) -> str:
    items = "".join(
        f'<li><span class="soft">{result.mark}</span><a href="#{result.name}">{escape(result.finding.title)}</a></li>'
        for result in made.results
    )
    return f"<p>Does the paper's finding hold here?</p><ul class='list'>{items}</ul>"


def _section(result: Result, drawing: str | None) -> str:
    experiment, finding = result.experiment, result.finding
    verdicts = {
        True: '<p class="yes">The paper\'s finding holds on this grid.</p>',
        False: '<p class="no">The paper\'s finding does not hold on this grid.</p>',
        None: "",
    }
    facts = [("In the paper", experiment.where), ("It reports", experiment.paper), ("Ours shows", finding.ours)]
    facts += [("Why they may differ", experiment.differs)]
    listed = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return (
        f'<section id="{result.name}"><h2>{escape(finding.title)}</h2>{verdicts[finding.holds]}<dl>{listed}</dl>'
        f"{_figure(result, drawing)}{_table(result)}{_links(result)}</section>"
    )


def _figure(result: Result, drawing: str | None) -> str:
    if drawing is None:
        return ""
    content = b64encode(drawing.encode()).decode()
    return f'<figure><img alt="{escape(result.finding.title)}" src="data:image/svg+xml;base64,{content}"></figure>'


def _table(result: Result) -> str:
    if result.missing is not None or result.experiment.show is None:
        return ""
    shown = result.experiment.show(result.rows)
    table = f'<div class="scroll">{shown.html()}</div>'
    if len(shown.rows) <= LONG:
        return table
    return f"<details><summary>All {len(shown.rows)} rows</summary>{table}</details>"


def _links(result: Result) -> str:
    if result.missing is not None:
        return ""
    kinds = (["md", "tex"] if result.experiment.show else ["png", "svg", "html"]) + ["csv"]
    links = " · ".join(f'<a href="{result.name}.{kind}">{kind}</a>' for kind in kinds)
    return f'<p class="soft">{result.name}: {links}</p>'
