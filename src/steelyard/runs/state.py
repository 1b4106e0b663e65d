"""Where a run stands, kept small: one bit a sample, whatever the length of its text.

The first sample of a (question, number) stands, and so does the first score a verifier gave it; a failure stands until
a sample or a score takes its place.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

Key = tuple[str, int]  # question id, sample number

SUCCESS = {"sample", "score"}
FAILURE = {"failure", "score-failure"}
_TEXT = rb'"([^"\\]*)"'
_HEAD = re.compile(
    rb'\{"kind":"(sample|failure|score|score-failure)",(?:"verifier":'
    + _TEXT + rb',)?"question":' + _TEXT + rb',"sample":(\d+)[,}]'
)  # fmt: skip


Head = tuple[str, str, Key]  # kind, verifier (empty for samples), key


class _Texts(dict[bytes | None, str]):
    """Decodes each text once: a question is named by all its samples."""

    def __missing__(self, text: bytes) -> str:
        self[text] = decoded = text.decode()
        return decoded


_texts = _Texts({None: ""})


def head_of(body: bytes) -> Head | None:
    """Read the front of a record without the rest of it; None for a record that is about no sample.

    >>> head_of(b'{"kind":"sample","question":"q","sample":3,"response":"..."}')
    ('sample', '', ('q', 3))
    """
    found = _HEAD.match(body)
    if found:
        kind, verifier, question, sample = found.groups()
        return _texts[kind], _texts[verifier], (_texts[question], int(sample))
    record = json.loads(body)
    if record.get("kind") not in SUCCESS | FAILURE:
        return None
    return record["kind"], str(record.get("verifier", "")), (str(record["question"]), int(record["sample"]))


class Marks:
    """A set of keys, as one whole number a question."""

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


@dataclass
class Tally:
    """What was done and what failed, with the reason."""

    done: Marks = field(default_factory=Marks)
    failed: dict[Key, str] = field(default_factory=dict)

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

    def see(self, head: Head | None, record: bytes | dict[str, Any]) -> bool:
        """Take in a record; whether it counts (False: its sample or score was there before)."""
        if head is None:
            self.notes.append(_read(record))
            return True
        kind, verifier, key = head
        tally = self.scores[verifier] if verifier else self.samples
        if kind in SUCCESS:
            return tally.succeed(key)
        tally.fail(key, str(_read(record).get("reason", "unknown")))
        return True


def _read(record: bytes | dict[str, Any]) -> dict[str, Any]:
    return json.loads(record) if isinstance(record, bytes) else record
