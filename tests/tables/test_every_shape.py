"""Every shape that new users brought, named once: it ends in verdicts, or in one line whose fix ends in verdicts."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from steelyard.tables.sources import unpacking
from tests.running import Done, steelyard
from tests.tables.layouts.golden import GOLDEN
from tests.tables.test_shapes import ANSWER, FIXED, QUESTIONS, READ, SCORE, jsonl, long

DATE = "2026-11-16T04-00-00.000000"


class Shape(NamedTuple):
    """What is voted on (a file with its content, or golden files), with which words, and who wins each question."""

    content: str | bytes = ""
    name: str = "t.jsonl"
    files: tuple[Path, ...] = ()
    words: tuple[str, ...] = ("--method", "vanilla")
    winners: tuple[str | None, ...] = ("4",) * len(QUESTIONS)
    fixed: bool = False  # after a line with the fix


def read(name: str) -> Shape:
    file, content, _ = READ[name]
    return Shape(content, file)


def refused(name: str) -> Shape:
    return Shape(jsonl(FIXED[name][0]), fixed=True)


def golden(*names: str, winners: tuple[str | None, ...], method: str = "majority") -> Shape:
    return Shape(files=tuple(GOLDEN / name for name in names), words=("--method", method), winners=winners)


def spoken(texts: list[str], gold: str, winner: str, kind: str) -> Shape:
    """Responses in free words, the first with the highest score, by a kind of answer."""
    rows = long(response=lambda i: texts[i], **SCORE, gold=lambda _: gold)
    words = ("--method", "vanilla", "--answers", kind)
    return Shape(jsonl(rows), words=words, winners=(winner,) * len(QUESTIONS))


CHOICES = ["I think the correct option is B.", "B) Rome", "Answer: (C)", "It could be A, but option D is correct."]
CODE = ["The output is `{'a': [1, 2]}`.", 'Answer: {"a": [1,2]}', "So it returns {'a': 1}.", "It prints `None`"]
WORDS = ["The answer is the Eiffel Tower.", "Answer: Eiffel tower", "The answer is Big Ben.", "Answer: the Louvre"]
PLAIN = jsonl(long(**ANSWER, **SCORE))

SHAPES: dict[str, Shape] = {
    "pandas with other names": read("other names"),
    "nested lists per question": read("nested lists"),
    "the same with answer as gold": read("nested lists with the gold as answer"),
    "lm-eval samples": golden(f"lm_eval/samples_sums_{DATE}.jsonl", winners=("5", "42", "5", "4")),
    "Inspect log": golden("inspect_log/sums.eval", winners=("5", "42", "5")),
    "OpenAI/vLLM batch": golden("batch/vllm_input.jsonl", "batch/vllm_output.jsonl", winners=("5", "42", "5")),
    "saved chat completions": golden("chat_completions/list.json", winners=("5", "42", "5")),
    "CSV with ;": Shape("question;answer;score\n" + "".join(f"{q};4;0.75\n{q};5;0.5\n" for q in QUESTIONS), "t.csv"),
    "decimal commas": read("semicolons and decimal commas"),
    "scores 0..100": refused("scores to 100"),
    "scores 1..9": refused("scores from 1 to 9"),
    "integer 0/1 judge": read("a judge that says 0 or 1"),
    "logits": refused("logits"),
    "steps as JSON strings": read("steps as JSON strings"),
    "multiple choice in free words": spoken(CHOICES, "B", "B", "choice"),
    "code literals": spoken(CODE, "{'a': [1, 2]}", "{'a': [1, 2]}", "code"),
    "free-text answers": spoken(WORDS, "Eiffel Tower", "the Eiffel Tower", "text"),
    "two LLMs in one file": read("two LLMs"),
    "prompt/completion/reward": read("prompt, completion, reward"),
    "wide columns": read("numbered columns"),
    "struct of scores": read("a struct of scores"),
    "BOM and CRLF": read("byte order mark and CRLF"),
    ".json": read("json"),
    ".jsonl.gz": Shape(gzip.compress(PLAIN.encode()), "t.jsonl.gz"),
    "stdin": Shape(PLAIN, "-"),
    "search-and-learn": Shape(
        jsonl(
            [
                {
                    "unique_id": f"test/{q}.json", "problem": f"What is {q}?", "answer": "4", "solution": "It is 4.",
                    "completions": [f"So it is $\\boxed{{{given}}}$." for given in "4457"],
                    "scores": [[0.9, 0.75], [0.5], [0.25, 0.25], [0.1]], "agg_scores": [0.75, 0.5, 0.25, 0.1],
                    "completion_tokens": [7, 7, 7, 7], "pred": "7", "pred_maj@4": "7", "pred_weighted@4": "7",
                }
                for q in QUESTIONS
            ]
        ),
        fixed=True,
    ),
    "Weaver": Shape(
        jsonl(
            [
                {
                    "instruction": f"What is {q}?", "reference_answer": "4",
                    "samples": [f"The answer is {given}." for given in "4457"], "extracted_answers": list("4457"),
                    "answer_correct": [True, True, False, False], "GRM_scores": [3.5, 2.0, -1.0, -2.5],
                    "judge_verdicts": [1.0, 1.0, 0.0, 0.0], "QwenPRM_min_scores": [0.75, 0.5, 0.25, 0.1],
                    "QwenPRM_step_scores": [[0.9, 0.75], [0.5], [0.25], [0.1]],
                }
                for q in QUESTIONS
            ]
        ),
        fixed=True,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_stdin() -> Iterator[None]:
    yield
    unpacking._spooled_stdin.cache_clear()


@pytest.fixture
def voted(tmp_path: Path) -> Callable[..., Done]:
    def vote(shape: Shape, *words: str) -> Done:
        raw = shape.content if isinstance(shape.content, bytes) else shape.content.encode()
        files: tuple[Any, ...] = shape.files or (tmp_path / shape.name if shape.name != "-" else "-",)
        if not shape.files and shape.name != "-":
            files[0].write_bytes(raw)
        with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw))):
            return steelyard("vote", *files, *shape.words, *words, "--json")

    return vote


def winners(done: Done) -> list[str | None]:
    assert done.code == 0, done.err
    return [verdict["answer"] for verdict in json.loads(done.out)["verdicts"]]


def fixes(err: str) -> list[list[str]]:
    """The options that an error names, or the columns to choose from."""
    found = [shlex.split(fix) for fix in re.findall(r"--(?:score|rename|layout) (?:'[^']*'|[\w=-]+)", err)]
    return found or [["--score", name] for name in err.rpartition(":")[2].strip().split(", ")]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_ends_in_verdicts_or_in_one_line_whose_fix_does(voted: Callable[..., Done], name: str) -> None:
    shape = SHAPES[name]
    done = voted(shape)
    if not shape.fixed:
        assert winners(done) == list(shape.winners)
        return
    assert (done.code, done.err.count("error:")) == (2, 1)
    for fix in fixes(done.err):
        after = voted(shape, *fix)
        if after.code == 2:  # of several scores, one that has another range: its own line has the fix
            after = voted(shape, *fixes(after.err)[-1])
        assert winners(after) == list(shape.winners), fix


@pytest.mark.parametrize("name", ["multiple choice in free words", "code literals", "free-text answers"])
def test_auto_finds_the_kind_by_the_gold_answers(voted: Callable[..., Done], name: str) -> None:
    shape = SHAPES[name]
    *_, kind = shape.words
    done = voted(shape._replace(words=("--method", "vanilla", "--answers", "auto")))
    assert f"answers are read as {kind}" in done.err
    assert winners(done) == list(shape.winners)


def test_search_and_learn_has_its_golds_and_leaves_out_the_votes_already_taken(voted: Callable[..., Done]) -> None:
    done = voted(SHAPES["search-and-learn"], "--score", "agg_scores")
    assert "'answer' read as 'gold'" in done.err
    assert "not used: 'solution', 'pred', 'pred_maj@4', 'pred_weighted@4'" in done.err


def test_weaver_has_its_labels_and_a_column_per_verifier(voted: Callable[..., Done]) -> None:
    done = voted(SHAPES["Weaver"])
    assert "'answer_correct' read as 'correct'" in done.err
    columns = done.err.rpartition(":")[2].strip().split(", ")
    assert columns == ["GRM_scores", "judge_verdicts", "QwenPRM_min_scores", "QwenPRM_step_scores"]
