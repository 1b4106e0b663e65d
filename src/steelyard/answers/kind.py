"""What a kind of answer is: how it is read out of a response, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.answers.final_part import ends_in_tag, final_part

Rule = Callable[[str], str | None]  # a text -> the answer in it, None if there is none; linear in the text
Named = tuple[str, Rule]
IN_THOUGHTS = ("boxed", "final")  # rules that count in thoughts which no final text follows
ENCLOSED = ("boxed", "json")  # rules that read what is closed by a mark: no cut has shortened it
WHOLE_RESPONSE = "alone"  # the loose rule for a response that is nothing but its answer
SHORT = 400  # characters of what may be an answer as a whole


class Extracted(NamedTuple):
    """What was read, and by which rule; (None, "none") if nothing was."""

    answer: str | None
    rule: str


NOTHING = Extracted(None, "none")
CUT_OFF = Extracted(None, "cut off")  # of a response that its length limit ended before it marked an answer


class Doubt(NamedTuple):
    """Answers of which nobody can be sure how they are meant, and what is said of their number."""

    concerns: Callable[[str], bool]
    message: str


@dataclass(frozen=True)
class Kind:
    """A kind of answer.

    `marked` are rules for what a response marks as its answer, tried in order; `loose` are those for a response that
    marks none. `whole` reads the content of answer tags, or a gold answer, that no rule of `marked` finds anything in.
    `form` is the normal form: two answers with one form are the same; empty = unreadable. With `maths`, what the form
    leaves open is decided by the equivalence checker. With `blank`, an empty text in a column of answers or golds is an
    answer; only a null is missing.
    With `listed`, answers come from a short fixed list (letters,
    yes and no), so that a response which is cut off after one still gives it.
    """

    name: str
    marked: Sequence[Named]
    loose: Sequence[Named]
    whole: Rule
    form: Callable[[str], str]
    maths: bool = False
    blank: bool = False
    listed: bool = False
    doubt: Doubt | None = None

    def extract(self, response: str, *, cut: bool = False) -> Extracted:
        """Read the final answer out of a response; one that was `cut` off gives only an answer that it marks."""
        return self._before_cut(response) if cut else self._read(response, self.loose)

    def _read(self, response: str, loose: Sequence[Named]) -> Extracted:
        tagged, final, thoughts = final_part(response)
        if tagged is not None:
            found = first_found(self.marked, tagged)
            if found is not NOTHING:
                return found
            inside = self.whole(tagged)
            return Extracted(inside, "tag") if inside else NOTHING
        if final.strip():
            found = first_found((*self.marked, *loose), final)
            if found is not NOTHING:
                return found
        return first_found([rule for rule in self.marked if rule[0] in IN_THOUGHTS], thoughts) if thoughts else NOTHING

    def _before_cut(self, response: str) -> Extracted:
        """The marked answer of a response that was cut off; CUT_OFF where it marks none, or the cut may have cut it."""
        reading = self._read(response, [rule for rule in self.loose if self.listed and rule[0] == WHOLE_RESPONSE])
        if reading.answer is None:
            return CUT_OFF
        enclosed = not ends_in_tag(response) if reading.rule == "tag" else reading.rule in ENCLOSED
        return reading if self.listed or enclosed or not response.rstrip().endswith(reading.answer) else CUT_OFF

    def accepted(self, gold: str) -> str:
        """The answer that a gold answer stands for, which may be a whole worked solution."""
        found = first_found(self.marked, gold)
        return found.answer or self.whole(gold) or gold.strip()


def first_found(rules: Sequence[Named], text: str) -> Extracted:
    """What the first rule finds that finds something; a rule that finds the empty text says that there is no answer."""
    for name, rule in rules:
        found = rule(text)
        if found is not None:
            return Extracted(found.strip(), name) if found.strip() else NOTHING
    return NOTHING


def short(text: str) -> str | None:
    """All of a short text."""
    whole = text.strip()
    return whole if whole and len(whole) <= SHORT else None


def last_line(text: str) -> str | None:
    """All of a short response, else its last line."""
    whole = text.strip()
    return (whole if len(whole) <= 200 else whole.splitlines()[-1].strip()) or None
