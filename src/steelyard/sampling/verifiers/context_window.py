"""Fits a response into the context of a verifier: only the last steps are read if it is too long.

1. A question that takes more than half of the context keeps its beginning.
2. Steps are dropped from the front until the rest fits.
3. A last step that does not fit alone keeps its end.

A response that was cut is marked truncated; its scores are those of the remaining steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.protocol import Rendered, TokenProtocol
from steelyard.sampling.verifiers.scored_items import Item
from steelyard.sampling.verifiers.tokens import Tokens

LONGEST = 64  # characters per token of context; longer texts are cut before they are tokenised


@dataclass(frozen=True)
class Fitted:
    """The input of the verifier, and whether a part of the response or the question was left out."""

    rendered: Rendered
    truncated: bool


def fit_or_reason(protocol: TokenProtocol, item: Item, tokens: Tokens, context: int) -> Fitted | str:
    """Render an item, or return the reason why that is impossible."""
    try:
        return fit(protocol, item.question, item.steps, tokens, context)
    except VerifierError as error:
        return str(error)


def fit(protocol: TokenProtocol, question: str, steps: Sequence[str], tokens: Tokens, context: int) -> Fitted:
    """Render a question and its steps within a context."""
    steps = protocol.prepare(steps)
    if len(question) + sum(map(len, steps)) <= LONGEST * context:
        rendered = protocol.render(question, steps, tokens)
        if len(rendered.ids) <= context:
            return Fitted(rendered, truncated=False)

    def size(some_question: str, some_steps: Sequence[str]) -> int:
        return len(protocol.render(some_question, some_steps, tokens).ids)

    frame = size("", [""])
    if frame + 2 > context:
        raise VerifierError(f"a context of {context} tokens is too short: the layout alone takes {frame}")
    question = question[: LONGEST * context]
    fits = _largest(len(question), lambda end: size(question[:end], [""]) <= max(context // 2, frame + 1))
    question, steps = question[:fits], _tail(steps, LONGEST * context)
    fitting = _largest(len(steps), lambda count: size(question, steps[len(steps) - count :]) <= context)
    if fitting:
        steps = steps[len(steps) - fitting :]
    else:
        last = steps[-1][-LONGEST * context :]
        length = _largest(len(last), lambda count: size(question, [last[len(last) - count :]]) <= context)
        steps = [last[len(last) - length :]]
    return Fitted(protocol.render(question, steps, tokens), truncated=True)


def _tail(steps: Sequence[str], characters: int) -> list[str]:
    """The last steps with no more than so many characters together; at least one."""
    tail: list[str] = []
    for step in reversed(steps):
        characters -= len(step) + 1
        if tail and characters < 0:
            break
        tail.append(step)
    return tail[::-1]


def _largest(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest count up to `limit` for which it holds, by bisection; 0 if there is none.

    >>> _largest(100, lambda count: count * count <= 50)
    7
    """
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
