"""The page: one HTML file that contains its style, script, charts and data, and needs no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any, NamedTuple, cast

from steelyard.answers.extract import AUTO
from steelyard.evaluation.reports.ballot_data import encoded
from steelyard.evaluation.reports.on_demand_section import OnDemand, on_demand_section, open_on_demand, plan_of
from steelyard.evaluation.reports.sections import Section, comparison, section
from steelyard.foundation import look
from steelyard.foundation.caching import cache_folder, cached
from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import write_atomically
from steelyard.foundation.outputs import Kind, check_output
from steelyard.foundation.version import __version__
from steelyard.runs.bill import check_price
from steelyard.tables import read
from steelyard.tables.plan_reading import check_plan_or_method
from steelyard.voting.methods import default_method, method_class
from steelyard.voting.pools.label_conflicts import MAJORITY
from steelyard.voting.pools.pool import LabelledPool

LARGEST = 4_800_000  # bytes of a page; the ballots take what the charts leave
HERE = Path(__file__).parent
EMBED = "window.vegaEmbed = vegaEmbed;"
NOTICE = """/*
Vega, Vega-Lite, Vega-Embed, Vega-Tooltip: Copyright (c) 2013-2025, University of Washington Interactive Data Lab and
contributors, BSD-3-Clause (https://github.com/vega/vega/blob/main/LICENSE). With parts of D3 and TopoJSON: Copyright
(c) 2010-2024 Mike Bostock, ISC and BSD-3-Clause.
*/"""


def _wrote(path: Path) -> bool:
    """Whether Steelyard wrote a page to a file: its head says so."""
    with path.open("rb") as file:
        return GENERATOR.search(file.read(2000)) is not None


GENERATOR = re.compile(rb'<meta name="generator" content="Steelyard \d')
PAGE = Kind("a report", (".html", ".htm", ""), _wrote)


def report(
    files: str | Path | Sequence[str | Path],
    output: str | Path = "report.html",
    *,
    score: str | None = None,
    source: str | None = None,
    method: str | None = None,
    plan: str | Path | None = None,
    calibrate: float = 0.3,
    seed: int = 0,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = AUTO,
    labels: str = MAJORITY,
    price_response: float | None = None,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Write an HTML report on what calibration gains on one or more labelled files; return its size in bytes.

    It is one HTML file that works without a network. It takes the place of another report, and with `overwrite` of any
    file. With a `plan` the page is about the plan's verdicts on one file, labelled or not, and about what its verifier
    was asked for; a run that was scored on demand is shown so by the plan it was scored by, and with `price_response`
    its bill is in money, too. The options are those of `steelyard report`.

    >>> import steelyard as sy
    >>> sy.write(sy.simulate(60, 8), "labelled.parquet")
    >>> sy.report("labelled.parquet", "report.html") > 100_000
    True
    """
    options: dict[str, Any] = {"score": score, "source": source, "rename": rename, "layout": layout, "answers": answers}
    options |= {"labels": labels}
    more: dict[str, Any] = {"method": method, "plan": plan, "calibrate": calibrate, "seed": seed}
    more |= {"price_response": price_response, "overwrite": overwrite, "progress": progress}
    return reported(files, output, **options, **more).size


class Reported(NamedTuple):
    """The size of a page in bytes, and whom it is about."""

    size: int
    method: str
    plan: str | None = None


def reported(
    files: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    method: str | None,
    plan: str | Path | None,
    calibrate: float,
    seed: int,
    price_response: float | None,
    overwrite: bool,
    progress: Callable[[float], None] | None,
    **spelled: Any,
) -> Reported:
    """Do as `report` does and say whom the page is about; the other options are those of `read`."""
    check_charts()
    files = [files] if isinstance(files, str | Path) else files
    check_output(output, PAGE, inputs=files, overwrite=overwrite)
    check_price(price_response)
    if plan is not None:
        check_plan_or_method(plan, method)
        if len(files) != 1:
            raise SettingError(f"a page by a plan is of one file, and {len(files)} were given: report each separately")
        return _by_plan(output, open_on_demand(files[0], plan, price=price_response, **spelled))
    bundle = vega()
    room = (LARGEST - len(bundle)) // len(files)
    parts, name = [], ""
    scored = spelled["source"] is None or (method is not None and method_class(method).scored)  # a committee needs none
    for i, file in enumerate(files):
        pool = cast(LabelledPool, read(file, **spelled, need_score=scored))
        spelled["answers"] = pool.origin.answers  # the first file decides for all
        if pool.scored is not None and method is None and len(files) == 1:
            return _by_plan(output, open_on_demand(file, plan_of(file, pool), price=price_response, **spelled))
        if price_response is not None:
            raise SettingError("a price per response is only for the bill of a run scored with --frugal: leave it out")

        def counted(done: float, before: int = i) -> None:
            if progress:
                progress((before + done) / len(files))

        name = method or default_method(pool)
        options: dict[str, Any] = {"method": name, "share": calibrate, "seed": seed}
        options |= {"rename": spelled["rename"], "layout": spelled["layout"]}
        parts.append(section(i, file, pool, **options, room=room, alone=len(files) == 1, progress=counted))
    return Reported(_written(output, build(parts, bundle)), name)


def _by_plan(output: str | Path, on_demand: OnDemand) -> Reported:
    page = filled(on_demand.file, on_demand_section(on_demand), [look.script()], {})
    return Reported(_written(output, page), on_demand.voter.name, on_demand.plan)


def _written(output: str | Path, page: bytes) -> int:
    write_atomically(output, page)
    return len(page)


def build(parts: Sequence[Section], bundle: str) -> bytes:
    """Put the sections into the template."""
    many = len(parts) > 1
    title = parts[0].summary.file if not many else f"{len(parts)} files"
    body = (comparison([part.summary for part in parts]) if many else "") + "\n".join(part.html for part in parts)
    data = {name: value for part in parts for name, value in part.data.items()}
    return filled(title, body, [bundle, look.script(HERE / "page.js")], data)


def filled(title: str, body: str, scripts: Sequence[str], data: dict[str, Any]) -> bytes:
    """The template with a body, scripts and the data that these read."""
    stored = [f'<script type="application/json" id="{name}">{encoded(value)}</script>' for name, value in data.items()]
    page = Template((HERE / "page.html").read_text()).substitute(
        version=__version__,
        title=escape(f"Steelyard report: {title}"),
        style=look.style(),
        hashes=look.allowed(*scripts),
        body=body,
        scripts="\n".join([*stored, *(f"<script>{script}</script>" for script in scripts)]),
    )
    return page.encode("utf-8", "replace")


@cache
def vega() -> str:
    """The Vega libraries as one script, with their licence notice; putting them together takes seconds."""
    import vl_convert

    def make() -> bytes:
        return vl_convert.javascript_bundle(EMBED).encode()

    bundle = cached(cache_folder(), f"vl-convert {version('vl-convert-python')} {EMBED}", "js", make).decode()
    return f"{NOTICE}\n(() => {{\n{bundle}\n}})();"
