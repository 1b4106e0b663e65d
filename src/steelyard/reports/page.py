"""The page: one HTML file with its style, script, charts and data in it, which asks no server for anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any, cast

from steelyard import look
from steelyard.caching import cache_folder, kept
from steelyard.files import write_atomically
from steelyard.methods import default_method, method_class
from steelyard.outputs import Kind, check_output
from steelyard.pools.pool import LabelledPool
from steelyard.reports.ballot_data import encoded
from steelyard.reports.comparison import comparison
from steelyard.reports.sections import Section, section
from steelyard.tables import read
from steelyard.version import __version__

HERE = Path(__file__).parent
LARGEST = 4_800_000  # bytes of a page; the ballots take what the charts leave
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
    calibrate: float = 0.3,
    seed: int = 0,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = "math",
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Write one page that shows what calibration bought on one or more labelled files; return its size in bytes.

    It is one HTML file that works without a network. It takes the place of another report, and with `overwrite` of any
    file. The options are those of `steelyard report`.

    >>> import steelyard as sy
    >>> sy.write(sy.simulate(60, 8), "labelled.parquet")
    >>> sy.report("labelled.parquet", "report.html") > 100_000
    True
    """
    files = [files] if isinstance(files, str | Path) else files
    check_output(output, PAGE, inputs=files, overwrite=overwrite)
    bundle = vega()
    room = (LARGEST - len(bundle)) // len(files)
    parts = []
    spelled: dict[str, Any] = {"score": score, "source": source, "rename": rename, "layout": layout, "answers": answers}
    for i, file in enumerate(files):
        pool = cast(LabelledPool, read(file, **spelled, need_score=_reads_scores(method, source)))

        def counted(done: float, before: int = i) -> None:
            if progress:
                progress((before + done) / len(files))

        options: dict[str, Any] = {
            "method": method or default_method(pool),
            "share": calibrate,
            "seed": seed,
            "rename": rename,
            "layout": layout,
        }
        parts.append(section(i, file, pool, **options, room=room, alone=len(files) == 1, progress=counted))
    page = build(parts, bundle)
    write_atomically(output, page)
    return len(page)


def _reads_scores(method: str | None, source: str | None) -> bool:
    """Whether the page cannot do without a score: a committee can."""
    return source is None or (method is not None and method_class(method).scored)


def build(parts: Sequence[Section], bundle: str) -> bytes:
    """Put the sections into the template."""
    many = len(parts) > 1
    title = parts[0].summary.file if not many else f"{len(parts)} files"
    body = (comparison([part.summary for part in parts]) if many else "") + "\n".join(part.html for part in parts)
    scripts = [bundle, look.script(HERE / "page.js")]
    data = {name: value for part in parts for name, value in part.data.items()}
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

    bundle = kept(cache_folder(), f"vl-convert {version('vl-convert-python')} {EMBED}", "js", make).decode()
    return f"{NOTICE}\n(() => {{\n{bundle}\n}})();"
