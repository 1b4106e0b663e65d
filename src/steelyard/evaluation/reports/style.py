"""One look for every figure: one colour per method everywhere, safe for the colour-blind, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from steelyard.voting.methods import method_class, method_names

if TYPE_CHECKING:
    import altair as alt

# The built-in methods have Okabe and Ito's colours; what reads no scores is grey, oracles are dashed or hollow.
# In reserve, for a method that gives no colour: those of Paul Tol's muted scheme that are none of these.
RESERVE = ("#332288", "#117733", "#882255", "#999933", "#44aa99", "#aa4499")
WIDTH, HEIGHT = 560, 320


def colour(method: str) -> str:
    """The colour of a method, the same in every figure: its own, or one in reserve that goes by its name.

    >>> colour("logit")
    '#0072b2'
    """
    own = method_class(method).colour if method in method_names() else None
    return own or RESERVE[crc32(method.encode()) % len(RESERVE)]


def colour_of(methods: list[str]) -> alt.Color:
    """The colours of these methods, in this order, with a legend."""
    import altair as alt

    colours = [colour(name) for name in methods]
    return alt.Color("method:N", scale=alt.Scale(domain=methods, range=colours), legend=alt.Legend(title=None))


def swatch(method: str) -> str:
    """A patch of a method's colour, as HTML."""
    return f'<span class=swatch style="background:{colour(method)}"></span>'


def styled(chart: Any, *, title: str, subtitle: str | list[str] = "") -> Any:
    """Give a chart its title, which states the finding, and the common look."""
    import altair as alt

    heading = alt.TitleParams(title, subtitle=subtitle, anchor="start", fontSize=15, subtitleFontSize=12, offset=12)
    return (
        chart.properties(title=heading)
        .configure(font="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(gridOpacity=0.4, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_legend(labelFontSize=12, symbolStrokeWidth=3)
    )


def save(chart: Any, path: Path) -> None:
    """Write a figure as PNG (twice the size, for screens), SVG and a page that works without a network."""
    chart.save(str(path.with_suffix(".png")), scale_factor=2)
    chart.save(str(path.with_suffix(".svg")))
    chart.save(str(path.with_suffix(".html")), inline=True)
