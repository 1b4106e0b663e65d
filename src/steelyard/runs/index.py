"""Offsets of the journal records that make up the table: two numbers per record, whatever the length of its text."""

from __future__ import annotations

import json
import re
from array import array
from collections import defaultdict
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from steelyard.foundation.vectors import decode
from steelyard.runs.journal_lines import Lines, body_of, heads, parsed_at
from steelyard.runs.on_demand_records import scored_mask, scored_on_demand
from steelyard.runs.run_state import SUCCESS
from steelyard.runs.scored_columns import scored_column
from steelyard.voting.pools.arrays import Ints

_LOGPROB = re.compile(rb'"logprob":[-\d]')  # inside a text the quotes would be escaped
_TOKENS = re.compile(rb'"token_statistics":"')
_VECTOR, _JUDGEMENTS = b'"vector":"', b'"judgements":{'
UNKNOWN = pl.List(pl.Float64())  # the type of scores, and of a column without any
WIDE = 32  # bits for the number of a sample
NUMBER = (1 << WIDE) - 1  # mask of that number in a key


def score_value(record: dict[str, Any] | None) -> Any:
    """Return the step scores of a record, its vector or its judgements as JSON; None if it has none."""
    if record is None or record["kind"] != "score":
        return None
    if "judgements" in record:
        return json.dumps(record["judgements"], sort_keys=True)
    return decode(record["vector"]).tolist() if "vector" in record else record.get("steps")


class Offsets:
    """The offset of the valid record of each key: question number << 32 | sample number."""

    def __init__(self) -> None:
        self._keys, self._offsets = array("q"), array("q")
        self._failed: dict[int, int] = {}

    def see(self, kind: str, question: int, sample: int, offset: int) -> None:
        """Add the offset of a record; the first success counts, or else the last failure."""
        key = question << WIDE | sample
        if kind not in SUCCESS:
            self._failed[key] = offset
        else:
            self._keys.append(key)
            self._offsets.append(offset)

    def __len__(self) -> int:
        """The number of keys with a success."""
        return len(np.unique(np.array(self._keys, np.int64)))

    def sorted(self) -> tuple[Ints, Ints]:
        """Return the sorted keys and the offsets of their records."""
        keys, first = np.unique(np.array(self._keys, np.int64), return_index=True)
        offsets = np.array(self._offsets, np.int64)[first]
        failed = np.setdiff1d(np.array(list(self._failed), np.int64), keys)
        keys = np.concatenate((keys, failed))
        offsets = np.concatenate((offsets, np.array([self._failed[key] for key in failed.tolist()], np.int64)))
        order = np.argsort(keys, kind="stable")
        return keys[order], offsets[order]


class Index:
    """The offsets of all samples, and of all scores by verifier."""

    def __init__(self, journal: Path, questions: list[str]) -> None:
        self.journal = journal
        number = {question: i for i, question in enumerate(questions)}
        samples, scores = Offsets(), defaultdict[str, Offsets](Offsets)
        self.logprobs = False  # whether the server returned any
        self.token_statistics = False
        self.frugal: set[str] = set()  # columns that were scored on demand
        self.vectors: set[str] = set()  # columns of embeddings
        self.judgements: set[str] = set()  # columns of similarities by a judge
        for offset, head, body in heads(Lines(journal)):
            if head is None and isinstance(body, dict) and (column := scored_on_demand(body)):
                self.frugal.add(column)
            if head and (question := number.get(head[2][0])) is not None:
                self.logprobs = self.logprobs or (isinstance(body, bytes) and bool(_LOGPROB.search(body)))
                statistics = isinstance(body, bytes) and bool(_TOKENS.search(body))
                self.token_statistics = self.token_statistics or statistics
                offsets = scores[head[1]] if head[1] else samples
                offsets.see(head[0], question, head[2][1], offset)
                if head[0] == "score" and isinstance(body, bytes):
                    if _VECTOR in body:
                        self.vectors.add(head[1])
                    elif _JUDGEMENTS in body:
                        self.judgements.add(head[1])
        self.keys, self.offsets = samples.sorted()
        self.scores = {name: scores[name].sorted() for name in sorted({*scores, *self.frugal})}
        self.holds = {"rows": len(self.keys), "samples": len(samples)}
        self.holds |= {f"scores of {name}": len(scores[name]) for name in self.scores}

    def rows(self, file: IO[bytes], part: slice) -> list[dict[str, Any]]:
        return [self._read(file, int(offset)) for offset in self.offsets[part]]

    def scored(self, file: IO[bytes], verifier: str, part: slice) -> list[dict[str, Any] | None]:
        """Read the score records of some samples; None for a sample without one."""
        keys, offsets = self.scores[verifier]
        samples = self.keys[part]
        if not len(keys):
            return [None] * len(samples)
        positions = np.minimum(np.searchsorted(keys, samples), len(keys) - 1)
        return [
            self._read(file, int(offset)) if key == nearest else None
            for key, nearest, offset in zip(samples, keys[positions], offsets[positions], strict=True)
        ]

    @property
    def score_types(self) -> dict[str, pl.DataType]:
        """The columns of all verifiers, and their types: lists of step scores, vectors of integers, or JSON."""
        scored = dict.fromkeys(map(scored_column, sorted(self.frugal)), pl.Boolean())
        types: dict[str, pl.DataType] = dict.fromkeys(self.scores, UNKNOWN)
        types |= dict.fromkeys(self.vectors, pl.List(pl.Int16())) | dict.fromkeys(self.judgements, pl.String())
        return {**types, **scored}

    def score_columns(self, file: IO[bytes], part: slice, samples: list[dict[str, Any]]) -> dict[str, list[Any]]:
        """Read the columns of all verifiers for some samples."""
        columns: dict[str, list[Any]] = {}
        for verifier in self.scores:
            scores = self.scored(file, verifier, part)
            columns[verifier] = [score_value(score) for score in scores]
            if verifier in self.frugal:
                columns[scored_column(verifier)] = scored_mask(samples, scores)
        return columns

    def _read(self, file: IO[bytes], offset: int) -> dict[str, Any]:
        file.seek(offset)
        return parsed_at(self.journal, offset, body_of(file.readline().rstrip(b"\n") + b"\n"))
