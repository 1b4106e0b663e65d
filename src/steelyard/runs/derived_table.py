"""Derive RUN/table.parquet from the journal of a run: one row per sample, sorted by question and sample.

The table does not depend on the order in which samples arrived or on interruptions. A failed sample is a row without an
answer, with the reason in `failure`. Memory is proportional to a batch, not to the journal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from math import exp
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl

from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import RunError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.foundation.token_statistics import CONFIDENCE, ENTROPY, decode
from steelyard.runs.imported import ImportedMaker, imported_lists
from steelyard.runs.index import NUMBER, WIDE, Index
from steelyard.runs.journal_lines import open_journal
from steelyard.runs.manifest import TABLE, Manifest
from steelyard.runs.parameters import split_number
from steelyard.runs.run_questions import read_questions
from steelyard.runs.seal import check_nothing_lost, is_made_from, read_seal, sealed, write_sealed
from steelyard.voting.pools.arrays import Ints

FILE = TABLE
TOKEN_COLUMNS = (CONFIDENCE, ENTROPY)
JOURNAL = "journal.jsonl"
BATCH = 2000  # rows
GOLD_EVIDENCE = 500  # responses used to decide what gold answers are
LAYOUT = 2  # version of the table; a table of another version is derived again
FIELDS = {"response": pl.String, "tokens": pl.Int64, "finish": pl.String, "attempts": pl.Int64}


def fresh_table(folder: Path) -> Path:
    """Return the path of the table, derived again unless the existing one is intact and up to date."""
    manifest = Manifest.read(folder)
    if not is_fresh(folder, manifest):
        inputs = made_from(folder, manifest)
        questions = read_questions(folder)
        index = Index(folder / JOURNAL, questions["question"].to_list())
        check_nothing_lost(folder / FILE, folder / JOURNAL, index.holds | imported_lists(manifest))
        make = (TableMaker if manifest.rows is None else ImportedMaker)(questions, manifest, index)
        contents = {"holds": index.holds, "columns": column_types(make.schema)}
        write_sealed(folder / FILE, lambda path: derive(make, path), inputs | contents)
    return folder / FILE


def readable_table(folder: Path) -> Path:
    """Return the path of the table of a run that has samples."""
    path = fresh_table(folder)
    if not (read_seal(path) or {}).get("rows"):
        raise RunError(f"{folder} has no samples yet: continue with the command that makes this run")
    return path


def is_fresh(folder: Path, manifest: Manifest) -> bool:
    """Whether the table is intact and up to date with the journal."""
    return is_made_from(sealed(folder / FILE), made_from(folder, manifest))


def made_from(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Return what the table is made from; a seal with other values is out of date."""
    return {"layout": LAYOUT, "answers": manifest.answers, "journal": position(folder / JOURNAL)}


def column_types(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Return the columns of a table as its seal records them."""
    return {name: str(kind) for name, kind in schema.items()}


def position(journal: Path) -> dict[str, int]:
    """Return the length of a journal and a checksum of its end, which identify an append-only file."""
    try:
        with open_journal(journal) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 65536))
            return {"bytes": size, "end": crc32(file.read())}
    except FileNotFoundError:
        return {"bytes": 0, "end": 0}


def derive(make: TableMaker | ImportedMaker, target: Path) -> int:
    """Write the table of a run to a file; return the number of rows."""
    from polars.io.plugins import register_io_source

    index = make.index

    def batches(*_: object) -> Iterator[pl.DataFrame]:
        with index.journal.open("rb") as file:
            yield from (make.batch(file, part) for part in _parts(index.keys >> WIDE))

    if not len(index.keys):
        pl.DataFrame(schema=make.schema).write_parquet(target)
        return 0
    try:
        register_io_source(io_source=batches, schema=make.schema).sink_parquet(target, row_group_size=10 * BATCH)
    finally:
        make.close()
    return len(index.keys)


def _parts(question: np.ndarray[Any, Any]) -> Iterator[slice]:
    """Split the rows into batches of complete questions."""
    ends = np.append(np.flatnonzero(np.diff(question)) + 1, len(question))
    start = 0
    for end, following in zip(ends, np.append(ends[1:], len(question) + BATCH), strict=True):
        if following - start > BATCH:
            yield slice(start, int(end))
            start = int(end)


class TableMaker:
    """Builds the rows of complete questions from their records."""

    def __init__(self, questions: pl.DataFrame, manifest: Manifest, index: Index) -> None:
        self.questions = questions
        self.manifest = manifest
        self.index = index
        self.reader = AnswerReader(manifest.answers)
        self._looked = False
        self.sources = list(manifest.sources)
        self._check_sources()
        self.question_columns = [name for name in ("prompt", "gold", "domain") if name in questions.columns]
        types: dict[str, Any] = (
            {"question": pl.String, "sample": pl.Int64}
            | dict.fromkeys(self.question_columns, pl.String)
            | {"llm": pl.String, **FIELDS, "failure": pl.String, "answer": pl.String, "rule": pl.String}
            | ({"correct": pl.Boolean} if "gold" in self.question_columns else {})
            | ({"self_logprob": pl.Float64} if index.logprobs else {})
            | (dict.fromkeys(TOKEN_COLUMNS, pl.List(pl.Float32)) if index.token_statistics else {})
        )
        self.schema = pl.Schema(types | index.score_types)

    def batch(self, file: Any, part: slice) -> pl.DataFrame:
        """The rows of one part of the index."""
        question_index = self.index.keys[part] >> WIDE
        records = self.index.rows(file, part)
        samples, llms = self._samples(self.index.keys[part] & NUMBER)
        columns: dict[str, Any] = {
            "question": self.questions["question"].gather(question_index),
            "sample": samples,
            **{name: self.questions[name].gather(question_index) for name in self.question_columns},
            "llm": llms,
            **{name: [storable(record.get(name)) for record in records] for name in FIELDS},
            "failure": [storable(record.get("reason")) if record["kind"] == "failure" else None for record in records],
            "self_logprob": [_probability(record.get("logprob")) for record in records],
        }
        cut = pl.Series([is_cut(finish) for finish in columns["finish"]], dtype=pl.Boolean)
        readings = self.reader.extract(pl.Series(columns["response"], dtype=pl.String), cut)
        columns["answer"] = [reading.answer for reading in readings]
        columns["rule"] = [reading.rule for reading in readings]
        if "correct" in self.schema:
            self._look_at_golds(columns["response"])
            columns["correct"] = self._correct(columns["answer"], columns["gold"], question_index)
        columns |= self.index.score_columns(file, part, records)
        if self.index.token_statistics:
            pairs = [decode(record.get("token_statistics")) for record in records]
            columns |= {
                name: [None if pair is None else pair[i].tolist() for pair in pairs]
                for i, name in enumerate(TOKEN_COLUMNS)
            }
        return pl.DataFrame({name: columns[name] for name in self.schema}, schema=self.schema)

    def _samples(self, numbers: Ints) -> tuple[Ints, list[str]]:
        """The sample and the LLM of each journal number: the name of the source, else the model."""
        if not self.sources:
            return numbers, [self.manifest.model] * len(numbers)
        samples, sources = split_number(numbers)
        return samples, [self.sources[source] for source in sources.tolist()]

    def _check_sources(self) -> None:
        """Refuse samples of a source that the manifest lacks: the manifest is older than the journal."""
        if self.sources and len(keys := self.index.keys):
            count = int(split_number(keys & NUMBER)[1].max()) + 1
            if count > len(self.sources):
                raise RunError(
                    f"the journal has samples of {count} sources, and the manifest names {len(self.sources)}: restore "
                    "the latest manifest.json"
                )

    def close(self) -> None:
        self.reader.close()

    def _look_at_golds(self, responses: list[str | None]) -> None:
        """Decide from the first responses whether gold answers are option indices."""
        if not self._looked:
            self.reader.look_at_golds(self.questions["gold"], pl.Series(responses, dtype=pl.String).head(GOLD_EVIDENCE))
            self._looked = True

    def _correct(self, answers: list[str | None], gold: pl.Series, which: np.ndarray[Any, Any]) -> pl.Series:
        """Whether each answer is correct; null only if there is no gold answer."""
        _, first, question = np.unique(which, return_index=True, return_inverse=True)
        keys, same = self.reader.labelled(pl.Series(answers, dtype=pl.String), question.ravel(), gold.gather(first))
        correct = pl.Series(same) & keys.is_not_null()
        return pl.select(pl.when(gold.is_not_null()).then(correct)).to_series()


def _probability(logprob: float | None) -> float | None:
    return None if logprob is None else exp(min(0.0, logprob))


def storable(value: Any) -> Any:
    """A value of a record in a form that a table can store."""
    return replace_surrogates(value) if isinstance(value, str) else value
