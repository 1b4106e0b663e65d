"""One question, many samples, one verdict: against a server with a ledger, in a process where signals matter."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import signal
import subprocess
from math import exp
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.sampling.ask.sample_stream import Draw
from steelyard.sampling.ask.sample_votes import Entered, count, outcome_of, probability_of
from steelyard.sampling.llm.completion_json import Choice
from steelyard.tables.prompts import read_template
from tests.building import labelled
from tests.fault_upstream.asked import text_of
from tests.running import steelyard
from tests.upstreams import CANARY, FaultUpstream, command
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("short_pauses")

QUESTION = "How many apples are in the basket?"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan as `fit RUN --score self_logprob` makes it."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    table = sy.simulate(60, 8, seed=1).rename({"score": "self_logprob"})
    pool = sy.read(table, score="self_logprob")
    sy.LogitVote().fit(pool).save(path)
    return path


def expected(n: int, seed: int = 0) -> pl.DataFrame:
    """The table that the good server's samples make."""
    prompt = read_template("math").fill(QUESTION)
    texts = [text_of(prompt, seed + i) for i in range(n)]
    means = [sum(-0.1 * (1 + len(word) % 3) for word in text.split()) / len(text.split()) for text in texts]
    return pl.DataFrame({"question": ["q"] * n, "response": texts, "self_logprob": [exp(mean) for mean in means]})


def test_ask_votes_as_vote_would_on_the_same_samples(upstream: FaultUpstream) -> None:
    done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "one", "-n", 12, "--seed", 5, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    table = expected(12, seed=5)
    pool = sy.read(table, score="self_logprob")
    verdict = sy.VanillaVote().predict(pool)
    assert found["answer"] == verdict.answer[0]
    assert found["share"] == pytest.approx(verdict.share[0])
    assert found["confidence"] is None  # vanilla learns no probability
    assert [each["response"] for each in found["samples"]] == table["response"].to_list()
    assert [each["score"] for each in found["samples"]] == pytest.approx(table["self_logprob"].to_list())
    assert sum(each["votes"] for each in found["answers"]) == 12
    assert sum(each["weight"] for each in found["answers"]) == pytest.approx(table["self_logprob"].sum())
    assert (found["method"], found["score"], found["plan"]) == ("vanilla", "self_logprob", None)


def test_every_sample_is_asked_for_once_with_a_seed_of_its_own(upstream: FaultUpstream) -> None:
    steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "seeds", "-n", 9, "--seed", 3)
    prompt = read_template("math").fill(QUESTION)
    assert upstream.samples("seeds") == {(prompt, seed): 1 for seed in range(3, 12)}


def test_people_see_samples_answers_verdict_and_how_it_was_reached(upstream: FaultUpstream) -> None:
    done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "two", "-n", 4)
    assert done.code == 0, done.err
    assert [line.split()[:2] for line in done.err.splitlines()] == [[str(i), "of"] for i in range(1, 5)]
    verdict = sy.VanillaVote().predict(sy.read(expected(4), score="self_logprob"))
    votes, share = verdict.votes[0], 100 * verdict.share[0]
    assert f"Verdict: {verdict.answer[0]}   ({votes} of 4 votes, vote share {share:.1f} %, margin" in done.out
    assert "confidence" not in done.out
    assert "No plan: each response is weighted by its score self_logprob" in done.out


def test_without_log_probabilities_the_majority_decides_and_says_so(upstream: FaultUpstream) -> None:
    words = ("ask", QUESTION, "--upstream", upstream.url, "--model", "fault:no-logprobs", "-n", 12)
    done = steelyard(*words)
    verdict = sy.MajorityVote().predict(sy.read(expected(12).drop("self_logprob"), score="none"))
    assert f"Verdict: {verdict.answer[0]} " in done.out
    assert "No plan and no scores: each response counts once (majority vote)." in done.out
    assert json.loads(steelyard(*words, "--json").out)["method"] == "majority"


def test_answers_that_tie_in_the_vote_show_the_same_weight() -> None:
    scores = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]  # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in binary
    table = pl.DataFrame({"question": ["q"] * 6, "answer": ["4"] * 3 + ["9"] * 3, "score": scores})
    entered = [Entered(sample, "", score) for sample, score in enumerate(scores)]
    outcome = outcome_of(sy.read(table), sy.VanillaVote(), entered)
    assert outcome.margin == 0.0
    assert outcome.answers[0].weight == outcome.answers[1].weight
    assert [answer.votes for answer in outcome.answers] == [3, 3]


def test_a_plan_weighs_the_samples_by_what_it_learned(upstream: FaultUpstream, plan: Path) -> None:
    done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "m", "-n", 8, "--plan", plan, "--json")
    found = json.loads(done.out)
    vote = sy.load(plan)
    pool = sy.read(expected(8), score="self_logprob")
    assert [each["weight"] for each in found["samples"]] == vote.weigh(pool).tolist()
    assert found["answer"] == vote.predict(pool).answer[0]
    assert (found["method"], found["plan"]) == ("logit", str(plan))
    assert "fitted at" not in done.err
    other = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", "m", "-n", 4, "--plan", plan)
    assert "fitted at 8 samples per question, but this vote uses 4" in other.err


def test_a_plan_with_probabilities_shows_bars_that_add_up_and_what_each_sample_is_worth(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    table = sy.simulate(60, 8, seed=1).rename({"score": "self_logprob"})
    sy.CalibratedVote().fit(labelled(table, score="self_logprob")).save(tmp_path / "calibrated.json")
    words = (
        "ask",
        QUESTION,
        "--upstream",
        upstream.url,
        "--model",
        "m",
        "-n",
        8,
        "--plan",
        tmp_path / "calibrated.json",
    )
    found = json.loads(steelyard(*words, "--json").out)
    likely = [each["probability"] for each in found["answers"]]
    assert sum(likely) + found["none_correct"] == pytest.approx(1)
    assert likely == sorted(likely, reverse=True)
    assert likely[0] == pytest.approx(found["confidence"])
    assert all(each["loss"] is not None for each in found["samples"] if each["answer"] is not None)
    shown = steelyard(*words).out
    _, _, answers = shown.partition("Answers by probability (calibrated)")
    shares = [float(share) for share in re.findall(r" ([\d.]+) %$", answers.partition("Verdict")[0], re.MULTILINE)]
    assert sum(shares) == pytest.approx(100)
    assert len(shares) == len(likely) + 1
    assert "none of these" in answers
    assert "loss without it" in shown
    assert f"confidence {shares[0]} %)" in shown


def test_a_plans_stopping_rule_ends_the_asking_in_sample_order(
    upstream: FaultUpstream, plan: Path, tmp_path: Path
) -> None:
    voter = sy.load(plan)
    voter.stopping_ = sy.evaluation.rule_class("fixed")(cap=3)
    voter.save(tmp_path / "stop.json")
    words = ("--upstream", upstream.url, "--model", "m", "-n", 8, "--plan", tmp_path / "stop.json", "--json")
    done = steelyard("ask", QUESTION, *words)
    found = json.loads(done.out)
    assert "stopped after 3 of 8 samples" in done.err
    assert [each["sample"] for each in found["samples"]] == [0, 1, 2]
    pool = sy.read(expected(3), score="self_logprob")
    assert found["answer"] == sy.load(plan).predict(pool).answer[0]


def test_a_plan_fitted_on_the_verifier_that_copies_the_score_is_the_same(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    table = sy.simulate(60, 8, seed=1).with_columns(pl.concat_list("score").alias("logprob"))
    sy.LogitVote().fit(labelled(table, score="logprob")).save(tmp_path / "copy.json")
    words = ("--upstream", upstream.url, "--model", "m", "--plan", tmp_path / "copy.json", "--json")
    found = json.loads(steelyard("ask", QUESTION, *words).out)
    assert found["score"] == "logprob:last"
    assert (
        found["answer"]
        == sy.load(tmp_path / "copy.json")
        .predict(
            sy.read(
                expected(8).rename({"self_logprob": "logprob"}).with_columns(pl.concat_list("logprob")), score="logprob"
            )
        )
        .answer[0]
    )


def test_a_plan_for_a_score_that_cannot_be_had_is_refused_before_anything_is_asked(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    sy.LogitVote().fit(labelled(sy.simulate(60, 8, seed=1), score="score")).save(tmp_path / "prm.json")
    words = ("--upstream", upstream.url, "--model", "untouched", "--plan", tmp_path / "prm.json")
    done = steelyard("ask", QUESTION, *words)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "weighs by the score 'score', which is not available while asking" in done.err
    assert not upstream.asked("untouched", probes=True)


def test_a_plan_and_a_server_without_log_probabilities_is_one_line(upstream: FaultUpstream, plan: Path) -> None:
    words = ("--upstream", upstream.url, "--model", "fault:no-logprobs", "--plan", plan)
    done = steelyard("ask", "What is 2 + 2?", *words)
    assert done.code == 2
    assert "returns no log-probabilities, which the plan's score 'self_logprob' needs" in done.err
    assert not any("2 + 2" in entry["prompt"] for entry in upstream.asked("fault:no-logprobs"))


def test_a_failed_sample_stays_on_the_ballot_without_a_vote() -> None:
    draws = [
        Draw(0, Choice("so 4", "stop", 2, -0.1)),
        Draw(2, None, "HTTP 500"),
        Draw(1, Choice("so 5", "stop", 2, -0.2)),
    ]
    ballot = count(draws, sy.MajorityVote())
    assert [vote.answer for vote in ballot.votes] == ["4", "5", None]
    assert [(each.answer, each.votes) for each in ballot.answers] == [("4", 1), ("5", 1)]
    assert ballot.answer == "4"  # the tie goes to the higher score


def test_the_verdict_does_not_depend_on_who_came_first() -> None:
    words = ["1/2", "0.5", "3", "x + 1", "1 + x", "none"]
    draws = [Draw(i, Choice(f"The answer is {words[i % 6]}", "stop", 5, -0.05 * (i % 7))) for i in range(13)]
    ballot = count(draws, sy.VanillaVote())
    shuffled = random.Random(0).sample(draws, len(draws))
    assert count(shuffled, sy.VanillaVote()) == ballot
    assert {each.answer: each.votes for each in ballot.answers}["1/2"] == 5
    assert [vote.score for vote in ballot.votes] == [probability_of(draw.choice) for draw in draws]


@pytest.mark.parametrize("fault", ["reset", "500", "400", "choices-empty"])
def test_a_question_no_sample_comes_for_is_one_line_with_the_reason(upstream: FaultUpstream, fault: str) -> None:
    model = f"fault:{fault}?basket"
    done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", model, "-n", 2)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("error: ")
    assert "gave no sample" in done.err
    assert len(upstream.asked(model)) == (2 if fault == "400" else 6)


def test_a_fault_that_passes_costs_another_try_and_no_sample(upstream: FaultUpstream) -> None:
    words = ("--upstream", upstream.url, "--model", "fault:500!?basket", "-n", 3, "--json")
    found = json.loads(steelyard("ask", QUESTION, *words).out)
    assert [each["response"] for each in found["samples"]] == expected(3)["response"].to_list()
    assert all(each["failure"] is None for each in found["samples"])


@pytest.mark.parametrize("fault", ["content-empty", "surrogate", "length", "content-parts"])
def test_odd_texts_are_shown_and_voted_on(upstream: FaultUpstream, fault: str) -> None:
    words = ("--upstream", upstream.url, "--model", f"fault:{fault}", "-n", 2)
    done, told = steelyard("ask", QUESTION, *words), steelyard("ask", QUESTION, *words, "--json")
    assert (done.code, told.code) == (0, 0), done.err
    answer = json.loads(told.out)["answer"]
    assert answer == {"content-empty": None, "length": expected(1)["response"][0][-2]}.get(fault, "3")
    assert ("Verdict: none" in done.out) == (answer is None)
    assert ("(cut off)" in done.out) == (fault == "length")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((" ", "--upstream", "http://127.0.0.1:1", "--model", "m"), "the question is empty"),
        (("q", "--upstream", "http://127.0.0.1:1"), "--model"),
        (("q", "--upstream", "http://127.0.0.1:1", "--model", "m"), "no connection to http://127.0.0.1:1/v1"),
        (("q", "--upstream", "127.0.0.1:1", "--model", "m"), "must begin with http://"),
        (("q", "--upstream", "http://127.0.0.1:1", "--model", "m", "-n", "0"), "-n must be between 1 and"),
        (("q", "--upstream", "http://127.0.0.1:1", "--model", "m", "--prompt", "maths"), "did you mean 'math'"),
        (("q", "--upstream", "http://127.0.0.1:1", "--model", "m", "--plan", "no.json"), "no such plan: no.json"),
        (("q", "--upstream", "local", "--model", "m"), "omit --model"),
        (("q",), "--upstream"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], says: str) -> None:
    done = steelyard("ask", *words)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1, done.err
    assert says in done.err


@pytest.mark.usefixtures("key")
def test_no_key_is_ever_shown(upstream: FaultUpstream) -> None:
    for model in ("m", "fault:401", "fault:400", "fault:500?basket"):
        done = steelyard("ask", QUESTION, "--upstream", upstream.url, "--model", model, "-n", 1)
        assert CANARY not in done.out + done.err
    assert all(entry["keyed"] for entry in upstream.asked("fault:401", probes=True))


def test_ctrl_c_ends_it_at_once_without_a_traceback(upstream: FaultUpstream) -> None:
    model = "fault:silent?basket"
    words, environment = command("ask", QUESTION, "--upstream", upstream.url, "--model", model, "-n", 2)
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: len(upstream.asked(model)) == 2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert err.strip() == "stopped"


def test_on_a_terminal_the_samples_fill_a_table(upstream: FaultUpstream) -> None:
    words, environment = command("ask", QUESTION, "--upstream", upstream.url, "--model", "tty", "-n", 3)
    parent, child = pty.openpty()
    environment |= {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(words, env=environment, stdout=child, stderr=child) as process:
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:  # the terminal was closed
            os.close(parent)
    text = shown.decode()
    assert process.returncode == 0, text
    assert "the response ends" in text
    assert "3 of 3" in text
    assert "Verdict:" in text
    assert "Traceback" not in text


def test_a_plan_of_another_model_is_used_with_a_warning(upstream: FaultUpstream, tmp_path: Path) -> None:
    table = sy.simulate(60, 8, seed=1).rename({"score": "self_logprob"}).with_columns(llm=pl.lit("another"))
    sy.LogitVote().fit(labelled(table, score="self_logprob")).save(tmp_path / "plan.json")
    words = ("--upstream", upstream.url, "--model", "m", "--plan", tmp_path / "plan.json")
    assert "fitted on responses of another, but these are from m" in steelyard("ask", QUESTION, *words).err
