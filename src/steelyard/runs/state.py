"""Where a run stands, kept small: one bit a sample, whatever the length of its text.

The first sample of a (question, number) stands, and so does the first score a verifier gave it; a failure stands until
a sample or a score takes its place.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from steelyard.runs.parameters import MOST_SAMPLES

Key = tuple[str, int]  # question id, sample number

SUCCESS = {"sample", "score"}
FAILURE = {"failure", "score-failure"}
NOTE = "note"  # a record about no sample
TAKEN = {"question", "sample", "prompt", "gold", "domain", "llm", "response", "tokens", "finish", "attempts"}
TAKEN |= {"failure", "answer", "rule", "correct", "self_logprob"}  # columns of the table that no verifier may have
KEPT, LONGEST_KEPT = 1 << 16, 200  # texts remembered from one record to the next, and their characters
_TEXT = rb'"([^"\\]*)"'
_HEAD = re.compile(
    rb'\{"kind":"(sample|failure|score|score-failure)",(?:"verifier":'
    + _TEXT + rb',)?"question":' + _TEXT + rb',"sample":(\d{1,9})[,}]'
)  # fmt: skip


Head = tuple[str, str, Key]  # kind, verifier (empty for samples), key


class Texts(dict[bytes | None, str]):
    """Decodes each text once: a question is named by all its samples. It forgets when KEPT are there, and long ones."""

    def __missing__(self, text: bytes | None) -> str:
        decoded = text.decode() if text else ""
        if len(self) >= KEPT:
            self.clear()
        if len(decoded) <= LONGEST_KEPT:
            self[text] = decoded
        return decoded


_texts = Texts()


def head_of(body: bytes) -> Head | None:
    """Read the front of a record without the rest of it; None for a note, which is about no sample.

    A front that cannot be ours is a ValueError that says why: a sample is one bit at the place of its number, so a
    number without bounds would be memory without bounds.

    >>> head_of(b'{"kind":"sample","question":"q","sample":3,"response":"..."}')
    ('sample', '', ('q', 3))
    """
    found = _HEAD.match(body)
    if found:
        named = found.groups()
        kind, verifier, question, sample = _texts[named[0]], _texts[named[1]], _texts[named[2]], int(named[3])
    else:
        record = json.loads(body)
        kind, verifier = record.get("kind"), record.get("verifier", "")
        if kind == NOTE:
            return None
        if not isinstance(kind, str) or kind not in SUCCESS | FAILURE:
            raise ValueError(f"its kind is {kind!r:.40}")
        question, sample = record.get("question"), record.get("sample")
        if not isinstance(question, str) or not isinstance(verifier, str) or type(sample) is not int:
            raise ValueError("it names no question and sample")
    if not 0 <= sample < MOST_SAMPLES:
        raise ValueError(f"its sample is not one of 0 to {MOST_SAMPLES - 1:,}")
    if kind.startswith("score") != bool(verifier) or verifier in TAKEN:
        raise ValueError(f"its verifier is {verifier!r:.40}")
    return kind, verifier, (question, sample)


class Marks:
    """A set of keys, as one whole number per question."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}

    def add(self, key: Key) -> bool:
        """Put a key in; whether it is new."""
        before = self.bits.get(key[0], 0)
        self.bits[key[0]] = after = before | 1 << key[1]
        return after != before

    def __contains__(self, key: Key) -> bool:
        return bool(self.bits.get(key[0], 0) >> key[1] & 1)

    def __len__(self) -> int:
        return sum(bits.bit_count() for bits in self.bits.values())

    def among(self, numbers: Iterable[int]) -> int:
        """How many keys have one of these numbers."""
        wanted = sum(1 << number for number in set(numbers))
        return sum((bits & wanted).bit_count() for bits in self.bits.values())


@dataclass
class Tally:
    """What was done and what failed, with the reason."""

    done: Marks = field(default_factory=Marks)
    failed: dict[Key, str] = field(default_factory=dict)

    @property
    def reasons(self) -> Counter[str]:
        """How many samples failed for each reason."""
        return Counter(self.failed.values())

    def succeed(self, key: Key) -> bool:
        """Note a success; whether it is the first."""
        if self.failed:
            self.failed.pop(key, None)
        return self.done.add(key)

    def fail(self, key: Key, reason: str) -> None:
        """Note a failure, unless there was a success."""
        if key not in self.done:
            self.failed[key] = sys.intern(reason)


@dataclass
class State:
    """The tally of the samples, and one for every verifier."""

    samples: Tally = field(default_factory=Tally)
    scores: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def holds(self) -> dict[str, int]:
        """How many rows a table of it has, and how many samples and scores are in them."""
        done = {"samples": len(self.samples.done)}
        rows = {"rows": len(self.samples.done) + len(self.samples.failed)}
        return rows | done | {f"scores of {name}": len(tally.done) for name, tally in self.scores.items()}

    def see(self, head: Head | None, record: Any) -> bool:
        """Take in a record; whether it counts (False: its sample or score was there before).

        `record` is a dictionary; of a sample or a score nothing but its head is looked at.
        """
        if head is None:
            self.notes.append(record)
            return True
        kind, verifier, key = head
        tally = self.scores[verifier] if verifier else self.samples
        if kind in SUCCESS:
            return tally.succeed(key)
        tally.fail(key, record.get("reason") or "unknown")
        return True
