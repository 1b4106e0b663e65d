"""The sets of the leaderboard: the bundled grid, and files that are not part of this repository.

A set is the responses of one LLM with one score. The files of samples have no verifier: their score is the length of
the response. In the file of 83 LLMs with one response each, the LLMs take the place of samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

import steelyard as sy
from steelyard.evaluation import ResponseSet

QUESTIONS = 1000  # of the file of 83 LLMs
SAMPLES = {"aime2024": "boinf_aime2024", "gpqa": "boinf_gpqa_half", "math500": "boinf_math500_half"}
STEPS = ("prm_last", "prm_min", "prm_mean", "prm_prod")
CONFIDENCES = ("score_verbal_numeric", "score_logit_ppl")


def grid_sets() -> Iterator[ResponseSet]:
    """The 35 bundled pairs of an LLM and a verifier, on the same questions."""
    llms, verifiers = sy.paper.grid_names()
    for llm in llms:
        for verifier in verifiers:
            yield ResponseSet(f"{llm}/{verifier}", sy.paper.load_grid(llm, verifier))


def committee_sets(folder: Path) -> Iterator[ResponseSet]:
    """The sets of many LLMs with one response each, which vote as sources."""
    table = pl.read_parquet(folder / "zeroeval_mathl5_llms.parquet").select(
        "llm", question="question_id", sample="response_id", response="response_text", gold="ground_truth"
    )
    yield ResponseSet("math-level-5", sy.read_labelled(table, source="llm", score="none"))
    table = pl.read_parquet(folder / "mmlupro_llms_confidence.parquet").select(
        "llm", "answer", question="question_id", sample="response_id", gold="ground_truth"
    )
    pool = sy.read_labelled(table, source="llm", score="none", answers="exact")
    yield ResponseSet("mmlu-pro", pool.split(QUESTIONS / pool.n_questions, seed=0)[0])
    free = sy.read_labelled(folder / "simpleqa_even.parquet", source="llm", score="none", answers="free")
    yield ResponseSet("simpleqa", free)
    calls = sy.read_labelled(folder / "bfcl_even.parquet", source="llm", score="none", answers="free:json")
    yield ResponseSet("tool-calls", calls)


def public_sets(folder: Path) -> Iterator[ResponseSet]:
    """The sets of the files in a folder."""
    for name, file in SAMPLES.items():
        pool = sy.read_labelled(folder / f"{file}.parquet", score="length(length)", source="llm")
        for llm in pool.sources:
            yield ResponseSet(f"{name}/{llm}", pool.from_sources([llm]).without_sources())
    for score in STEPS:
        pool = sy.read_labelled(folder / "math500_prm_half.parquet", score=score)
        yield ResponseSet(f"math500-prm/{score}", pool)
    for score in CONFIDENCES:
        table = pl.read_parquet(folder / "mmlupro_llms_confidence.parquet").select(
            "answer", score, question="question_id", sample="response_id", gold="ground_truth"
        )
        pool = sy.read_labelled(table, score=score, answers="exact")
        yield ResponseSet(f"mmlu-pro/{score}", pool.split(QUESTIONS / pool.n_questions, seed=0)[0])
