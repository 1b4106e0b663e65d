"""Worst cases for the reading of answers, built from its own grammar: constructs nested and repeated 1 to 300 deep.

`steps_of` counts the lines of Python that reading a text executes. That is work, not seconds: it is the same on a busy
machine and on a quiet one, and it must grow no faster than the text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from steelyard.answers.extract import KINDS, extract
from steelyard.answers.fingerprints import fingerprint
from steelyard.answers.normal import normal_form, number_of, was_read

BASE_LINES, LINES_PER_CHARACTER = 500_000, 400  # what reading a text may cost; a line takes about a tenth of a µs
LEAVES = ["3", "x", "12", "\\pi", "1/2", "1,2", "7%", "a", "2x", "\\sqrt{2}", "-1", "", "i", "0.5", "\\infty"]
NESTED = [
    "2\\frac{%s}{1}", "\\frac{%s}{2}", "\\frac{1}{%s}", "3\\frac{%s}{x}", "1 %s/5", "\\sqrt{%s}", "\\sqrt[%s]{8}", "(%s)", "{%s}",
    "[%s]", "\\{%s\\}", "(%s)^2", "2^{%s}", "x^{%s}", "%s^2", "-%s", "(%s,1)", "(1,%s]", "{%s,2}", "\\text{%s}", "\\boxed{%s}",
    "%s!", "(%s+x)(%s-x)", "%s=1", "x=%s", "\\left(%s\\right)", "%s\\pm 1", "%s\\cup(0,1)", "\\begin{matrix}%s&1\\end{matrix}",
    "%s and 1", "%s;2", "(%s)/(2)", "2(%s)", "f(%s)", "%s cm", "%s^\\circ", "%s_2", "$%s$", "\\frac%s2", "2\\frac%s3",
]  # fmt: skip
REPEATED = [
    "2\\frac{", "}{1}", "\\frac12", "2\\frac43", "\\sqrt{9973}+", "\\sqrt{9967}*", "(x+1)", "x^2+", "1,", "(1,", "1/", "((", "))",
    "{", "}", "=1", "\\pm", "\\cup", "+-", "-", "!", "^2", "^", "_", "1 ", " a", "\\text{", "and ", "1;", "&", "\\\\", "%", "'",
    "1,111", "a1", "(a+b)", "(\\sqrt2+\\sqrt3)", "answer ", "answer: ", "answer is ", "final answer", "\\boxed{", "####", "**", " ",
    "\n", "\t", "*", ":", "(A)", '"answer": "', "\\", "1.", ".", "the answer ", "option ", "1e9", "99!", "x!", "½", "²", "\u3000",
]  # fmt: skip


def nested(construct: str, leaf: str, depth: int) -> str:
    """The construct within itself; one with two places is nested in the first only, so that the text stays short."""
    text = leaf
    for _ in range(depth):
        text = construct.replace("%s", text, 1).replace("%s", leaf)
        if len(text) > 20_000:
            break
    return text


def every_worst_case(depths: tuple[int, ...] = (1, 3, 12, 40, 300)) -> Iterator[str]:
    """Every construct nested, and every piece repeated, to these depths."""
    for depth in depths:
        yield from (nested(construct, "3", depth) for construct in NESTED)
        yield from (piece * depth for piece in REPEATED)
        yield from ("(" + piece * depth + ")^2" for piece in REPEATED)


def random_worst_case(rng: random.Random) -> str:
    """Constructs within constructs beside repeated pieces."""
    text = rng.choice(LEAVES)
    for _ in range(rng.randrange(1, 5)):
        how, depth = rng.random(), rng.randrange(1, rng.choice((4, 30, 301)))
        if how < 0.6:
            text = nested(rng.choice(NESTED), text, depth)
        elif how < 0.8:
            text = rng.choice(REPEATED) * depth + text
        else:
            text += rng.choice(REPEATED) * depth
        text = text[:20_000]
    return text


def steps_of(function: Callable[..., Any], *words: str) -> int:
    """How many lines of Python a call executes; it is stopped once it is beyond all bounds."""
    lines, most = 0, 20 * allowed_lines(*words)

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if lines > most:
                raise AssertionError(f"more than {most:,} lines for {words[0][:80]!r}")
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        function(*words)
    finally:
        sys.settrace(before)
    return lines


def allowed_lines(*words: str) -> int:
    """What reading a text may cost at most: linear in its length."""
    return BASE_LINES + LINES_PER_CHARACTER * len(words[0])


def read_in_every_way(text: str) -> None:
    """All that is ever done with a text in process."""
    form = normal_form(text)
    was_read(form)
    number_of(form)
    fingerprint.__wrapped__(form)
    for kind in KINDS:
        extract(text, kind)
