"""`ask` on free text: similar responses vote for each other, and the one most like the others is the verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.answers.extract import kind_of
from steelyard.answers.similarities.similarity import find_similarity
from steelyard.sampling.online.similar_texts import SimilarTexts
from tests.fault_upstream.answers import OPINIONS
from tests.free_text import QUESTION, cascade_plan, free_plan, graded
from tests.running import steelyard
from tests.upstreams import FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")
RULE = sy.evaluation.rule_class
TEXTS = st.lists(st.text('ab c1{}:,*"é日本', max_size=30), min_size=1, max_size=12, unique=True)


@given(TEXTS, st.sampled_from(["free", "free:characters", "free:json"]), st.none() | st.text("ab 日", max_size=5))
def test_responses_compared_one_by_one_are_as_similar_as_in_a_table(
    texts: list[str], kind: str, prompt: str | None
) -> None:
    compared = SimilarTexts(kind_of(kind), prompt)
    for k in range(1, len(texts)):
        compared.matrix(texts[:k])
    expected = find_similarity(str(kind_of(kind).similarity)).matrix(texts, prompt)
    assert np.array_equal(compared.matrix(texts[::-1]), expected[::-1, ::-1])


@pytest.mark.parametrize("method", ["majority", "vanilla", "best-of-n", "calibrated"])
def test_a_ballot_votes_to_the_last_bit_as_a_table_does(method: str) -> None:
    voter = sy.method_class(method)().fit(sy.read_labelled(graded(), answers="free", score="self_logprob"))
    rows = graded(8).filter(pl.col("question") == "7").drop("correct")
    for k in range(1, rows.height + 1):
        pool = sy.read(rows[:k], answers="free", score="self_logprob")
        verdicts = voter.predict(pool)
        with sy.Ballot(voter, prompt=QUESTION) as ballot:
            for row in rows[:k].iter_rows(named=True):
                state = ballot.add(row["response"], row["self_logprob"])
        assert state.verdict == pool.names[int(verdicts.code[0])]
        assert (state.share, state.margin) == (verdicts.share[0], verdicts.margin[0])
        assert state.votes == verdicts.votes[0]
        assert state.confidence == (None if verdicts.p_correct is None else verdicts.p_correct[0])


def test_the_response_most_like_the_others_is_printed_in_full(upstream: FaultUpstream) -> None:
    done = steelyard(
        "ask", QUESTION, "--upstream", upstream.url, "--model", "fault:opinions", "-n", 8, "--answers", "free"
    )
    assert done.code == 0, done.err
    assert "Groups of similar responses" in done.out
    assert "Verdict: sample 1   (6 of 8 responses are similar, vote share" in done.out
    assert f"\n\n{OPINIONS[1]}\n\n" in done.out
    assert {entry["prompt"] for entry in upstream.asked("fault:opinions")} == {QUESTION}, "the question alone is sent"


def test_json_has_the_verdict_and_the_groups(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = steelyard(
        "ask", QUESTION, "--upstream", upstream.url, "--model", "fault:opinions", "-n", 8, "--json",
        "--plan", free_plan(tmp_path / "plan.json"),
    )  # fmt: skip
    told = json.loads(done.out)
    assert told["answer"] == OPINIONS[1]
    assert 0 < told["confidence"] < 1
    assert [(one["answer"], one["votes"]) for one in told["answers"]] == [(OPINIONS[1], 6), (OPINIONS[0], 2)]
    assert [one["answer"] == OPINIONS[1] for one in told["samples"]] == [False, True, True, True] * 2


@pytest.mark.parametrize(
    "rule",
    [
        RULE("beta")(cap=8, least=2, threshold=0.7),
        RULE("confidence")(cap=8, least=2, threshold=0.6),
        RULE("esc")(cap=8, least=2),
        RULE("certificate")(cap=8, least=2, threshold=0.3),
    ],
)
def test_a_plan_stops_when_the_first_samples_are_similar(upstream: FaultUpstream, tmp_path: Path, rule: object) -> None:
    plan = free_plan(tmp_path / "plan.json", rule)  # type: ignore[arg-type]
    asked = sy.ask(QUESTION, upstream=upstream.url, model="fault:opinions", n=8, plan=plan, seed=1)
    assert asked.stopped is not None
    assert len(asked.votes) == 2  # they are similar, not equal
    assert (asked.answer, asked.confidence) == (asked.stopped.verdict, asked.stopped.confidence)
    assert asked.answer in OPINIONS[1:]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--answers", "free:column:out"), "samples have no columns"),
        (("--answers", "free:tokns"), "tokens"),
        (("--plan", "PLAN", "--answers", "math"), "fitted on answers of the kind 'free'"),
        (("--plan", "PLAN", "--verifier", "p-true", "--frugal", "exact"), "leave out --frugal"),
        (("--plan", "CASCADE"), "a cascade votes only on equal answers"),
    ],
)
def test_what_cannot_vote_on_free_text_is_refused_before_anything_is_sent(
    upstream: FaultUpstream, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    paths = {"PLAN": "p.json", "CASCADE": "c.json"}
    free_plan(tmp_path / "p.json")
    if "--frugal" in words:
        lists = graded().with_columns(pl.concat_list("self_logprob").alias("p-true")).drop("self_logprob")
        pool = sy.read_labelled(lists, answers="free", score="p-true")
        sy.CalibratedVote().fit(pool).save(tmp_path / "p.json")
    cascade_plan(tmp_path / "c.json")
    url, model = upstream.url, "fault:opinions"
    if "CASCADE" in words:
        url, model = ",".join(f"{name}={url}" for name in "abc"), ",".join(f"{name}=fault:{name}" for name in "abc")
    before = len(upstream.entries())
    done = steelyard(
        "ask", QUESTION, "--upstream", url, "--model", model,
        *(tmp_path / paths[word] if word in paths else word for word in words),
    )  # fmt: skip
    assert done.code == 2
    assert message in done.err
    assert len([line for line in done.err.splitlines() if line.startswith("error: ")]) == 1
    assert len(upstream.entries()) == before


def test_a_process_with_plain_loops_compares_texts_without_numba() -> None:
    code = (
        "import sys\nfrom steelyard.foundation.cores import choose_plain_loops\nchoose_plain_loops()\n"
        "import steelyard as sy\nballot = sy.Ballot(sy.MajorityVote(), answers='free')\n"
        "ballot.add('It is Paris.')\nprint(ballot.add('Paris').votes, 'numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "False"]
