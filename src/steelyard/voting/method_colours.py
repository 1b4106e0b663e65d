"""One colour per method, the same in all figures: safe for the colour-blind, on light and on dark pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.foundation.charts.chart_style import reserve_colour
from steelyard.voting.methods import method_class, method_names

if TYPE_CHECKING:
    import altair as alt


def colour(method: str) -> str:
    """The colour of a method, the same in every figure: its own, or one in reserve that goes by its name.

    >>> colour("logit")
    '#0072b2'
    """
    own = method_class(method).colour if method in method_names() else None
    return own or reserve_colour(method)


def colour_of(methods: list[str]) -> alt.Color:
    """The colours of these methods, in this order, with a legend."""
    import altair as alt

    colours = [colour(name) for name in methods]
    return alt.Color("method:N", scale=alt.Scale(domain=methods, range=colours), legend=alt.Legend(title=None))


def is_oracle(method: str) -> bool:
    """Whether a method of this name reads the labels.

    >>> is_oracle("pass-at-n"), is_oracle("logit"), is_oracle("logit-2")
    (True, False, False)
    """
    return method in method_names() and method_class(method).oracle
