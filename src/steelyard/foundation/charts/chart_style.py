"""The look of every chart: the packages that draw it, colours in reserve, and the names at the ends of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

from steelyard.foundation.errors import SettingError

# The built-in methods have Okabe and Ito's colours; what reads no scores is grey, oracles are dashed or hollow.
# In reserve, for a method that gives no colour: those of Paul Tol's muted scheme that are none of these.
RESERVE = ("#332288", "#117733", "#882255", "#999933", "#44aa99", "#aa4499")
WIDTH, HEIGHT = 560, 320
PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python"}  # module: package
INSTALL = "pip install 'steelyard[report]'"
SPACE = 16  # pixels between the names of two lines


def reserve_colour(name: str) -> str:
    """The colour of a method or another line that has none of its own; it goes by the name.

    >>> reserve_colour("my-vote") in RESERVE
    True
    """
    return RESERVE[crc32(name.encode()) % len(RESERVE)]


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


def missing_packages() -> list[str]:
    """The names of the packages that charts need and that are not installed."""
    return [package for module, package in PACKAGES.items() if find_spec(module) is None]


def check_charts() -> None:
    """Raise an error that says what to install, if charts cannot be drawn."""
    missing = missing_packages()
    if missing:
        raise SettingError(f"charts need {' and '.join(missing)}: {INSTALL}")


def line_names(
    rows: Sequence[dict[str, Any]], names: Sequence[str], frame: tuple[float, float], gap: float
) -> list[dict[str, Any]]:
    """Return a place `at` for each name, at least `gap` (a part of the frame's height) from the next.

    A line is a row per `n` with its `method` and `accuracy`; one that ends above the frame has no name there.

    >>> rows = [{"method": m, "n": 8, "accuracy": a} for m, a in (("a", 0.5), ("b", 0.51), ("c", 0.9))]
    >>> [(row["method"], round(row["at"], 2)) for row in line_names(rows, ["a", "b", "c"], (0.4, 0.6), 0.1)]
    [('a', 0.5), ('b', 0.52)]
    """
    low, high = frame
    apart = gap * (high - low)
    last = {row["method"]: row["accuracy"] for row in sorted(rows, key=lambda row: row["n"])}
    order = sorted((name for name in names if name in last and last[name] <= high), key=lambda name: last[name])
    places: list[float] = []
    for name in order:
        target = max(last[name], low)
        places.append(target if not places else max(target, places[-1] + apart))
    top = high
    for i in reversed(range(len(places))):  # what was pushed out of the frame pushes back
        places[i] = min(places[i], top)
        top = places[i] - apart
    return [{"method": name, "at": place} for name, place in zip(order, places, strict=True)]


def leaving_lines(rows: Sequence[dict[str, Any]], high: float) -> list[dict[str, Any]]:
    """The last row inside the frame of every line that ends above it, to be named there."""
    ends = []
    for name in dict.fromkeys(row["method"] for row in rows):
        line = sorted((row for row in rows if row["method"] == name), key=lambda row: row["n"])
        inside = [row for row in line if row["accuracy"] <= high]
        if inside and line[-1]["accuracy"] > high:
            ends.append(inside[-1])
    return ends


def named_lines(
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    frame: tuple[float, float],
    height: int,
    *,
    colours: Any,
    bold: str | None = None,
    ink: str = "black",
    label: Callable[[str], str] = str,
) -> list[Any]:
    """Write the names of lines to the right of a chart, each behind a dot of its colour; the frame is its y domain."""
    import altair as alt

    placed = [row | {"label": label(row["method"])} for row in line_names(rows, names, frame, SPACE / height)]
    scale = alt.Scale(domain=list(frame), nice=False)
    base = alt.Chart(alt.InlineData(values=placed)).encode(y=alt.Y("at:Q", scale=scale), x=alt.value("width"))
    dots = base.mark_point(filled=True, opacity=1, size=55, xOffset=10).encode(color=colours)
    own = alt.FieldEqualPredicate(field="method", equal=bold or "")
    words = base.encode(text="label:N")
    thick = words.mark_text(align="left", dx=18, color=ink, fontSize=12, fontWeight="bold").transform_filter(own)
    plain = words.mark_text(align="left", dx=18, color=ink, fontSize=12).transform_filter(~own)
    return [dots, thick, plain]
