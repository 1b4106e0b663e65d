"""Layers made one chart: as wide as its page, for the report, or a figure with a title, for a notebook.

The charts of this folder have no title and no colour of ink or paper: axes and rules are drawn in `currentColor`, so
light, dark and print follow the style of the report's page. A figure has a title and black ink on white.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from steelyard.foundation.charts.chart_style import WIDTH, styled

if TYPE_CHECKING:
    import altair as alt

INK, BLACK = "currentColor", "black"
HEIGHT = 300
PADDING = 18  # pixels; the font of a browser may be wider than the one that the chart was measured with
CHARACTERS = 76  # of a line of the subtitle, in a wide font
Rows = list[dict[str, Any]]
Spec = dict[str, Any]


def layered(*layers: Any, height: int = HEIGHT) -> Spec:
    """Layer charts, as wide as the page allows."""
    import altair as alt

    chart = alt.layer(*layers).properties(width="container", height=height)
    spec: Spec = chart.to_dict()
    spec.pop("config", None)
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def inline(rows: Sequence[dict[str, Any]]) -> Any:
    """The data of a chart, in the chart; five decimals are enough to draw."""
    import altair as alt

    return alt.InlineData(
        values=[{k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    )


def figure(spec: Spec, *, title: str, subtitle: str) -> alt.LayerChart:
    """A chart of the report as a figure of a fixed size, with a title.

    >>> import altair as alt
    >>> rule = alt.Chart(inline([{"x": 1}])).mark_rule(color=INK).encode(x="x:Q")
    >>> chart = figure(layered(rule), title="One rule", subtitle="at x = 1")
    >>> chart.title.text, chart.width, chart.to_dict()["layer"][0]["mark"]["color"]
    ('One rule', 560, 'black')
    """
    import altair as alt

    plain = {key: value for key, value in spec.items() if key not in ("autosize", "$schema")} | {"width": WIDTH}
    inked = json.loads(json.dumps(plain).replace(json.dumps(INK), json.dumps(BLACK)))
    chart = alt.LayerChart.from_dict(inked).properties(padding=PADDING)
    lines = wrap(subtitle, CHARACTERS)
    drawn: alt.LayerChart = styled(chart, title=title, subtitle=lines if len(lines) > 1 else subtitle)
    return drawn
