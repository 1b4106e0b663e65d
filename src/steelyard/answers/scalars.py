"""Render the exact value of a number or an expression, with or without a percent sign."""

from __future__ import annotations

from steelyard.answers.expressions import expression
from steelyard.answers.polynomials import Poly, divide, number, render


def scalar(text: str) -> str:
    """Return the rendered value; a percent is a hundredth."""
    percent = text.endswith("%")
    value: Poly = expression(text.rstrip("% ") if percent else text)
    return render(divide(value, number(100)) if percent else value)
