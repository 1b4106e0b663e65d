"""Feedback: what people say of verdicts is kept, survives a kill, and a plan is fitted from it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

import steelyard as sy
from steelyard.gateway.caps import Caps
from steelyard.gateway.feedback import feedback as feedback_module
from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.metrics import Metrics
from steelyard.runs.feedback_settings import FeedbackSettings
from tests.gateway.gateways import VOTE, Gateway, gateway, process
from tests.running import steelyard
from tests.upstreams import FaultUpstream

PROMPT = "What is 3 + 4?"
CANARY = "a-prompt-that-nobody-keeps"


def give(served: Gateway, name: str, **said: Any) -> Any:
    return served.send("POST", "/v1/feedback", {"id": name, **said})


def test_labels_become_a_table_that_a_plan_is_fitted_from_and_served_by(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    folder, plan = tmp_path / "kept", tmp_path / "plan.json"
    replies = []
    with gateway(upstream.url, model="fault:knows@40", feedback=folder, method="vanilla") as running:
        for i in range(24):
            reply = running.chat(f"{i} + 1?", model="steelyard/vanilla", seed=8 * i).json
            replies.append(reply["steelyard"])
            assert give(running, reply["id"], answer=str(i % 5)).status == 200
        held = running.send("GET", "/v1/feedback").json
    correct = [sy.same_answer(each["answer"], str(i % 5)) for i, each in enumerate(replies)]
    assert (held["requests"], held["labelled"], held["correct"]) == (24, 24, sum(correct))
    assert (held["with_confidence"], held["confidence"], held["bins"]) == (0, None, [])  # vanilla has none
    assert 0 < sum(correct) < 24, "or there is nothing to learn"
    assert sy.read_labelled(folder).n_questions == 24
    table = pl.read_parquet(folder / "table.parquet")
    assert table.columns == ["question", "sample", "llm", "tokens", "answer", "correct", "self_logprob"]
    assert table.height == sum(each["samples"]["drawn"] for each in replies)

    done = steelyard("fit", folder, "-o", plan)
    assert done.code == 0, done.err
    with gateway(upstream.url, model="fault:knows@40", plan=plan, feedback=folder) as running:
        reply = running.chat(PROMPT, model="steelyard/plan").json
        assert give(running, reply["id"], correct=True).status == 200
        held = running.send("GET", "/v1/feedback").json
    told = reply["steelyard"]
    assert (held["labelled"], held["with_confidence"], held["confidence"]) == (25, 1, told["confidence"])
    assert [one["questions"] for one in held["bins"]] == [1]
    assert told["method"] == "calibrated"
    assert told["answers"][0]["probability"] is not None
    voted = steelyard("vote", folder, "--plan", plan, "-o", tmp_path / "verdicts.csv")
    assert voted.code == 0, voted.err
    assert pl.read_csv(tmp_path / "verdicts.csv").height == 25


def test_a_label_says_of_every_answer_whether_it_is_correct(upstream: FaultUpstream, tmp_path: Path) -> None:
    with gateway(upstream.url, feedback=tmp_path / "kept") as running:
        reply = running.chat(PROMPT, seed=5).json
        answers = [one["answer"] for one in reply["steelyard"]["answers"]]
        assert len(answers) > 1
        said = give(running, reply["id"], correct=True).json
        assert (said["correct"], said["correct_answers"], said["replaced"]) == (
            True,
            [reply["steelyard"]["answer"]],
            None,
        )
        other = next(each for each in answers if each != reply["steelyard"]["answer"])
        again = give(running, reply["id"], answer=f"{other}.0").json
        assert (again["correct"], again["correct_answers"]) == (False, [other])
        assert again["replaced"] == {"correct": True}
        assert give(running, reply["id"], answer=other).json["replaced"] is None  # it says the same
        table = sy.read_labelled(tmp_path / "kept")
        assert table.answer_correct.sum() == 1
        assert "true" in running.send("GET", "/metrics").body.decode().partition("steelyard_feedback_total{")[2]


def test_only_votes_of_our_own_model_are_kept(upstream: FaultUpstream, tmp_path: Path) -> None:
    with gateway(upstream.url, model="fault:same", feedback=tmp_path / "kept") as running:
        plain = running.send("POST", "/v1/responses", {"model": "fault:same", "input": PROMPT})
        assert plain.status == 200
        running.chat(PROMPT)
        assert running.send("GET", "/v1/feedback").json["requests"] == 1


def test_a_verdict_called_wrong_counts_and_says_what_it_could_not_teach(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    with gateway(upstream.url, feedback=tmp_path / "kept") as running:
        reply = running.chat(PROMPT, seed=5).json
        assert give(running, reply["id"], correct=False).json["correct_answers"] == []
    for _ in range(2):  # also when the table is there already
        with pytest.warns(sy.SteelyardWarning, match="1 requests were labelled wrong without a correct answer"):
            assert not sy.read_labelled(tmp_path / "kept").answer_correct.any()


@pytest.mark.parametrize(
    ("said", "status", "param"),
    [
        ({"id": "chatcmpl-" + 32 * "0", "correct": True}, 404, "id"),
        ({"id": "nonsense", "correct": True}, 404, "id"),
        ({"id": 7, "correct": True}, 400, "id"),
        ({"id": None}, 400, "id"),
        ({"correct": "yes"}, 400, "correct"),
        ({}, 400, "correct"),
        ({"correct": True, "answer": "7"}, 400, "correct"),
        ({"answer": ""}, 400, "answer"),
        ({"answer": 7}, 400, "answer"),
        ({"answer": "7" * 20_000}, 400, "answer"),
    ],
)
def test_what_is_no_label_is_refused_in_the_shape_of_openai(
    kept: Gateway, reply: Any, said: dict[str, Any], status: int, param: str
) -> None:
    refused = kept.send("POST", "/v1/feedback", {"id": reply["id"]} | said)
    assert (refused.status, refused.error["param"]) == (status, param)


def test_ids_of_both_apis_are_known_and_those_of_the_upstream_are_not(kept: Gateway, reply: Any) -> None:
    made = kept.send("POST", "/v1/responses", {"model": VOTE, "input": PROMPT}).json
    assert made["id"].startswith("resp_")
    assert give(kept, made["id"], correct=True).status == 200
    passed = kept.chat(PROMPT, model="good").json
    assert give(kept, passed["id"], correct=True).error["code"] == "unknown_id"
    streamed = kept.chat(PROMPT, stream=True).events[0]
    assert give(kept, streamed["id"], correct=False).status == 200


def test_without_the_flag_it_is_refused_with_the_fix_and_without_a_key_not_at_all(
    upstream: FaultUpstream, kept: Gateway
) -> None:
    with gateway(upstream.url) as running:
        for method in ("POST", "GET"):
            refused = running.send(method, "/v1/feedback", {"id": "x", "correct": True} if method == "POST" else None)
            assert (refused.status, refused.error["code"]) == (404, "feedback_off")
            assert "--feedback FOLDER" in refused.error["message"]
    assert kept.send("GET", "/v1/feedback", key=None).status == 401
    assert kept.send("POST", "/v1/feedback", {"id": "x", "correct": True}, key=None).status == 401


@pytest.fixture(scope="module")
def kept(upstream: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with gateway(upstream.url, feedback=tmp_path_factory.mktemp("kept") / "folder") as running:
        yield running


@pytest.fixture(scope="module")
def reply(kept: Gateway) -> Any:
    return kept.chat(PROMPT, seed=5).json


def test_prompts_and_responses_are_kept_only_with_the_operators_word(upstream: FaultUpstream, tmp_path: Path) -> None:
    wanted: dict[str, Any] = {"response_format": {"type": "json_object"}}
    for texts in (False, True):
        folder = tmp_path / f"{texts}"
        with gateway(upstream.url, model="fault:structured", feedback=folder, keep_texts=texts) as running:
            reply = running.chat(CANARY, **wanted, seed=1).json
            assert give(running, reply["id"], answer=reply["steelyard"]["answer"]).json["correct"] is True
        journal = (folder / "journal.jsonl").read_text().splitlines()[0]  # the label has what somebody sent
        content = reply["choices"][0]["message"]["content"]
        assert (CANARY in journal) is texts
        assert (json.dumps(content)[1:-1] in journal) is texts
        assert ("sha256:" in journal) is not texts
        assert sy.read(folder).n_questions == 1
        assert ({"prompt", "response"} <= set(pl.read_parquet(folder / "table.parquet").columns)) is texts


def test_nothing_that_was_confirmed_is_lost_by_a_kill(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("--method", "majority", "--feedback", tmp_path / "kept")
    names = []
    with process(upstream.url, *words) as running:
        assert running.process is not None
        for i in range(3):
            names.append(running.chat(PROMPT, seed=i).json["id"])
            assert give(running, names[-1], correct=i > 0).status == 200
        names.append(running.chat(PROMPT, seed=9).json["id"])
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    with (tmp_path / "kept" / "journal.jsonl").open("ab") as file:
        file.write(b'0badc0de 99 {"kind":"requ')  # what a kill in the middle of a line leaves
    with gateway(upstream.url, feedback=tmp_path / "kept") as running:
        held = running.send("GET", "/v1/feedback").json
        assert (held["requests"], held["labelled"], held["correct"]) == (4, 3, 2)
        assert [give(running, name, correct=True).status for name in names] == [200] * 4
        assert running.send("GET", "/v1/feedback").json["correct"] == 4
        refused = steelyard("serve", "--upstream", upstream.url, "--model", "good", "--feedback", tmp_path / "kept")
        assert (refused.code, "in use by process" in refused.err) == (2, True)


def test_only_so_many_ids_are_known(upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback_module, "MAX_REQUESTS", 2)
    with gateway(upstream.url, feedback=tmp_path / "kept") as running:
        names = [running.chat(PROMPT, seed=i).json["id"] for i in range(3)]
        assert [give(running, name, correct=True).status for name in names] == [404, 200, 200]


def test_the_journal_keeps_to_its_limit_and_what_is_labelled_stays(upstream: FaultUpstream, tmp_path: Path) -> None:
    """Labels find their requests however often the journal was made shorter meanwhile."""
    with gateway(upstream.url, feedback=tmp_path / "kept", caps=Caps(feedback=10_000)) as running:
        first = running.chat(PROMPT, seed=0).json["id"]
        assert give(running, first, correct=True).status == 200
        names = [running.chat(PROMPT, seed=i).json["id"] for i in range(40)]
        assert (tmp_path / "kept" / "journal.jsonl").stat().st_size < 20_000
        assert [give(running, name, correct=False).status for name in (names[0], names[-1])] == [404, 200]
        assert give(running, first, correct=False).json["replaced"] == {"correct": True}
    assert sy.read_labelled(tmp_path / "kept").n_questions == 2


def test_a_disk_that_refuses_fails_no_request_and_no_label_is_confirmed(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gateway(upstream.url, feedback=tmp_path / "kept") as running:
        first = running.chat(PROMPT).json["id"]

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("steelyard.runs.journal.os.write", full)
        assert running.chat(PROMPT).status == 200
        refused = give(running, first, correct=True)
        assert (refused.status, str(tmp_path) in refused.error["message"]) == (503, False)
        assert "steelyard_feedback_lost_total 1" in running.send("GET", "/metrics").body.decode()


def test_a_folder_of_other_scores_or_of_other_files_is_refused(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("serve", "--upstream", upstream.url, "--model", "good", "--method", "majority")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    assert "contains other files (thesis.txt" in steelyard(*words, "--feedback", tmp_path / "mine").err
    with gateway(upstream.url, feedback=tmp_path / "kept", answers="math"):
        pass
    refused = steelyard(*words, "--feedback", tmp_path / "kept", "--answers", "exact")
    assert (refused.code, "contains feedback with answers 'math'" in refused.err) == (2, True)
    assert "has no labels yet" in steelyard("fit", tmp_path / "kept", "-o", tmp_path / "plan.json").err


def test_the_page_knows_whether_labels_are_kept_and_what_it_asks_can_be_labelled(
    kept: Gateway, upstream: FaultUpstream
) -> None:
    assert kept.send("GET", "/page/state").json["feedback"] is True
    asked = {"model": VOTE, "messages": [{"role": "user", "content": PROMPT}]}
    decided = kept.send("POST", "/page/ask", asked).events[-1]["decided"]
    assert give(kept, decided["id"], correct=True).status == 200
    with gateway(upstream.url) as running:
        assert running.send("GET", "/page/state").json["feedback"] is False


def test_scores_that_have_moved_since_the_plan_was_fitted_are_said(tmp_path: Path) -> None:
    reference = tuple(i / 100 for i in range(100))
    for moved in (False, True):
        folder, settings = tmp_path / str(moved), FeedbackSettings("score", "math")
        made = Feedback(folder, settings, cast(Any, None), Metrics(), model="m", texts=False, reference=reference)
        made.scores.means.extend(i / 30 + 5 * moved for i in range(30))
        assert made.summary()["drift"]["moved"] is moved
        made.folder.close()
    made.scores.means.clear()
    assert made.summary()["drift"] is None
