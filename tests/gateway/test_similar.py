"""Chats without a readable answer: similar responses vote for each other, and the one most like the others returns."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.answers.extract import extract_answer, kind_of
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.vote import policies
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.policies import COMPARED, LONGEST, READ_AT_ONCE
from steelyard.gateway.vote.request_vote import BY_SIMILARITY, NO_ANSWER, Voting
from steelyard.gateway.vote.vote_counter import VoteCounter, VoteEntry
from steelyard.sampling.online.similar_texts import SimilarTexts
from tests.fault_upstream.answers import OPINIONS
from tests.free_text import QUESTION, cascade_plan, free_plan
from tests.gateway.gateways import gateway, process
from tests.upstreams import FaultUpstream

RULE = sy.evaluation.rule_class
pytestmark = pytest.mark.usefixtures("short_pauses")


def test_the_response_most_like_the_others_is_returned_and_streamed(upstream: FaultUpstream) -> None:
    with process(upstream.url, "--method", "majority", model="fault:opinions") as running:
        reply = running.chat(QUESTION, seed=0, steelyard={"ballots": True}).json
        stream = running.chat(QUESTION, seed=0, stream=True).events
        assert running.process is not None
        loaded = Path(f"/proc/{running.process.pid}/maps")
        assert not loaded.exists() or "llvmlite" not in loaded.read_text(), "no loop is compiled"
    told = reply["steelyard"]
    assert reply["choices"][0]["message"]["content"] == told["answer"] == OPINIONS[1]
    assert (told["policy"], told["method"], told["confidence"]) == ("similar", "majority", None)
    assert [(one["answer"], one["votes"]) for one in told["answers"]] == [(OPINIONS[1], 6), (OPINIONS[0], 2)]
    assert [one["answer"] == OPINIONS[1] for one in told["ballots"]] == [False, True, True, True] * 2
    assert BY_SIMILARITY in told["notes"]
    pieces = [part["choices"][0]["delta"].get("content") or "" for part in stream[:-1] if part["choices"]]
    assert "".join(pieces) == OPINIONS[1]


def test_several_choices_are_the_leaders_of_several_groups(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:opinions") as running:
        choices = running.chat(QUESTION, seed=0, n=3).json["choices"]
    assert [one["message"]["content"] for one in choices] == [OPINIONS[1], OPINIONS[0]]


def test_a_response_that_declines_casts_no_vote(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:declines") as running:
        told = running.chat(QUESTION, seed=0).json["steelyard"]
    assert (told["policy"], told["answer"]) == ("text", None)
    assert NO_ANSWER in told["notes"]


def test_one_sample_is_not_compared(upstream: FaultUpstream) -> None:
    with gateway(upstream.url, model="fault:opinions") as running:
        told = running.chat(QUESTION, seed=0, steelyard={"n": 1}).json["steelyard"]
    assert (told["policy"], told["answer"]) == ("text", None)


def test_a_readable_answer_is_voted_on_unless_the_request_names_a_similarity(upstream: FaultUpstream) -> None:
    with gateway(upstream.url) as running:
        told = running.chat("1 + 1?", seed=0).json["steelyard"]
        similar = running.chat("1 + 1?", seed=0, steelyard={"similarity": "characters"}).json["steelyard"]
    assert (told["policy"], similar["policy"]) == ("answer", "similar")
    assert BY_SIMILARITY not in similar.get("notes", [])


@pytest.mark.parametrize("similarity", ["tokens", "characters", "json"])
def test_a_request_names_its_similarity(upstream: FaultUpstream, similarity: str) -> None:
    with gateway(upstream.url, model="fault:structured") as running:
        told = running.chat(seed=0, response_format={"type": "json_object"}, steelyard={"similarity": similarity}).json[
            "steelyard"
        ]
    assert told["policy"] == "similar"
    assert sum(one["votes"] for one in told["answers"]) == 8


@pytest.mark.parametrize(
    ("settings", "param", "message"),
    [
        ({"similarity": "tokns"}, "similarity", "unknown similarity 'tokns': did you mean 'tokens'"),
        ({"similarity": "column"}, "similarity", "unknown similarity 'column'"),
        ({"similarity": ["tokens"]}, "similarity", "unknown similarity"),
        ({"similarity": "tokens", "vote_on": "/a"}, "similarity", "omit one of them"),
        ({"similarity": "tokens", "risk": 0.1}, "risk", "cannot be guaranteed"),
    ],
)
def test_a_similarity_that_cannot_be_used_is_refused_in_one_line(
    upstream: FaultUpstream, settings: dict[str, Any], param: str, message: str
) -> None:
    with gateway(upstream.url, model="fault:opinions") as running:
        before = len(upstream.asked("fault:opinions"))
        answered = running.chat(QUESTION, steelyard=settings)
        assert answered.status == 400
        assert answered.error["param"] == f"steelyard.{param}"
        assert message in answered.error["message"]
        assert "\n" not in answered.error["message"]
        assert len(upstream.asked("fault:opinions")) == before


@pytest.mark.parametrize(
    "rule",
    [
        RULE("beta")(cap=8, least=2, threshold=0.7),
        RULE("confidence")(cap=8, least=2, threshold=0.6),
        RULE("esc")(cap=8, least=2),
        RULE("certificate")(cap=8, least=2, threshold=0.3),
    ],
)
def test_a_plan_for_free_text_gives_its_confidence_and_stops_when_samples_are_similar(
    upstream: FaultUpstream, tmp_path: Path, rule: Any
) -> None:
    plan = free_plan(tmp_path / "free.json", rule)
    with gateway(upstream.url, model="fault:opinions", plan=plan) as running:
        told = running.chat(QUESTION, "steelyard/free", seed=1).json["steelyard"]
    asked = sy.ask(QUESTION, upstream=upstream.url, model="fault:opinions", n=8, plan=plan, seed=1)
    assert told["samples"]["drawn"] == len(asked.votes) == 2
    assert (told["policy"], told["answer"], told["confidence"]) == ("similar", asked.answer, asked.confidence)
    assert asked.stopped is not None
    assert told["stopped"] == asked.stopped.why


def test_another_similarity_than_the_plans_gives_no_confidence(upstream: FaultUpstream, tmp_path: Path) -> None:
    plan = free_plan(tmp_path / "free.json")
    with gateway(upstream.url, model="fault:opinions", plan=plan) as running:
        for similarity, known in (("tokens", True), ("characters", False)):
            told = running.chat(QUESTION, "steelyard/free", seed=0, steelyard={"similarity": similarity}).json
            assert (told["steelyard"]["confidence"] is not None) is known


def test_long_responses_are_compared_in_a_thread_and_not_beyond_a_limit() -> None:
    threads = set()

    class Watched(SimilarTexts):
        def matrix(self, texts: list[str]) -> Any:
            threads.add(threading.current_thread() is threading.main_thread())
            return super().matrix(texts)

    async def vote(length: int) -> float:
        counter, texts = VoteCounter(), Watched(kind_of("free"), None, COMPARED)
        rows = [VoteEntry(i, "", "word " * (length // 5) + str(i), None) for i in range(2)]
        try:
            outcome, _ = await counter.outcome(rows, sy.MajorityVote(), "free", texts=texts)
        finally:
            counter.close()
        return outcome.share

    assert asyncio.run(vote(100)) < 1
    assert threads == {True}
    threads.clear()
    assert asyncio.run(vote(COMPARED + 100)) == 1, "they differ beyond what is compared"
    assert threads == {False}


@pytest.mark.parametrize("kind", ["yes-no", "free"])
def test_other_requests_have_their_turn_while_long_responses_are_read(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Characters are counted, not seconds: those that are read between two turns of the event loop."""
    turn = 0
    characters: Counter[int] = Counter()

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    def counted(text: str, *arguments: Any, **settings: Any) -> str | None:
        characters[turn] += len(text)
        return extract_answer(text, *arguments, **settings)

    async def decide(voting: Voting, *arguments: Any) -> Decision:
        turns = asyncio.create_task(count_turns())
        try:
            return await original(voting, *arguments)
        finally:
            turns.cancel()

    original = Voting.decide
    monkeypatch.setattr(Voting, "decide", decide)
    monkeypatch.setattr(policies, "extract_answer", counted)
    with gateway(upstream.url, model="fault:long-opinions", answers=kind) as running:
        reply = running.chat(QUESTION, seed=0, steelyard={"n": 16}).json["steelyard"]
    assert reply["policy"] == "similar"
    assert characters.total() > 16 * 20_000
    assert max(characters.values()) <= READ_AT_ONCE


def test_long_responses_come_back_in_full_and_their_details_are_short(upstream: FaultUpstream, tmp_path: Path) -> None:
    plan = free_plan(tmp_path / "free.json", RULE("beta")(cap=6, least=2, threshold=0.99))
    with gateway(upstream.url, model="fault:long-opinions", plan=plan) as running:
        reply = running.chat(QUESTION, "steelyard/free", seed=0, steelyard={"n": 6, "ballots": True}).json
    content, told = reply["choices"][0]["message"]["content"], reply["steelyard"]
    assert len(content) > 20_000
    assert told["answer"] == f"{content[: LONGEST - 1]}…"
    assert told["answers"][0]["votes"] == 6
    assert all(len(one["answer"]) == LONGEST for one in told["ballots"])


def test_the_page_shows_the_groups_while_samples_arrive(upstream: FaultUpstream) -> None:
    body = {"model": "steelyard/majority", "messages": [{"role": "user", "content": QUESTION}], "seed": 0}
    with gateway(upstream.url, model="fault:opinions") as running:
        events = running.send("POST", "/page/ask", body).events
        entry = running.send("GET", "/page/state").json["requests"][0]
    last, decided = events[-2]["vote"], events[-1]["decided"]
    assert last["policy"] == decided["vote"]["policy"] == entry["policy"] == "similar"
    assert [one["votes"] for one in last["answers"]] == [6, 2]
    assert sorted(last["given"].values()) == [0] * 6 + [1] * 2
    assert decided["text"] == OPINIONS[1]
    assert [one["votes"] for one in entry["answers"]] == [6, 2]


def test_a_server_that_cannot_vote_on_free_text_does_not_start(upstream: FaultUpstream, tmp_path: Path) -> None:
    urls, models = (",".join(f"{name}={value}{name}" for name in "abc") for value in (f"{upstream.url}/", "good"))
    cascade = Configuration(urls, models, plan=cascade_plan(tmp_path / "c.json"))
    with pytest.raises(sy.SettingError, match="a cascade votes only on equal answers"):
        cascade.voter(cascade.upstreams())
    column = Configuration(upstream.url, "good", answers="free:column:out")
    with pytest.raises(sy.SettingError, match="samples have no columns"):
        column.voter(column.upstreams())


@pytest.mark.parametrize("texts", [False, True])
def test_feedback_labels_the_group_of_the_verdict(upstream: FaultUpstream, tmp_path: Path, texts: bool) -> None:
    folder = tmp_path / "stored"
    with gateway(upstream.url, model="fault:opinions", answers="free", feedback=folder, keep_texts=texts) as running:
        for seed in range(10):
            name = running.chat(QUESTION, seed=seed).json["id"]
            labelled = running.send("POST", "/v1/feedback", {"id": name, "correct": True})
            assert labelled.status == 200
    assert (OPINIONS[1] in (folder / "journal.jsonl").read_text()) is texts
    pool = sy.read_labelled(folder, answers="free", score="none")
    assert pool.n_questions == 10
    verdicts = sy.MajorityVote().fit(pool).predict(pool)
    assert verdicts.votes.tolist() == [6] * 10


def test_a_cascade_is_not_walked_by_similarity(upstream: FaultUpstream, tmp_path: Path) -> None:
    urls = ",".join(f"{name}={upstream.url}" for name in "abc")
    with gateway(
        urls, model="a=fault:opinions,b=good,c=fault:prose", plan=cascade_plan(tmp_path / "turns.json", "math")
    ) as running:
        settings = {"similarity": "tokens"}
        answered = running.chat(QUESTION, "steelyard/turns", steelyard=settings)
        assert answered.status == 400
        assert "the plan's cascade votes only on equal answers" in answered.error["message"]
        told = running.chat(QUESTION, "steelyard/turns", steelyard=settings | {"method": "majority", "n": 2}).json
        assert told["steelyard"]["policy"] == "similar"
