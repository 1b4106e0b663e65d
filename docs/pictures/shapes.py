"""Boxes, lines and text as SVG, on white: the site inverts pictures where the page is dark."""

from __future__ import annotations

from html import escape

INK, LINE, QUIET = "#1a1a1a", "#8a8f98", "#5b616b"
FONT = "font-family='system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif'"


def text(
    x: float, y: float, content: str, *, size: int = 14, bold: bool = False, middle: bool = False, ink: str = INK
) -> str:
    """One line of text whose baseline is at y."""
    style = f"font-size='{size}' fill='{ink}'" + (" font-weight='600'" if bold else "")
    anchor = " text-anchor='middle'" if middle else ""
    return f"<text x='{x:g}' y='{y:g}' {style}{anchor}>{escape(content)}</text>"


def box(x: float, y: float, width: float, height: float, fill: str = "#fff") -> str:
    """A rectangle with round corners."""
    return f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='7' fill='{fill}' stroke='{LINE}'/>"


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head at its end."""
    ends = f"x1='{x1:g}' y1='{y1:g}' x2='{x2:g}' y2='{y2:g}'"
    return f"<line {ends} stroke='{LINE}' stroke-width='1.6' marker-end='url(#head)'/>"


def picture(width: float, height: float, title: str, parts: list[str]) -> str:
    """A complete SVG file."""
    head = (
        "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='8' markerHeight='8' orient='auto'>"
        f"<path d='M0,0 L8,4 L0,8 z' fill='{LINE}'/></marker></defs>"
    )
    size = f"width='{width:g}' height='{height:g}'"
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' {size} {FONT}>",
        f"<title>{escape(title)}</title>",
        head,
        f"<rect {size} fill='#fff'/>",
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
