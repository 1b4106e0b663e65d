"""The state of a run in little memory: one bit per sample, whatever the length of its text.

The first sample of a (question, number) counts, and so does its first score by each verifier; a failure counts until a
sample or a score replaces it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from steelyard.runs.parameters import MAX_SAMPLES

Key = tuple[str, int]  # question id, sample number
SUCCESS = {"sample", "score"}
FAILURE = {"failure", "score-failure"}
NOTE = "note"  # a record that is not about a sample
COMPARISON = "comparison"  # notes about this are many, and not kept in memory (runs/comparison_records.py)
RESERVED = {  # columns of the table that no verifier may use
    "question", "sample", "prompt", "gold", "domain", "llm", "response", "tokens", "finish", "attempts", "failure",
    "answer", "rule", "correct", "self_logprob",
}  # fmt: skip
CACHE_SIZE, LONGEST_CACHED = 1 << 16, 200  # texts, and characters of a text
_TEXT = rb'"([^"\\]*)"'
_HEAD = re.compile(
    rb'\{"kind":"(sample|failure|score|score-failure)",(?:"verifier":'
    + _TEXT + rb',)?"question":' + _TEXT + rb',"sample":(\d{1,9})[,}]'
)  # fmt: skip
Head = tuple[str, str, Key]  # kind, verifier (empty for samples), key


class Texts(dict[bytes | None, str]):
    """A cache of decoded texts: all samples of a question repeat its name. Cleared when full; skips long texts."""

    def __missing__(self, text: bytes | None) -> str:
        decoded = text.decode() if text else ""
        if len(self) >= CACHE_SIZE:
            self.clear()
        if len(decoded) <= LONGEST_CACHED:
            self[text] = decoded
        return decoded


_texts = Texts()


def head_of(body: bytes) -> Head | None:
    """Read the head of a record without the rest; None for a note, which is not about a sample.

    An invalid head raises a ValueError: a sample is one bit at the position of its number, so an unbounded number would
    need unbounded memory.

    >>> head_of(b'{"kind":"sample","question":"q","sample":3,"response":"..."}')
    ('sample', '', ('q', 3))
    """
    match = _HEAD.match(body)
    if match:
        groups = match.groups()
        kind, verifier, question, sample = _texts[groups[0]], _texts[groups[1]], _texts[groups[2]], int(groups[3])
    else:
        record = json.loads(body)
        kind, verifier = record.get("kind"), record.get("verifier", "")
        if kind == NOTE:
            return None
        if not isinstance(kind, str) or kind not in SUCCESS | FAILURE:
            raise ValueError(f"its kind is {kind!r:.40}")
        question, sample = record.get("question"), record.get("sample")
        if not isinstance(question, str) or not isinstance(verifier, str) or type(sample) is not int:
            raise ValueError("it does not name a question and a sample")
    if not 0 <= sample < MAX_SAMPLES:
        raise ValueError(f"its sample is not between 0 and {MAX_SAMPLES - 1:,}")
    if kind.startswith("score") != bool(verifier) or verifier in RESERVED:
        raise ValueError(f"its verifier is {verifier!r:.40}")
    return kind, verifier, (question, sample)


class Marks:
    """A set of keys, stored as one integer per question."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}

    def add(self, key: Key) -> bool:
        """Add a key; return whether it is new."""
        before = self.bits.get(key[0], 0)
        self.bits[key[0]] = after = before | 1 << key[1]
        return after != before

    def __contains__(self, key: Key) -> bool:
        return bool(self.bits.get(key[0], 0) >> key[1] & 1)

    def __len__(self) -> int:
        return sum(bits.bit_count() for bits in self.bits.values())

    def among(self, numbers: Iterable[int]) -> int:
        """Return how many keys have one of these numbers."""
        mask = sum(1 << number for number in set(numbers))
        return sum((bits & mask).bit_count() for bits in self.bits.values())


@dataclass
class Tally:
    """The successes, and the failures with their reasons."""

    done: Marks = field(default_factory=Marks)
    failed: dict[Key, str] = field(default_factory=dict)

    @property
    def reasons(self) -> Counter[str]:
        return Counter(self.failed.values())

    def succeed(self, key: Key) -> None:
        if self.failed:
            self.failed.pop(key, None)
        self.done.add(key)

    def fail(self, key: Key, reason: str) -> None:
        """Record a failure, unless there was a success."""
        if key not in self.done:
            self.failed[key] = sys.intern(reason)


@dataclass
class State:
    """The tally of the samples, and that of every verifier."""

    samples: Tally = field(default_factory=Tally)
    scores: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def holds(self) -> dict[str, int]:
        """The number of rows, samples and scores that a table of this state has."""
        done = {"samples": len(self.samples.done)}
        rows = {"rows": len(self.samples.done) + len(self.samples.failed)}
        return rows | done | {f"scores of {name}": len(tally.done) for name, tally in self.scores.items()}

    def see(self, head: Head | None, record: Any) -> None:
        """Add a record, a dictionary; for a sample or a score only its head is used."""
        if head is None:
            if record.get("about") != COMPARISON:
                self.notes.append(record)
            return
        kind, verifier, key = head
        tally = self.scores[verifier] if verifier else self.samples
        if kind in SUCCESS:
            tally.succeed(key)
        else:
            tally.fail(key, record.get("reason") or "unknown")
