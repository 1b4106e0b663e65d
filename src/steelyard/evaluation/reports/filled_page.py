"""The template of the page, filled with its parts, and the libraries that draw its charts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

from steelyard.evaluation.reports.ballot_data import encoded
from steelyard.evaluation.reports.comparison import comparison
from steelyard.evaluation.reports.sections import Section
from steelyard.foundation import look
from steelyard.foundation.caching import cache_folder, cached
from steelyard.foundation.version import __version__

HERE = Path(__file__).parent
EMBED = "window.vegaEmbed = vegaEmbed;"
NOTICE = """/*
Vega, Vega-Lite, Vega-Embed, Vega-Tooltip: Copyright (c) 2013-2025, University of Washington Interactive Data Lab and
contributors, BSD-3-Clause (https://github.com/vega/vega/blob/main/LICENSE). With parts of D3 and TopoJSON: Copyright
(c) 2010-2024 Mike Bostock, ISC and BSD-3-Clause.
*/"""


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
