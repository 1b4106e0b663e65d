"""Locate the final part of a response: after the thinking, and inside the answer tags if there are any.

Text after the thinking takes precedence over the thinking. A response that was cut off while thinking has no final
part: only an answer that its thoughts mark can be extracted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAIL = 20_000  # characters at the end of a response that are searched for an answer

_THOUGHT = re.compile(
    r"</(?:think|thinking|thought|thoughts|reasoning|scratchpad)>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|channel\|>final<\|message\|>|<\|begin_of_solution\|>",
    re.IGNORECASE,
)
_THINKING = re.compile(r"<(?:think|thinking|thought|thoughts|reasoning|scratchpad)>|\[THINK\]|◁think▷", re.IGNORECASE)
_OPENED = re.compile(r"<(?:answer|final_answer|solution)>|\[ANSWER\]", re.IGNORECASE)
_CLOSED = re.compile(r"</(?:answer|final_answer|solution)>|\[/ANSWER\]", re.IGNORECASE)
_AFTER_BRACKET = ("/", "|", "th", "re", "sc", "an", "fi", "so")  # how the marks above continue after their bracket


class FinalPart(NamedTuple):
    """The parts of a response: the content of the answer tags (None without tags), the final text, and the thoughts."""

    tagged: str | None
    final: str
    thoughts: str


def final_part(response: str) -> FinalPart:
    """Split the end of a response into its parts.

    >>> final_part("<think>4, no</think>It is <answer>5</answer>.")
    FinalPart(tagged='5', final='It is <answer>5</answer>.', thoughts='<think>4, no')
    >>> final_part("<think>4, or rather")
    FinalPart(tagged=None, final='', thoughts='<think>4, or rather')
    """
    text = response[-TAIL:]
    if not _has_marks(text):
        return FinalPart(None, text, "")
    thought = _last(_THOUGHT, text)
    final, thoughts = (text[thought.end() :], text[: thought.start()]) if thought else (text, "")
    thinking = _THINKING.search(final)
    if thinking:
        final, thoughts = final[: thinking.start()], thoughts + final[thinking.start() :]
    return FinalPart(_tagged(final), final, thoughts)


def ends_in_tag(response: str) -> bool:
    """Whether a response ends inside answer tags that are never closed.

    >>> ends_in_tag("<answer>Let me"), ends_in_tag("<answer>5</answer>")
    (True, False)
    """
    text = response[-TAIL:]
    opened = _last(_OPENED, text)
    return opened is not None and _CLOSED.search(text, opened.end()) is None


def _has_marks(text: str) -> bool:
    """Whether the text may contain a mark; searching for a character costs a tenth of a pattern search."""
    for bracket in "<[◁":
        at = text.find(bracket)
        while at >= 0:
            if text[at + 1 : at + 3].lower().startswith(_AFTER_BRACKET):
                return True
            at = text.find(bracket, at + 1)
    return False


def _tagged(text: str) -> str | None:
    """The content of the last answer tags; an unclosed tag extends to the end."""
    opened = _last(_OPENED, text)
    if opened is None:
        return None
    closed = _CLOSED.search(text, opened.end())
    return text[opened.end() : closed.start() if closed else len(text)]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007 - only the last match is used
        pass
    return match
