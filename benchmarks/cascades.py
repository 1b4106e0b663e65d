"""Cascades of eleven LLMs on MATH level 5: accuracy over cost, against the best LLM alone.

    python -m benchmarks.cascades FILE

FILE has one response of each LLM to every question (question_id, llm, response_text, answer, correct). The prices are
dollars per million tokens of output in the lists of 2024, rounded; those of models that think are multiplied by 4 for
tokens that are not in the text. Tokens are characters / 4.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import polars as pl

import steelyard as sy

PRICES = {
    "gpt-4o-mini": 0.6,
    "Llama-3.1-8B": 0.1,
    "Qwen2.5-7B": 0.1,
    "gemini-1.5-flash": 0.3,
    "deepseek": 0.28,
    "Qwen2.5-72B": 0.9,
    "Mistral-Large": 6.0,
    "gpt-4o-2024-08": 10.0,
    "claude-3-5": 15.0,
    "o1-mini": 48.0,
    "o1-preview": 240.0,
}
LABELS, SPLITS = 200, 5
BUDGETS = ("65%", "70%", "75%", "100%", "150%")


def chosen(names: list[str]) -> dict[str, float]:
    """The price of each of the eleven, by the name that the file has; the last of several versions."""
    found = {}
    for start, price in PRICES.items():
        alike = [n for n in names if n.lower().replace("meta-", "").startswith(start.lower())]
        if start == "deepseek":
            alike = [n for n in alike if "2.5" in n or "coder" not in n.lower()]
        found[sorted(alike)[-1]] = price
    return found


def responses(file: str) -> tuple[sy.LabelledPool, dict[str, float]]:
    """The responses of the eleven, answers grouped as Steelyard groups them."""
    frame = pl.read_parquet(file, columns=["question_id", "llm", "response_text", "answer", "correct"])
    prices = chosen(frame["llm"].unique().sort().to_list())
    rows = frame.filter(pl.col("llm").is_in(list(prices))).rename({"question_id": "question"})
    tokens = pl.col("response_text").fill_null("").str.len_chars() / 4
    read = [sy.extract_answer(text) for text in rows["response_text"].fill_null("")]
    answer = pl.coalesce(pl.Series("read", read, pl.String), "answer").alias("answer")
    agreed = pl.col("correct").mean().over("question", "answer") >= 0.5  # graders differ on a few equal answers
    table = rows.with_columns(answer, tokens=tokens).with_columns(correct=agreed).drop("response_text")
    return sy.read_labelled(table, source="llm", tokens=True, score="none"), prices


def main(file: str) -> None:
    warnings.simplefilter("ignore")
    pool, prices = responses(file)
    print(f"{pool.n_questions} questions, {len(prices)} LLMs, {LABELS} labels, {SPLITS} splits")
    print("| budget, of the best LLM's cost | cost, % | accuracy | against the best LLM, points |\n|---|---|---|---|")
    for budget in BUDGETS:
        rows = []
        for seed in range(SPLITS):
            share = LABELS / pool.n_questions
            found = sy.plan_cascade(pool, sy.CommitteeVote(), prices, budget=budget, calibrate=share, seed=seed)
            best = found.curve.filter(policy="best single")["cost"][0]
            rows.append((found.figures["cost"] / best, found.figures["accuracy"], found.figures["gain"]))
        cost, accuracy, gain = 100 * np.mean(rows, axis=0)
        spread = 100 * np.std(rows, axis=0, ddof=1)[2]
        print(f"| {budget} | {cost:.1f} | {accuracy:.1f} | {gain:+.2f} (sd over splits {spread:.2f}) |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
