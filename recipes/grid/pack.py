"""Stage pack: from token ids and logits to the two Parquet files of the package. Needs no GPU."""

from __future__ import annotations

import io
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from recipes.grid.config import LLMS, VERIFIERS, Sizes
from recipes.grid.corpus import Corpus
from recipes.grid.ragged import Ragged

DATA = Path(sy.__file__).parent / "data"


def run(work: Path, sizes: Sizes, _: object = None) -> None:
    """Write grid.parquet and responses.parquet."""
    corpus = Corpus.read(work)
    questions = _questions(work)
    frames, texts = [], []
    for llm in LLMS:
        file = np.load(io.BytesIO(lzma.decompress((work / "export" / f"grid-{llm}.npz.xz").read_bytes())))
        distinct = _responses(file, corpus, questions)
        rows = distinct[file["which"].astype(np.int64)].with_columns(
            llm=pl.lit(llm), sample=pl.Series(np.tile(np.arange(sizes.samples), len(questions))).cast(pl.UInt8)
        )
        texts.append(rows.select("llm", "question", "sample", "response"))
        frames.append(rows.drop("response"))
    order = ["question", "sample", "llm", "domain", "prompt", "gold", "answer", "correct", "tokens"]
    grid = pl.concat(frames).select(*order, *VERIFIERS, "self_logprob", "self_ptrue")
    DATA.mkdir(exist_ok=True)
    options: dict[str, Any] = {"compression": "zstd", "compression_level": 19, "statistics": True}
    group = len(questions) * sizes.samples
    grid.write_parquet(DATA / "grid.parquet", row_group_size=group, **options)
    pl.concat(texts).write_parquet(DATA / "responses.parquet", row_group_size=group, **options)


def probabilities(logits: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """What the head said, as a probability: float32 loses nothing of its bf16 logits."""
    return (1 / (1 + np.exp(-logits.astype(np.float64)))).astype(np.float32)


def _questions(work: Path) -> pl.DataFrame:
    """The test questions in order, each with an id that says its domain."""
    rows = [json.loads(line) for line in (work / "test.jsonl").read_text().splitlines()]
    table = pl.DataFrame(rows).with_row_index("problem")
    return table.with_columns(question=pl.format("{}-{}", "domain", pl.col("problem").cast(pl.String).str.zfill(4)))


def _responses(file: Any, corpus: Corpus, questions: pl.DataFrame) -> pl.DataFrame:
    """One row a distinct response: its text, its answer as Steelyard reads it, and every score."""
    ids = Ragged.read(file, "ids")
    texts = [corpus.text(row) for row in ids]
    answers = [sy.extract_answer(text) for text in texts]
    about = questions[file["problem"].astype(np.int64)]
    correct = [a is not None and sy.same_answer(a, gold) for a, gold in zip(answers, about["gold"], strict=True)]
    columns: dict[str, Any] = {"response": texts, "answer": pl.Series(answers, dtype=pl.String), "correct": correct}
    columns["tokens"] = pl.Series(ids.lengths + 1).cast(pl.UInt16)
    for name in VERIFIERS:
        steps = Ragged(probabilities(file[name]), file["steps_starts"])
        columns[name] = pl.Series([row.tolist() for row in steps], dtype=pl.List(pl.Float32))
    columns["self_logprob"] = np.exp(file["logprob"])
    columns["self_ptrue"] = probabilities(file["self_ptrue"])
    return about.select("question", "domain", "prompt", "gold").with_columns(
        **{name: pl.Series(values) for name, values in columns.items()}
    )
