"""Reading and grouping real answers against math-verify: `python -m benchmarks.answers FILE` writes its part of
docs/benchmarks.md.

FILE is a table with `question_id`, `response_text` and `ground_truth`, such as the MATH level 5 responses of ZeroEval.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl

from benchmarks import whole_reading
from benchmarks.measuring import Row, at_least, seconds
from benchmarks.page_sections import with_section
from steelyard.answers.cleaning import plain
from steelyard.answers.equivalence import UNKNOWN, EquivalenceChecker
from steelyard.answers.extract import extract as read_answer
from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
MARK = "\n## Answers\n"
SAMPLED = 1500  # pairs asked of math-verify


def speed(texts: list[str]) -> list[Row]:
    """Responses a second, one core: extraction and normal form, each distinct answer normalised once."""

    def read() -> None:
        forms: dict[str, str] = {}
        for text in texts:
            answer = read_answer(text).answer
            if answer is not None and answer not in forms:
                forms[answer] = normal_form(answer)

    (taken,) = seconds(read, repeats=3)
    rate, length = len(texts) / taken, sum(map(len, texts)) / len(texts)
    what = f"extraction and normal form of responses of {length:,.0f} characters"
    return [Row(what, f"{rate:,.0f} a second", "at least 20,000", rate >= 20_000)]


def scaling() -> list[Row]:
    """The worst ratio time(2x) / time(x) of extraction and normal form on repeated marks, from 10 kB to 1 MB."""
    worst = 0.0
    units = [
        "a",
        " ",
        "1",
        "1,",
        "{",
        "\\",
        "answer ",
        "a b",
        "(",
        "\\text{",
        "1 a",
        '"answer": "',
        "**",
        "=",
        "\\boxed{",
    ]
    for unit in units:
        for task in (read_answer, normal_form):
            times = [_time(task, (unit * size)[:size]) for size in SIZES]
            worst = max([worst, *(b / a for a, b in pairwise(times) if b > 5e-3)])
    what = "extraction and normal form of 10 kB to 1 MB: worst time(2x) / time(x)"
    return [Row(what, f"{worst:.2f}" if worst else "all under 5 ms", "at most 2.5", worst <= 2.5)]


SIZES = (10_000, 20_000, 250_000, 500_000, 1_000_000)


def _time(task: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        task(text)
        best = min(best, time.perf_counter() - start)
    return best


def pairs_of(table: pl.DataFrame) -> list[tuple[str, str]]:
    """Pairs of different texts that answer one question, the correct answer among them."""
    found = set()
    for _, rows in table.group_by("question_id"):
        texts = sorted({text for text in rows["answer"].drop_nulls() if len(text) < 120} | {rows["ground_truth"][0]})
        found |= {(a, b) for i, a in enumerate(texts) for b in texts[:i]}
    return sorted(found)


def merges(table: pl.DataFrame, checker: EquivalenceChecker) -> tuple[int, int]:
    """How many pairs of different texts of a question the normal form merges, and how many are merged in all."""
    by_form = in_all = 0
    for _, rows in table.group_by("question_id"):
        texts = sorted({text for text in rows["answer"].drop_nulls() if len(text) < 120} | {rows["ground_truth"][0]})
        for count, classes in enumerate((group(texts).classes, group(texts, checker).classes)):
            same = sum(classes[i] == classes[j] for i in range(len(texts)) for j in range(i))
            by_form, in_all = (by_form + same, in_all) if count == 0 else (by_form, in_all + same)
    return by_form, in_all


def agreement(table: pl.DataFrame) -> tuple[list[Row], list[str]]:
    """Ask math-verify about all merged pairs and a sample of the others."""
    pairs = pairs_of(table)
    form = {text: normal_form(text) for pair in pairs for text in pair}
    merged = [pair for pair in pairs if form[pair[0]] == form[pair[1]]]
    others = [pair for pair in pairs if form[pair[0]] != form[pair[1]]]
    sampled = random.Random(0).sample(others, min(SAMPLED, len(others)))
    share = len(others) / len(sampled)  # each sampled pair stands for so many
    with EquivalenceChecker() as checker:
        asked = [(plain(a), plain(b)) for a, b in merged + sampled]
        forms = [text for pair in asked for text in pair]
        known = dict(zip(forms, checker.values(forms), strict=True))
        decided = [i for i, (a, b) in enumerate(asked) if not {known[a], known[b]} & {None, UNKNOWN}]
        theirs = dict(zip(decided, checker.decide([asked[i] for i in decided]), strict=True))
        by_form, in_all = merges(table, checker)
    wrong = [i for i in decided if theirs[i] is not None and theirs[i] != (i < len(merged))]
    weight = sum(1 if i < len(merged) else share for i in decided)
    lost = sum(1 if i < len(merged) else share for i in wrong)
    rows = [
        Row(
            f"agreement with math-verify over {len(pairs):,} real pairs, where both decide",
            f"{100 * (1 - lost / weight):.2f} %",
            "at least 99.5 %",
            lost / weight <= 0.005,
        ),
        Row(
            "merged pairs decided by the normal form alone",
            f"{100 * by_form / in_all:.1f} % of {in_all}",
            "at least 95 %",
            by_form >= 0.95 * in_all,
        ),
    ]
    every = merged + sampled
    return rows, [f"| `{_cell(every[i][0])}` | `{_cell(every[i][1])}` | {_who(i < len(merged))} |" for i in wrong]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def _who(ours: bool) -> str:
    return "the same" if ours else "different"


def grouping_speed(table: pl.DataFrame) -> list[Row]:
    """Grouping 32 answers of one question, against math-verify on the deduplicated strings."""
    from math_verify import LatexExtractionConfig, parse, verify

    questions = [rows["answer"].drop_nulls().head(32).to_list() for _, rows in table.group_by("question_id")]
    varied = [texts for texts in questions if 6 <= len(set(texts)) <= 14 and max(map(len, texts)) < 40]
    several = sorted(varied, key=str)[:10]

    def theirs() -> None:
        for texts in several:
            parsed = [parse(f"${text}$", [LatexExtractionConfig()]) for text in sorted(set(texts))]
            for i, a in enumerate(parsed):
                for b in parsed[:i]:
                    verify(a, b)

    with EquivalenceChecker() as checker:
        ours, other = seconds(lambda: [group(texts, checker) for texts in several], theirs, repeats=2)
    return [at_least("grouping 32 answers of a question against math-verify", other / ours, 20, f"{100 * ours:.1f} ms")]


def main() -> int:
    source = pl.read_parquet(sys.argv[1])
    texts = source["response_text"].drop_nulls().to_list()
    table = source.with_columns(answer=pl.Series([read_answer(text).answer for text in texts], dtype=pl.String))
    disagreements: list[str] = []

    def agreed() -> list[Row]:
        found, listed = agreement(table)
        disagreements.extend(listed)
        return found

    rows = []
    parts: list[Callable[[], list[Row]]] = [
        lambda: whole_reading.rows(source),
        lambda: speed(texts),
        scaling,
        lambda: grouping_speed(table),
        agreed,
    ]
    for measure in parts:
        for row in measure():
            print(f"{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}", flush=True)
            rows.append(row)
    lines = [f"| {row.what} | {row.figure} | {row.goal} | {'yes' if row.met else '**no**'} |" for row in rows]
    head = f"\nMade by `python -m benchmarks.answers FILE` on {len(texts):,} responses to MATH level 5 questions.\n\n"
    part = MARK + head + "| what | measured | goal | met |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
    part += (
        "\nEvery disagreement with math-verify among the pairs that were asked. Read by hand, Steelyard is correct\n"
    )
    part += "in each: the unit is the question's, the root sign is a root, the words are the same words.\n\n"
    part += "| | | Steelyard says |\n|---|---|---|\n"
    part += "\n".join(disagreements) + "\n"
    PAGE.write_text(with_section(PAGE.read_text(), "Answers", part.removeprefix(MARK)))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
