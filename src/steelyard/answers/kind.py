"""A kind of answer: how it is extracted from a response, and when two answers are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Rule = Callable[[str], str | None]  # returns the answer in a text, or None; linear in the text
NamedRule = tuple[str, Rule]
IN_THOUGHTS = ("boxed", "final")  # rules that apply to thoughts when there is no final text
ENCLOSED = ("boxed", "json")  # rules that read up to a closing mark, so that the answer is complete
WHOLE_RESPONSE = "alone"  # the loose rule for a response that consists of its answer
SHORT = 400  # characters of a text that may be an answer as a whole
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


class Extracted(NamedTuple):
    """The extracted answer and the rule that matched; (None, "none") without an answer."""

    answer: str | None
    rule: str


NOTHING = Extracted(None, "none")
NO_ANSWER = "have no readable answer"
CUT_OFF = Extracted(None, "cut off")  # a response that hit its length limit before it marked an answer


class Doubt(NamedTuple):
    """Ambiguous answers: a test for them, and the message about their number."""

    applies: Callable[[str], bool]
    message: str


@dataclass(frozen=True)
class Kind:
    """A kind of answer.

    `marked` are the rules for an answer that the response marks, tried in order; `loose` are the rules for a response
    that marks none. `whole` reads answer tags or a gold answer in which no `marked` rule matches. `form` returns the
    normal form: answers with equal forms are the same, and an empty form means unreadable. With `maths`, the
    equivalence checker decides what the form leaves open. With `blank`, an empty string in a column of answers or golds
    is an answer, and only null is missing. With `listed`, answers come from a short fixed list (letters, yes and no),
    so that a response that is cut off right after one still counts. With a `similarity`, answers that are alike vote
    for each other (similarities/), compared by their texts or by the values of a `column`.
    """

    name: str
    marked: Sequence[NamedRule]
    loose: Sequence[NamedRule]
    whole: Rule
    form: Callable[[str], str]
    maths: bool = False
    blank: bool = False
    listed: bool = False
    doubt: Doubt | None = None
    similarity: str | None = None
    column: str | None = None

    @property
    def unreadable(self) -> str:
        """What responses without an answer have in common, after "3 responses"."""
        return NO_ANSWER

    def extract(self, response: str, *, cut: bool = False) -> Extracted:
        """Extract the final answer; from a response that was `cut` off, only an answer that it marks."""
        return self._before_cut(response) if cut else self._read(response, self.loose)

    def _read(self, response: str, loose: Sequence[NamedRule]) -> Extracted:
        tagged, final, thoughts = final_part(response)
        if tagged is not None:
            reading = first_match(self.marked, tagged)
            if reading is not NOTHING:
                return reading
            inside = self.whole(tagged)
            return Extracted(inside, "tag") if inside else NOTHING
        if final.strip():
            reading = first_match((*self.marked, *loose), final)
            if reading is not NOTHING:
                return reading
        return first_match([rule for rule in self.marked if rule[0] in IN_THOUGHTS], thoughts) if thoughts else NOTHING

    def _before_cut(self, response: str) -> Extracted:
        """The marked answer of a cut-off response; CUT_OFF if it marks none or the answer may be incomplete."""
        reading = self._read(response, [rule for rule in self.loose if self.listed and rule[0] == WHOLE_RESPONSE])
        if reading.answer is None:
            return CUT_OFF
        enclosed = not ends_in_tag(response) if reading.rule == "tag" else reading.rule in ENCLOSED
        return reading if self.listed or enclosed or not response.rstrip().endswith(reading.answer) else CUT_OFF

    def accepted(self, gold: str) -> str:
        """The answer that a gold answer, possibly a worked solution, stands for."""
        reading = first_match(self.marked, gold)
        return reading.answer or self.whole(gold) or gold.strip()


def first_match(rules: Sequence[NamedRule], text: str) -> Extracted:
    """Return the result of the first rule that matches; an empty match means that there is no answer."""
    for name, rule in rules:
        answer = rule(text)
        if answer is not None:
            return Extracted(answer.strip(), name) if answer.strip() else NOTHING
    return NOTHING


def short(text: str) -> str | None:
    """The text, if it is short."""
    stripped = text.strip()
    return stripped if stripped and len(stripped) <= SHORT else None


def last_line(text: str) -> str | None:
    """A short response as a whole; of a longer one the last line."""
    stripped = text.strip()
    return (stripped if len(stripped) <= 200 else stripped.splitlines()[-1].strip()) or None


class FinalPart(NamedTuple):
    """The parts of a response: the content of the answer tags (None without tags), the final text, and the thoughts."""

    tagged: str | None
    final: str
    thoughts: str


def final_part(response: str) -> FinalPart:
    """Split the end of a response into its parts.

    Text after the thinking takes precedence over the thinking. A response that was cut off while thinking has no final
    text: only an answer that its thoughts mark can be extracted.

    >>> final_part("<think>4, no</think>It is <answer>5</answer>.")
    FinalPart(tagged='5', final='It is <answer>5</answer>.', thoughts='<think>4, no')
    >>> final_part("<think>4, or rather")
    FinalPart(tagged=None, final='', thoughts='<think>4, or rather')
    """
    text = response[-TAIL:]
    if not _has_marks(text):
        return FinalPart(None, text, "")
    thought = final_match(_THOUGHT, text)
    final, thoughts = (text[thought.end() :], text[: thought.start()]) if thought else (text, "")
    thinking = _THINKING.search(final)
    if thinking:
        final, thoughts = final[: thinking.start()], thoughts + final[thinking.start() :]
    return FinalPart(_tagged(final), final, thoughts)


def without_thoughts(response: str) -> str:
    """The text after the thoughts, of any length; nothing of a response that ends while thinking.

    >>> without_thoughts("<think>4, no</think>It is 5."), without_thoughts("It is 5."), without_thoughts("<think>4")
    ('It is 5.', 'It is 5.', '')
    """
    if not _has_marks(response):
        return response
    thought = final_match(_THOUGHT, response)
    final = response[thought.end() :] if thought else response
    thinking = _THINKING.search(final)
    return final[: thinking.start()] if thinking else final


def ends_in_tag(response: str) -> bool:
    """Whether a response ends inside answer tags that are never closed.

    >>> ends_in_tag("<answer>Let me"), ends_in_tag("<answer>5</answer>")
    (True, False)
    """
    text = response[-TAIL:]
    opened = final_match(_OPENED, text)
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
    opened = final_match(_OPENED, text)
    if opened is None:
        return None
    closed = _CLOSED.search(text, opened.end())
    return text[opened.end() : closed.start() if closed else len(text)]


def final_match(pattern: re.Pattern[str], text: str, *span: int) -> re.Match[str] | None:
    """Return the last match of a pattern in a text, or in a span of it; None if there is none."""
    match = None
    for match in pattern.finditer(text, *span):  # noqa: B007 - only the last match is used
        pass
    return match
