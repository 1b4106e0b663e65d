"""Stage vote: a plan is fitted and questions are voted on with each reading's scores; writes docs/gpu_verdicts.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.gpu_scoring import difference
from benchmarks.verdicts_section import RESULTS
from recipes.verdicts.files import READ, SCORES, load
from recipes.verdicts.sizes import READINGS, SEED, Sizes
from recipes.verdicts.texts import responses
from steelyard.evaluation.accuracy import paired_difference
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts

PAIRS = (("packed", "masked"), ("packed", "float32"), ("masked", "float32"))


def run(work: Path, sizes: Sizes) -> None:
    """Print and write what the readings differ by, in scores and in verdicts."""
    table = _scored(work, sizes)
    llms = [_voted(table.filter(llm=llm), llm, sizes) for llm in dict.fromkeys(table["llm"])]
    steps = {name: np.concatenate(table[name].to_list()) for name in READINGS}
    found = {
        "scores": {f"{a}_{b}": difference([steps[a]], [steps[b]]) for a, b in PAIRS},
        "taught": sizes.learned,
        "llms": llms,
        "log": [json.loads(line) for line in (work / "log.jsonl").read_text().splitlines()],
    }
    text = json.dumps(found, indent=1)
    print(text)
    (work / RESULTS.name if sizes.most else RESULTS).write_text(text + "\n")  # a rehearsal is no result


def _scored(work: Path, sizes: Sizes) -> pl.DataFrame:
    """All responses of the questions that were read, with the scores of every reading."""
    read = load(work / READ)
    ends = np.cumsum([len(row["steps"]) for row in read])[:-1]
    stored = np.load(work / SCORES)
    scores = {name: pl.Series([part.tolist() for part in np.split(stored[name], ends)]) for name in READINGS}
    keys = {name: [row[name] for row in read] for name in ("llm", "question", "sample")}
    rows = responses(sizes)
    known = pl.DataFrame({**keys, **scores}).with_columns(pl.col("sample").cast(rows["sample"].dtype))
    texts = known.join(rows.select("llm", "question", "sample", "response"), on=["llm", "question", "sample"])
    return rows.join(texts.drop("sample"), on=["llm", "question", "response"]).sort("llm", "question", "sample")


def _voted(rows: pl.DataFrame, llm: str, sizes: Sizes) -> dict[str, Any]:
    """The verdicts of each reading by a plan of its own, and those by the plan of the masked one."""
    about = rows.select("question", "sample", "answer", "correct", *READINGS)
    pools = {name: sy.read_labelled(about.rename({name: "score"}), score="score") for name in READINGS}
    parts = {name: pool.split(sizes.labels / pool.n_questions, seed=SEED) for name, pool in pools.items()}
    plans = {name: sy.CalibratedVote().fit(labelled) for name, (labelled, _) in parts.items()}
    own = {name: plans[name].predict(test) for name, (_, test) in parts.items()}
    shared = {name: plans["masked"].predict(test) for name, (_, test) in parts.items()}
    test = parts["masked"][1]
    majority = sy.MajorityVote().predict(test)
    return {
        "llm": llm,
        "questions": test.n_questions,
        "responses": test.n_responses,
        "texts_read": rows.unique(["question", "response"]).height,
        "accuracy": {name: _estimate(verdicts, test) for name, verdicts in {**own, "majority": majority}.items()},
        "verdicts": {f"{a}_{b}": _compared(own[a], own[b], test) for a, b in PAIRS},
        "verdicts_of_one_plan": {f"{a}_{b}": _compared(shared[a], shared[b], test) for a, b in PAIRS},
    }


def _estimate(verdicts: Verdicts, test: LabelledPool) -> dict[str, float]:
    found = sy.accuracy(verdicts, test)
    return {"accuracy": float(found), "se": found.se}


def _compared(some: Verdicts, others: Verdicts, test: LabelledPool) -> dict[str, float]:
    """How many verdicts differ, and what the accuracy differs by, with the standard error of pairs."""
    differ = some.code != others.code
    gain = paired_difference(some, others, test)
    return {"differ": int(differ.sum()), "equal": float(1 - differ.mean()), "gain": float(gain), "gain_se": gain.se}
