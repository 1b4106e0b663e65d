"""Reading answers out of responses, and telling which are the same."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.answers.equivalence import UNKNOWN, EquivalenceChecker
from steelyard.answers.extract import KINDS, extract
from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form, number_of, was_read
from steelyard.answers.polynomials import TooHard
from steelyard.answers.reader import AnswerReader
from tests.answers.answer_examples import DIFFERENT, EXTRACTED, JUDGED, SAME
from tests.answers.hostile_answers import CANARY, HOSTILE
from tests.building import labelled
from tests.running import steelyard

MARKS = list("{}()[]12x+-*/^=,%.i!_$½² ")
WORDS = ["\\frac", "\\sqrt", "\\pm", "\\text", "degrees", "and", "0.5", "\\pi", "\\boxed", "east", "\\infty", "\\cup"]
PIECES = [*MARKS, *WORDS]
answers = st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20))


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail, rather than hang, when something takes much too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("what", "response", "kind", "answer", "rule"), EXTRACTED, ids=[e[0] for e in EXTRACTED])
def test_answers_are_extracted(what: str, response: str, kind: str, answer: str | None, rule: str) -> None:
    assert extract(response, kind) == (answer, rule), what
    assert sy.extract_answer(response, kind) == answer


@pytest.mark.parametrize("spellings", SAME, ids=[s[0] for s in SAME])
def test_spellings_of_one_answer_have_one_normal_form(spellings: list[str]) -> None:
    assert {normal_form(text) for text in spellings} == {normal_form(spellings[0])}
    assert set(sy.group_answers(spellings)) == {0}


def test_different_answers_stay_apart() -> None:
    for a, b in (*DIFFERENT, *itertools.combinations([spellings[0] for spellings in SAME], 2)):
        assert normal_form(a) != normal_form(b), (a, b)


def test_the_judge_knows_what_the_normal_form_does_not() -> None:
    with EquivalenceChecker() as checker:
        for a, b in JUDGED:
            assert normal_form(a) != normal_form(b)
            assert group([a, b], checker).classes == group([b, a], checker).classes == [0, 0]
            assert group([a, b, "17"], checker).classes == [0, 0, 1]


@given(answers)
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    form = normal_form(text)
    assert normal_form(form) == form


@given(st.lists(answers, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_classes_do_not_depend_on_the_order(texts: list[str], rng: random.Random) -> None:
    order = list(range(len(texts)))
    rng.shuffle(order)
    one, two = group(texts).classes, group([texts[i] for i in order]).classes
    for (a, i), (b, j) in itertools.combinations(enumerate(order), 2):
        assert (one[i] == one[j]) == (two[a] == two[b])


@given(answers, answers, answers)
def test_same_is_symmetric_and_transitive(a: str, b: str, c: str) -> None:
    forms = [normal_form(text) for text in (a, b, c)]
    ab, bc, ac = (len(set(group(list(pair)).classes)) == 1 for pair in ((a, b), (b, c), (a, c)))
    assert ab == (len(set(group([b, a]).classes)) == 1) == (forms[0] == forms[1])
    assert not (ab and bc) or ac


@given(st.fractions(max_denominator=500), st.sampled_from(["\\frac{%d}{%d}", "%d/%d", "\\dfrac{%d}{%d}", "(%d)/(%d)"]))
def test_every_fraction_is_read_exactly(value: object, spelling: str) -> None:
    from fractions import Fraction

    assert isinstance(value, Fraction)
    assert normal_form(spelling % (value.numerator, value.denominator)) == str(value)
    assert number_of(str(value)) == pytest.approx(float(value))


def test_more_than_a_hundred_hostile_answers_are_read_in_bounded_time_and_nothing_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(HOSTILE) >= 100
    for text in HOSTILE:
        with within(600):
            form = normal_form(text)
            assert normal_form(form) == form, text[:80]
            was_read(form)
            for kind in KINDS:
                extract(text, kind)
    assert not list(tmp_path.rglob(f"*{CANARY}*"))


@pytest.mark.long
def test_the_judge_survives_hostile_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("steelyard.answers.equivalence.DEADLINE", 2.5)  # many of them run away
    texts = [text for text in HOSTILE if len(text) <= 200]
    with EquivalenceChecker() as checker, within(3600):
        said = checker.decide([(text, "5") for text in texts])
        assert {text for text, same in zip(texts, said, strict=True) if same} <= {"+5", "--5", "- -5"}
        some = texts[::4]  # every pair of them
        groups = group([*some, "5"], checker)
    assert len(groups.classes) == len(some) + 1
    assert not list(tmp_path.rglob(f"*{CANARY}*"))


def test_a_judge_that_runs_away_is_killed_and_replaced_and_the_pair_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with EquivalenceChecker(workers=1) as checker:
        assert checker.decide([("x", "x")]) == [True]
        worker = checker._idle[0]
        assert worker.process is not None
        first = worker.process.pid
        os.kill(first, signal.SIGSTOP)  # it answers no more
        with monkeypatch.context() as patch:
            patch.setattr("steelyard.answers.equivalence.DEADLINE", 0.3)
            assert checker.decide([("x", "y")]) == [None]
        assert checker.values(["\\sqrt{4}"]) == [2.0]
        assert worker.process.pid != first
        os.kill(worker.process.pid, signal.SIGKILL)
        assert checker.values(["\\sqrt{16}"]) == [UNKNOWN]
        assert checker.values(["\\sqrt{9}"]) == [3.0]


def test_no_alarm_takes_answers_for_different_because_a_worker_was_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.answers import equivalence_worker

    alarms: list[int] = []
    monkeypatch.setattr("signal.alarm", alarms.append)
    assert equivalence_worker.same("\\cos{x}+0", "\\cos(x)")
    assert equivalence_worker.value("\\sqrt{4}") == 2.0
    assert alarms == []


def test_workers_are_limited_in_memory_and_cpu_and_end_with_the_judge() -> None:
    with EquivalenceChecker(workers=1) as checker:
        checker.values(["x"])
        process = checker._idle[0].process
        assert process is not None
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        assert "1073741824" in next(line for line in limits.splitlines() if line.startswith("Max address space"))
        assert "unlimited" not in next(line for line in limits.splitlines() if line.startswith("Max cpu time"))[:45]
    assert process.poll() is not None


def test_a_worker_is_heard_in_a_process_with_more_than_1024_open_files() -> None:
    program = (
        "import os, resource\n"
        "from steelyard.answers.equivalence import EquivalenceChecker\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "held = [os.dup(0) for _ in range(1100)]\n"
        "with EquivalenceChecker(workers=1) as checker:\n"
        "    print(checker.values(['\\\\sqrt{9}']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[3.0]\n", done.stderr


def test_what_nobody_could_decide_in_time_stays_apart_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.answers.equivalence.DEADLINE", 0.0)
    table = pl.DataFrame(
        {"question": ["a", "a"], "answer": ["\\cot x", "\\frac{\\cos x}{\\sin x}"], "score": [0.5, 0.5]}
    )
    reader = AnswerReader()
    from steelyard.answers.annotated import read_answers

    found = read_answers(table, reader)
    reader.close()
    assert found.table["same_as"].n_unique() == 2
    assert found.table["undecided"].to_list() == [True, True]


def test_equivalent_answers_vote_together_and_the_first_spelling_is_shown() -> None:
    table = pl.DataFrame({"question": ["a"] * 4, "answer": ["9", "1/2", "0.5", "\\frac{1}{2}"], "score": [0.9] * 4})
    assert sy.MajorityVote().predict(sy.read(table)).to_polars().row(0)[:2] == ("a", "1/2")
    assert sy.MajorityVote().predict(sy.read(table, answers="exact")).votes.tolist() == [1]


def test_gold_is_compared_by_the_same_equality() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 3, "answer": ["12.0", "13", None], "gold": ["12"] * 3, "score": [0.5] * 3}
    )
    assert labelled(table).correct.tolist() == [True, False, False]
    judged = pl.DataFrame(
        {"question": ["a"], "answer": ["\\cot x"], "gold": ["\\frac{\\cos x}{\\sin x}"], "score": [0.5]}
    )
    assert labelled(judged).correct.tolist() == [True]


@pytest.mark.parametrize(("more", "correct"), [(True, True), (False, False)])
def test_labels_that_differ_between_spellings_are_settled_by_most_responses_with_a_warning(
    more: bool, correct: bool
) -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 3, "answer": ["47", "47 feet", "47"], "correct": [True, False, more], "score": [0.5] * 3}
    )
    with pytest.warns(sy.SteelyardWarning, match="1 answer is labelled correct and incorrect"):
        pool = labelled(table)
    assert pool.correct.tolist() == [correct] * 3


def test_a_file_with_responses_and_gold_only_goes_to_verdicts(tmp_path: Path) -> None:
    gold = pl.col("answer").filter(pl.col("correct")).first().over("question").fill_null("0")
    rows = sy.simulate(60, 4, seed=3).with_columns(gold=gold)
    rows = rows.with_columns(response="so \\boxed{" + pl.col("answer").fill_null("?") + "}")
    rows = rows.drop("answer", "correct", "sample")
    sy.write(rows, tmp_path / "t.parquet")
    fitted = steelyard("fit", tmp_path / "t.parquet", "-o", tmp_path / "plan.json")
    voted = steelyard("vote", tmp_path / "t.parquet", "--plan", tmp_path / "plan.json", "-o", tmp_path / "v.parquet")
    evaluated = steelyard("evaluate", tmp_path / "t.parquet", "--method", "logit", "--resamples", 0)
    assert (fitted.code, voted.code, evaluated.code) == (0, 0, 0), fitted.err + voted.err + evaluated.err
    assert pl.read_parquet(tmp_path / "v.parquet").height == 60


def test_one_command_goes_from_responses_and_gold_to_verdicts(tmp_path: Path) -> None:
    responses = ["so \\boxed{1/2}", "The answer is 0.5", "\\boxed{3}", "no idea"]
    sy.write(pl.DataFrame({"question": ["a"] * 4, "response": responses, "gold": ["1/2"] * 4}), tmp_path / "t.jsonl")
    done = steelyard("vote", tmp_path / "t.jsonl", "-o", tmp_path / "v.jsonl")
    assert done.code == 0, done.err
    assert pl.read_ndjson(tmp_path / "v.jsonl").row(0)[:2] == ("a", "1/2")
    refused = steelyard("vote", tmp_path / "t.jsonl", "--method", "logit")
    assert (refused.code, "cannot vote without a plan" in refused.err) == (2, True)


def test_the_verb_answers_shows_rules_merges_and_the_unreadable(tmp_path: Path) -> None:
    responses = ["\\boxed{1/2}", "The answer is 0.5", "no idea", "#### 7"]
    table = pl.DataFrame({"question": ["a"] * 4, "response": responses, "extra": [1, 2, 3, 4]})
    sy.write(table, tmp_path / "t.jsonl")
    done = steelyard("answers", tmp_path / "t.jsonl", "-o", tmp_path / "read.parquet")
    assert done.code == 0, done.err
    for word in ("boxed", "said", "hashes", "1/2  =  0.5", "1 responses have no readable answer"):
        assert word in done.out
    read = pl.read_parquet(tmp_path / "read.parquet")
    assert read.columns == ["question", "response", "extra", "answer", "rule", "same_as", "undecided"]
    assert read["answer"].to_list() == ["1/2", "0.5", None, "7"]
    assert read["same_as"].to_list() == ["1/2", "1/2", None, "7"]
    assert '"unreadable": 1' in steelyard("answers", tmp_path / "t.jsonl", "--json").out


@pytest.mark.parametrize(
    ("kind", "message"),
    [("maths", "did you mean 'math'"), ("re:", "or re:PATTERN"), ("re:(", "cannot use the pattern")],
)
def test_an_unknown_kind_of_answer_is_one_line(kind: str, message: str, tmp_path: Path) -> None:
    sy.write(sy.simulate(20, 2), tmp_path / "t.parquet")
    for words in (("answers", tmp_path / "t.parquet"), ("fit", tmp_path / "t.parquet")):
        done = steelyard(*words, "--answers", kind)
        assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1), done.err


def test_kinds_compare_by_their_own_rules() -> None:
    table = pl.DataFrame({"question": ["a"] * 3, "answer": ["(c)", "C", "New  York"], "score": [0.5] * 3})
    assert sy.read(table, answers="choice").answer.tolist() == [0, 0, 1]
    words = pl.DataFrame({"question": ["a"] * 3, "answer": ["New York", "new  york", "1/2"], "score": [0.5] * 3})
    assert sy.read(words, answers="text").answer.tolist() == [0, 0, 1]


def test_several_options_are_an_answer_of_their_own_with_any_gold() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 3, "response": ["Answer: A and C", "The answer is C, A.", "Answer: A"], "score": [0.5] * 3}
    )
    pool = sy.read(table.with_columns(gold=pl.lit("A, C")), answers="choice")
    assert isinstance(pool, sy.LabelledPool)
    assert pool.correct.tolist() == [True, True, False]


def test_too_hard_is_no_error_for_users() -> None:
    assert not issubclass(TooHard, sy.SteelyardError)
    assert normal_form("\\int_0^1 x\\,dx") == "\\int_0^1 xdx"


def test_the_fuzzer_finds_nothing_in_forty_texts() -> None:
    from tests.answers.fuzz_answers import fuzz

    assert fuzz(lambda tried: tried < 40, seed=1) == 40


def test_the_worker_is_a_process_of_its_own() -> None:
    import sys

    command = [sys.executable, "-m", "steelyard.answers.equivalence_worker"]
    done = subprocess.run(command, input='["2+2"]\n["1","x"]\n["}{"]\n', capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:4] == ["ready", "4.0", "false", "null"]


@pytest.mark.parametrize(
    "text", ["1/(x+1)", "x^{0.3}", "x^y", "(x+1)^{99}", "0^0", "sqrt(x)", "5_a + 1", "\\sqrt[3]{2}", "1 9/5", "3!!"]
)
def test_what_the_arithmetic_does_not_cover_is_left_as_text(text: str) -> None:
    assert normal_form(text) == normal_form(normal_form(text))
    assert number_of(normal_form(text)) == "symbolic" or was_read(normal_form(text))


def test_the_parts_of_a_list_may_be_anything_that_can_be_read() -> None:
    assert normal_form("(1, (2, 3))") == "(1,(2,3))"
    assert normal_form("1, , 2") != normal_form("1, 2")
    assert normal_form("(0,1) \\cup (2,3)") == normal_form("(2,3) \\cup (0,1)")


def test_a_gold_column_must_be_whole_and_one_a_question(tmp_path: Path) -> None:
    table = sy.simulate(20, 2).drop("correct").with_columns(gold=pl.lit("1"))
    for change, message in (
        (pl.when(pl.row_index() != 5).then("gold"), "1 responses have no gold answer"),
        (pl.row_index().cast(pl.String), "has several gold answers"),
    ):
        with pytest.raises(sy.errors.LabelError, match=message):
            sy.read(table.with_columns(gold=change))


def test_reading_answers_out_of_responses_tells_how_far_it_is() -> None:
    table = pl.DataFrame({"question": [f"q{i // 4}" for i in range(9000)], "response": ["\\boxed{1}"] * 9000})
    told: list[float] = []
    assert sy.read(table, score="none", progress=told.append).n_responses == 9000
    assert len(told) >= 4
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_a_division_by_zero_is_an_answer_of_its_own_and_wakes_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.answers.equivalence.EquivalenceChecker", None)
    assert sy.group_answers(["8/0", "8", "8/0", "7/0"]) == [0, 1, 0, 2]


def test_a_decimal_comma_is_told_by_the_other_answers_of_the_question() -> None:
    assert sy.group_answers(["3,5", "3.5", "3,50"]) == [0, 0, 0]
    assert sy.group_answers(["3,5", "3 and 5", "3.5"]) == [0, 0, 1]
    assert sy.group_answers(["3,5", "(3,5)", "3,500", "3500"]) == [0, 1, 2, 2]
    table = pl.DataFrame({"question": ["a"] * 2 + ["b"] * 2, "answer": ["3,5", "5", "2,25", "9/4"]})
    golds = table.with_columns(gold=pl.Series(["3.5", "3.5", "2,25", "2,25"]))
    pool = sy.read_labelled(golds, score="none")
    assert pool.correct.tolist() == [True, False, True, True]
