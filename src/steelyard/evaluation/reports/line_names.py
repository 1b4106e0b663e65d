"""Where the names of lines stand: each as near to the end of its line as the others allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

SPACE = 16  # pixels between the names of two lines


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
        wanted = max(last[name], low)
        places.append(wanted if not places else max(wanted, places[-1] + apart))
    top = high
    for i in reversed(range(len(places))):  # what was pushed out of the frame pushes back
        places[i] = min(places[i], top)
        top = places[i] - apart
    return [{"method": name, "at": place} for name, place in zip(order, places, strict=True)]


def leaving_lines(rows: Sequence[dict[str, Any]], high: float) -> list[dict[str, Any]]:
    """The last row inside the frame of every line that ends above it, to be named there."""
    found = []
    for name in dict.fromkeys(row["method"] for row in rows):
        line = sorted((row for row in rows if row["method"] == name), key=lambda row: row["n"])
        inside = [row for row in line if row["accuracy"] <= high]
        if inside and line[-1]["accuracy"] > high:
            found.append(inside[-1])
    return found


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
