"""steelyard score --verifier same-meaning: similarities by a judge, durable, frugal and billed, and their vote."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.judgements import text_key
from steelyard.sampling.verifiers.protocols import same_meaning
from steelyard.sampling.verifiers.runners.chat_server import PROBE
from tests.running import steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.test_score_judge import comparisons, run_of, scored
from tests.sampling.verifiers.fault_verifier import same
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream, command
from tests.waiting import until

NAME = "same-meaning"
PROBES = {
    same_meaning.render(PROBE.question, texts)[0]["content"] for texts in (PROBE.steps, same_meaning.PROTOCOL.different)
}
SEVEN = ["The box has 7 apples.", "The box has just 7 apples.", "The box surely has 7 apples."]
FOUR = ["We count the fruit: 4", "It holds four, that is 4", "Mine shows 4", "Altogether: 4"]
TEXTS = [*SEVEN, "I'm sorry, I don't know.", *FOUR]


def options(run: Path, server: FaultVerifier, *more: object, model: str = "good") -> list[object]:
    return ["score", run, "--verifier", NAME, "--upstream", f"{server.url}/v1", "--model", model, "--json", *more]


def requests(server: FaultVerifier) -> list[str]:
    """The requests so far, without probes."""
    return [entry["text"] for entry in server.asked() if entry["text"] not in PROBES]


def judged(run: Path, column: str = NAME) -> dict[tuple[str, str], dict[str, float] | None]:
    """The judgements of each text of a question."""
    table = pl.read_parquet(run / "table.parquet")
    assert table.schema[column] == pl.String
    rows = table.select("question", "response", column).iter_rows()
    return {(question, text): None if value is None else json.loads(value) for question, text, value in rows}


def verdicts(run: Path, answers: str) -> list[str]:
    pool = sy.read(run, answers=answers, score="none")
    return [text.split("\n")[-1] for text in sy.MajorityVote().predict(pool).to_polars()["answer"]]


def test_the_vote_by_a_judge_follows_meanings_where_words_mislead(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", {"q0": TEXTS})
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server))
        sent = requests(server)
        assert len(sent) == len(set(sent)) == 2 * result["comparisons"] == len(comparisons(run))
        files = {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"}
        assert scored(*options(run, server))["new"] == 0
        assert len(requests(server)) == len(sent)
        assert steelyard("vote", run, "--answers", f"free:judged:{NAME}", "-o", tmp_path / "v.jsonl").code == 0
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"} == files
    assert (result["new"], result["empty"], result["unreadable"]) == (7, 1, 0)
    assert not any("I don't know" in text for text in sent)
    for (_, text), entries in judged(run).items():
        if entries is None:
            assert text == "I'm sorry, I don't know."
            continue
        for other in {*TEXTS} - {text}:
            if text_key(other) in entries:
                expected = (same(f"{text}\n", f"{other}\n") + same(f"{other}\n", f"{text}\n")) / 2
                assert entries[text_key(other)] == pytest.approx(expected, abs=1e-6)
    assert verdicts(run, "free")[0] in SEVEN, "the sentences with 7 share their words"
    (verdict,) = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert verdict["answer"] in FOUR
    assert verdict["votes"] == 4


def test_equal_texts_and_declined_ones_are_never_asked(tmp_path: Path) -> None:
    texts = {"q0": ["It is 1."] * 5, "q1": ["It is 1.", "<think>2?</think>It is 1.", " \n", "I cannot answer that."]}
    run = run_of(tmp_path / "run", texts)
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server))
        assert server.asked() == [], "not even a probe"
    assert (result["new"], result["empty"], result["comparisons"]) == (7, 2, 0)
    assert verdicts(run, f"free:judged:{NAME}") == ["It is 1.", "It is 1."]


def test_the_judgements_follow_the_texts_and_not_the_order_of_the_samples(tmp_path: Path) -> None:
    texts = [f"There are {i % 3} of the {i} things." if i % 2 else f"I see {i % 3}" for i in range(9)]
    runs = []
    with fault_verifier(tmp_path) as server:
        for seed in (1, 2):
            random.Random(seed).shuffle(texts)
            runs.append(run_of(tmp_path / str(seed), {"q0": texts, "q1": texts[::-1]}))
            scored(*options(runs[-1], server))
    assert judged(runs[0]) == judged(runs[1])


def test_the_comparisons_are_bounded_and_the_bill_is_within_the_estimate(tmp_path: Path) -> None:
    texts = {f"q{i}": [f"Number {j} says {(i + j) % 5}" for j in range(20)] for i in range(2)}
    run = run_of(tmp_path / "run", texts)
    price = ("--token-price", "verifier=1000000,1000000")
    with fault_verifier(tmp_path) as server:
        estimate = scored(*options(run, server, *price, "--dry-run"))
        refused = steelyard(*options(run, server, *price, "--confirm-above", 10))
        assert (refused.code, "more than --confirm-above 10" in refused.err, server.asked()) == (2, True, [])
        result = scored(*options(run, server, *price))
        sent = requests(server)
    assert estimate["requests"]["low"] == 2 * 2 * 19
    assert estimate["requests"]["high"] == 2 * 2 * (4 * 19 - 6) < 2 * 20 * 19
    assert estimate["requests"]["low"] <= len(sent) <= estimate["requests"]["high"]
    assert estimate["input_tokens"]["low"] <= sum(map(len, sent)) <= estimate["input_tokens"]["high"]
    bill = {"requests": len(sent), "prompt_tokens": sum(map(len, sent)), "completion_tokens": len(sent)}
    assert {name: result["spent"][name] for name in bill} == bill
    assert result["spent"]["cost"] == pytest.approx(bill["prompt_tokens"] + len(sent))
    status = scored("status", run, "--json")["spent"]["verifiers"][NAME]
    assert {name: status[name] for name in bill} == bill


def test_killed_or_interrupted_it_keeps_every_reply_and_asks_no_pair_twice(tmp_path: Path) -> None:
    calm, run = (small_run(tmp_path / name, questions=3, samples=6) for name in ("calm", "run"))
    with fault_verifier(tmp_path) as server:
        scored(*options(calm, server))
        total = len(requests(server))
        server.ledger.unlink()
        for allowed, number in ((9, signal.SIGKILL), (12, signal.SIGINT), (12, signal.SIGKILL)):
            server.allow(2 + allowed)  # the probes
            before = len(comparisons(run))
            order, environment = command(*options(run, server))
            process = subprocess.Popen(order, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda goal=before + allowed: len(comparisons(run)) >= goal)  # type: ignore[misc]
            process.send_signal(number)
            process.communicate()
            assert len(comparisons(run)) == before + allowed
        server.ledger.unlink()
        server.allow()
        assert scored(*options(run, server))["new"] == 18
        assert len(requests(server)) == total - 33, "nothing that was answered is sent again"
    assert judged(run) == judged(calm)
    pairs = [(note["question"], note["first"], note["second"]) for note in comparisons(run)]
    assert len(pairs) == len(set(pairs)) == total


def test_ties_are_counted_and_stay_about_a_half(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", {"q0": ["It is the 3.", "Or 5."]})
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, model="even?the 3"))
        shown = steelyard(*options(run, server, "--as", "again", model="even?the 3")[:-3], "--as", "again")
    assert (result["comparisons"], result["unreadable"], result["ties"]) == (1, 0, 1)
    assert judged(run)["q0", "Or 5."] == {text_key("It is the 3."): 0.5}
    assert "1 comparisons, each in both orders: 1 ties (the orders contradict each other" in shown.out
    assert f"Next: steelyard vote {run} --answers free:judged:again" in shown.out


@pytest.mark.parametrize("kind", ["neither", "unlikely"])
def test_unreadable_pairs_are_counted_compared_by_words_and_never_asked_again(tmp_path: Path, kind: str) -> None:
    run = run_of(tmp_path / "run", {"q0": ["It is 5.", "The count: 5", "Exactly 5, or the 3.", "Five, 5"]})
    with fault_verifier(tmp_path) as server:
        order = options(run, server, "--max-failures", 1, model=f"{kind}?the 3.")
        result = scored(*order)
        total = len(requests(server))
        assert scored(*order)["failures"] == result["failures"] == {"no comparison with it is readable": 1}
        assert len(requests(server)) == total
        stopped = steelyard(*options(run, server, "--as", "x", model=f"{kind}?the 3."), "--max-failures", 0)
    assert result["unreadable"] > 0
    assert (result["new"], result["ties"]) == (3, 0)
    assert judged(run)["q0", "Exactly 5, or the 3."] is None
    assert (stopped.code, "no comparison with it is readable" in stopped.err) == (2, True)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("first", "judges with p = 0.90 whether 'It is 2.' and 'It is 3.' mean the same"),
        ("even", "judges with p = 0.50 whether 'It is 2.' and 'It is 3.' mean the same"),
        ("neither", "does not say with Yes or No whether '1 + 1 = 2.' and 'So the answer is 2.' mean the same"),
        ("unlikely", "use a stronger LLM as the judge"),
        ("html", "cannot be used as a chat verifier"),
        ("null", "the reply contains no text"),
    ],
)
@pytest.mark.usefixtures("short_pauses")
def test_a_judge_that_answers_garbage_is_refused_before_it_judges(tmp_path: Path, model: str, message: str) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=3)
    with fault_verifier(tmp_path) as server:
        refused = steelyard(*options(run, server, model=model))
        assert requests(server) == []
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused.err
    assert message in refused.err
    assert comparisons(run) == []


@pytest.mark.parametrize("model", ["no-logprobs", "refuses-logprobs"])
def test_without_log_probabilities_the_word_counts(tmp_path: Path, model: str) -> None:
    run = run_of(tmp_path / "run", {"q0": ["It is 5.", "The count: 5", "Just 6"]})
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, model=model))
    assert (result["new"], result["ties"], result["unreadable"]) == (3, 0, 0)
    assert judged(run)["q0", "It is 5."] in (
        {text_key("The count: 5"): 1.0}, {text_key("The count: 5"): 1.0, text_key("Just 6"): 0.0}
    )  # fmt: skip


def test_a_text_that_says_more_than_yes_or_no_is_unreadable(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", {"q0": ["It is 5.", "The count: 5", "Maybe the 3."]})
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, "--max-failures", 1, model="chatty"))
    assert result["unreadable"] > 0
    assert judged(run)["q0", "Maybe the 3."] is None


def test_a_question_with_a_failed_request_is_asked_again_later(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=3, samples=4)
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, "--max-failures", 20, model="400?What is 2"))
        assert result["new"] == 8
        before = len(comparisons(run))
    assert {question for (question, _), entries in judged(run).items() if entries is None} == {"q2"}
    assert all(note["question"] != "q2" for note in comparisons(run)[:before])


def test_mistakes_are_one_line_with_the_fix(tmp_path: Path, upstream: FaultUpstream) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=2)
    judge = ("--verifier", NAME, "--upstream", "http://x/v1")
    sampling = ("--upstream", upstream.url, "--model", "m", "--verifier", NAME)
    mistakes = {
        "compares only the leaders of a vote with the others: omit --frugal": (
            ("score", run, *judge, "--frugal", "exact", "--plan", "p.json")
        ),
        "as the vote reads them, without their thoughts: omit --split": ("score", run, *judge, "--split", "newlines"),
        f"'steelyard vote --answers free:judged:{NAME}'": ("ask", "1 + 1?", *sampling),
        "and 'serve' weighs by scores": ("serve", *sampling, "--port", 0),
        f"{NAME} needs a chat server": ("score", run, "--verifier", NAME),
        "compares the values of a column, and samples have no columns": (
            ("ask", "1?", "--upstream", upstream.url, "--model", "m", "--answers", "free:judged:x")
        ),
    }
    for message, mistake in mistakes.items():
        done = steelyard(*mistake)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err


def test_the_judge_of_a_table_and_criteria_of_ones_own(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": f"q{i}", "prompt": "How many?", "llm": f"llm{j}", "correct": j < 4,
         "response": f"{'The box has' if j % 2 else 'I counted and found'} {3 if j < 4 else j} pieces."}
        for i in range(12)
        for j in range(6)
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(tmp_path / "mine.jsonl")
    with fault_verifier(tmp_path) as server:
        result = sy.score(
            str(tmp_path / "mine.jsonl"), NAME, upstream=f"{server.url}/v1", model="good", criteria="Same number."
        )
        assert all("Criteria:\nSame number.\n" in entry["text"] for entry in server.asked())
    assert result.new == 72
    evaluated = steelyard(
        "evaluate", result.run, "--answers", f"free:judged:{NAME}", "--source", "llm", "--method", "majority,consensus"
    )
    assert evaluated.code == 0, evaluated.err
    assert steelyard("similarities").out.count("judged") == 1
