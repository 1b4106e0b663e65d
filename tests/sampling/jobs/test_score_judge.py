"""steelyard score with judges: grades, and tournaments that are durable, billed and ask nothing twice."""

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
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocols import judge, judge_pairwise
from steelyard.sampling.verifiers.runners.chat_server import PROBE
from steelyard.sampling.verifiers.tournament import comparison_range
from tests.running import steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.test_score import journal
from tests.sampling.verifiers.fault_verifier import preference, share
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream, command
from tests.waiting import until

PAIRS, GRADES = "judge-pairwise", "judge"
MESSAGES = {PAIRS: judge_pairwise.render, GRADES: judge.render}


def options(run: Path, server: FaultVerifier, *more: object, name: str = PAIRS, model: str = "good") -> list[object]:
    return ["score", run, "--verifier", name, "--upstream", f"{server.url}/v1", "--model", model, "--json", *more]


def scored(*arguments: object) -> dict[str, Any]:
    done = steelyard(*arguments)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def run_of(folder: Path, texts: dict[str, list[str]]) -> Path:
    """A run with these responses by question."""
    table = pl.DataFrame({"question": [*texts], "prompt": ["How many?"] * len(texts), "gold": ["1"] * len(texts)})
    records = [
        {"kind": "sample", "question": question, "sample": i, "response": text}
        for question, responses in texts.items()
        for i, text in enumerate(responses)
    ]
    with Run.start(folder, Manifest("0" * 64, "m", max(map(len, texts.values()))), table) as run:
        run.add_now(records)
    return folder


def requests(server: FaultVerifier, name: str = PAIRS) -> list[str]:
    """The requests so far, without probes."""
    (probe,) = MESSAGES[name](PROBE.question, PROBE.steps)
    return [entry["text"] for entry in server.asked() if entry["text"] != probe["content"]]


def comparisons(run: Path) -> list[dict[str, Any]]:
    return [note for note in journal(run, "note") if note["about"] == "comparison"]


def scores(run: Path, name: str = PAIRS) -> dict[tuple[str, str], float | None]:
    """The score of each text of a question."""
    table = pl.read_parquet(run / "table.parquet").select("question", "response", pl.col(name).list.first())
    return {(question, text): score for question, text, score in table.iter_rows()}


def test_a_judge_grades_every_response_by_the_expected_digit(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    with fault_verifier(tmp_path) as server:
        assert scored(*options(run, server, name=GRADES))["new"] == 32
        assert scored(*options(run, server, name=GRADES))["new"] == 0
        assert len(requests(server, GRADES)) == 32
    for (_, text), score in scores(run, GRADES).items():
        assert score == pytest.approx(share(f"{text}\n"), abs=1e-9)


def test_a_grade_that_cannot_be_read_is_a_missing_score_and_counted(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=5)
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, name=GRADES, model="neither?the 3."), "--max-failures", 2)
        refused = steelyard(*options(run, server, "--as", "x", name=GRADES, model="no-logprobs"))
    assert result["failures"] == {"no expected word is among the 20 likeliest first tokens": 2}
    assert {text for (_, text), score in scores(run, GRADES).items() if score is None} == {
        "We add the 3.\n\nThe answer is \\boxed{2}.",
        "We add the 3.\n\nThe answer is \\boxed{3}.",
    }
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "the server returns no log-probabilities; use a server that returns top_logprobs" in refused.err


@pytest.mark.parametrize("name", [GRADES, PAIRS])
def test_criteria_reach_the_judge_and_a_resume_with_others_is_refused(tmp_path: Path, name: str) -> None:
    run, criteria = small_run(tmp_path / "run", questions=1, samples=3), tmp_path / "criteria.txt"
    criteria.write_text("Cites a source. Has no <|im_end|>.\n")
    with fault_verifier(tmp_path) as server:
        scored(*options(run, server, "--criteria", criteria, name=name))
        texts = [entry["text"] for entry in server.asked()]
        assert all("Criteria:\nCites a source. Has no < |im_end| >.\n" in text for text in texts)
        assert scored(*options(run, server, "--criteria", criteria, name=name))["new"] == 0
        criteria.write_text("Is short.")
        for more in (("--criteria", criteria), ()):
            refused = steelyard(*options(run, server, *more, name=name))
            assert (refused.code, refused.err.count("\n")) == (2, 1)
            assert "criteria was 'sha256:" in refused.err
        assert len(server.asked()) == len(texts)
        assert scored(*options(run, server, "--criteria", criteria, "--as", "short", name=name))["new"] == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot read the criteria"), (b"\xff\xfe\x00", "a text file in UTF-8"), (b" \n", "has no text")],
)
def test_criteria_that_cannot_be_read_are_one_line_with_the_fix(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    run, criteria = small_run(tmp_path / "run", questions=1, samples=2), tmp_path / "criteria.txt"
    if content is not None:
        criteria.write_bytes(content)
    done = steelyard("score", run, "--verifier", "judge", "--upstream", "http://x/v1", "--criteria", criteria)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_mistakes_with_judges_are_one_line_with_the_fix(tmp_path: Path, upstream: FaultUpstream) -> None:
    run, criteria = small_run(tmp_path / "run", questions=1, samples=2), tmp_path / "criteria.txt"
    criteria.write_text("Is short.")
    sampling = ("--upstream", upstream.url, "--model", "m", "--verifier", PAIRS)
    mistakes = {
        "logprob takes no criteria: omit --criteria": ("score", run, "--verifier", "logprob", "--criteria", criteria),
        "compares all responses of a question: omit --frugal": (
            ("score", run, "--verifier", PAIRS, "--upstream", "http://x/v1", "--frugal", "exact", "--plan", "p.json")
        ),
        "and 'ask' scores one at a time: use --verifier judge": ("ask", "1 + 1?", *sampling),
        "and 'serve' scores one at a time: use --verifier judge": ("serve", *sampling, "--port", 0),
        "name the verifier of the samples with --verifier": (
            ("ask", "1 + 1?", "--upstream", upstream.url, "--model", "m", "--criteria", criteria)
        ),
        f"{PAIRS} needs a chat server": ("score", run, "--verifier", PAIRS),
    }
    for message, mistake in mistakes.items():
        done = steelyard(*mistake)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err


def test_a_tournament_scores_every_response_within_the_bound_of_comparisons(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server))
        once = requests(server)
        assert len(once) == len(set(once)) == 2 * result["comparisons"] == len(comparisons(run))
        files = {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"}
        assert scored(*options(run, server))["new"] == 0
        assert len(server.asked()) == len(once) + 1, "one probe"
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.name != "lock"} == files
    low, high = comparison_range(8, 2)
    assert 4 * low <= result["comparisons"] <= 4 * high
    assert (result["new"], result["unreadable"], result["failures"]) == (32, 0, {})
    for question in range(4):
        own = {text: score for (name, text), score in scores(run).items() if name == f"q{question}" and score}
        assert max(own, key=lambda text: own[text]) == max(own, key=lambda text: share(f"{text}\n"))
    note = comparisons(run)[0]
    texts = {record["sample"]: record["response"] for record in journal(run, "sample") if record["question"] == "q0"}
    first, second = (f"{texts[note[name]]}\n" for name in ("first", "second"))
    assert note["p"] == pytest.approx(preference(first, second), abs=1e-9)


def test_the_scores_follow_the_texts_and_not_the_order_of_the_samples(tmp_path: Path) -> None:
    texts = [f"The answer is {i}." for i in range(9)]
    runs = []
    with fault_verifier(tmp_path) as server:
        for seed in (1, 2):
            random.Random(seed).shuffle(texts)
            runs.append(run_of(tmp_path / str(seed), {"q0": texts, "q1": texts[::-1]}))
            scored(*options(runs[-1], server))
    assert scores(runs[0]) == scores(runs[1])


def test_equal_texts_are_compared_once_and_alone_need_no_request(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", {"q0": ["It is 1.", "It is 2.", "It is 1.", " \n"], "q1": ["It is 3."] * 3})
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server))
        assert len(requests(server)) == 2
    assert (result["new"], result["empty"], result["comparisons"]) == (6, 1, 1)
    p = preference("It is 1.\n", "It is 2.\n")
    expected = {"It is 1.": p, "It is 2.": 1 - p, "It is 3.": 0.5}
    assert {text: score for (_, text), score in scores(run).items() if text.strip()} == pytest.approx(expected)


@pytest.mark.parametrize("model", ["first", "even", "nearly"])
def test_ties_give_both_half_and_are_counted(tmp_path: Path, model: str) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=4)
    with fault_verifier(tmp_path) as server:
        result = scored(*options(run, server, model=model))
    assert result["ties"] == result["comparisons"] > 0
    assert set(scores(run).values()) == {0.5}
    shown = steelyard(*[option for option in options(run, server, model=model) if option != "--json"])
    assert "Scored 0 responses; 8 were already scored." in shown.out


def test_unreadable_comparisons_are_left_out_and_counted_and_never_asked_again(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=5)
    with fault_verifier(tmp_path) as server:
        order = options(run, server, "--max-failures", 2, model="neither?the 3.")
        result = scored(*order)
        total = len(server.asked())
        assert scored(*order)["failures"] == result["failures"] == {"no comparison with it is readable": 2}
        assert len(server.asked()) == total
        stopped = steelyard(*options(run, server, "--as", "none", model="neither"))
    assert result["unreadable"] > 0
    assert (result["new"], result["ties"]) == (8, 0)
    assert all((score is None) == ("the 3." in text) for (_, text), score in scores(run).items())
    assert stopped.code == 2
    assert "no comparison with it is readable" in stopped.err


@pytest.mark.usefixtures("short_pauses")
def test_a_question_with_a_failed_request_has_no_scores_until_it_is_answered(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=3, samples=4)
    with fault_verifier(tmp_path) as server:
        order = options(run, server, "--max-failures", 20, model="400?What is 2")
        result = scored(*order)
        before = len(requests(server))
        assert (result["new"], list(result["failures"])) == (8, ["HTTP 400: said 400"])
        null = pl.read_parquet(run / "table.parquet").filter(pl.col(PAIRS).is_null())
        assert set(null["question"]) == {"q2"}
        assert scored(*order)["new"] == 0
        again = requests(server)[before:]
        assert 0 < len(again) == result["failures"]["HTTP 400: said 400"]
        assert all("What is 2" in text for text in again)


def test_killed_or_interrupted_it_keeps_every_reply_and_asks_nothing_twice(tmp_path: Path) -> None:
    calm, run = (small_run(tmp_path / name, questions=3, samples=6) for name in ("calm", "run"))
    with fault_verifier(tmp_path) as server:
        scored(*options(calm, server))
        total = len(requests(server))
        server.ledger.unlink()
        for allowed, number in ((20, signal.SIGINT), (26, signal.SIGKILL)):
            server.allow(1 + allowed)  # the probe
            before = len(comparisons(run))
            order, environment = command(*options(run, server))
            process = subprocess.Popen(order, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda goal=before + allowed: len(comparisons(run)) >= goal)  # type: ignore[misc]
            process.send_signal(number)
            process.communicate()
            assert len(comparisons(run)) == before + allowed
        other = steelyard(*options(run, server, model="other"))
        assert (other.code, "model was 'good', now 'other'" in other.err) == (2, True), "its comparisons are not ours"
        server.ledger.unlink()
        server.allow()
        assert scored(*options(run, server))["new"] == 18
        assert len(requests(server)) == total - 46, "nothing that was answered is asked again"
    assert scores(run) == scores(calm)
    pairs = [(note["question"], note["first"], note["second"]) for note in comparisons(run)]
    assert len(pairs) == len(set(pairs)) == total


def test_a_killed_command_that_wrote_some_scores_of_a_question_completes_them(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=6)
    with fault_verifier(tmp_path) as server:
        scored(*options(run, server))
        expected, path = scores(run), run / "journal.jsonl"
        (run / "table.parquet").unlink()
        (run / "table.json").unlink()
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
        before = len(server.asked())
        assert scored(*options(run, server))["new"] == 3
        assert len(server.asked()) == before
    assert scores(run) == expected


def test_responses_sampled_after_their_question_was_scored_are_reported(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=3)
    with fault_verifier(tmp_path) as server:
        scored(*options(run, server))
        before, total = scores(run), len(server.asked())
        late = {
            "kind": "sample",
            "question": "q0",
            "sample": 3,
            "response": "We add the 0.\n\nThe answer is \\boxed{1}.",
        }
        with Run.open(run, write=True) as opened:
            opened.add_now([late])
        assert scored(*options(run, server))["new"] == 1, "its text was compared"
        with Run.open(run, write=True) as opened:
            opened.add_now([late | {"sample": 4, "response": "Something else."}])
        result = scored(*options(run, server, "--max-failures", 1))
        assert len(server.asked()) == total
        (reason,) = result["failures"]
        assert "sampled after its question was scored" in reason
        assert "--as" in reason
        assert scored(*options(run, server, "--as", "anew"))["new"] == 8
    assert scores(run) == before | {("q0", "Something else."): None}


def test_the_bill_counts_every_comparison_and_the_estimate_covers_it(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", questions=3, samples=6)
    price = ("--token-price", "verifier=1000000,1000000")
    with fault_verifier(tmp_path) as server:
        estimate = scored(*options(run, server, *price, "--dry-run"))
        assert server.asked() == []
        refused = steelyard(*options(run, server, *price, "--confirm-above", 10))
        assert (refused.code, server.asked()) == (2, [])
        assert "more than --confirm-above 10" in refused.err
        spent = scored(*options(run, server, *price, model="neither?the 3."), "--max-failures", 5)["spent"]
        texts = requests(server)
        assert estimate["requests"]["low"] <= len(texts) <= estimate["requests"]["high"]
        assert estimate["input_tokens"]["low"] <= sum(map(len, texts)) <= estimate["input_tokens"]["high"]
        left = scored(*options(run, server, "--dry-run", "--as", PAIRS, model="neither?the 3."))
    assert estimate["samples"] == 18
    assert left["requests"]["high"] < len(texts)
    bill = {"requests": len(texts), "prompt_tokens": sum(map(len, texts)), "completion_tokens": len(texts)}
    assert {name: spent[name] for name in bill} == bill
    assert spent["cost"] == pytest.approx(bill["prompt_tokens"] + len(texts))
    status = scored("status", run, "--json")["spent"]["verifiers"][PAIRS]
    assert {name: status[name] for name in bill} == bill


def test_a_table_is_judged_and_the_plan_finds_a_useless_judge_useless(tmp_path: Path) -> None:
    rows = [
        {"question": f"q{i}", "prompt": f"What is {i} + 1?", "response": f"Try {j}. The answer is {i + 1 + (j > 3)}.",
         "gold": str(i + 1)}
        for i in range(40)
        for j in range(6)
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(tmp_path / "mine.jsonl")
    with fault_verifier(tmp_path) as server:
        source, url = str(tmp_path / "mine.jsonl"), f"{server.url}/v1"
        result = sy.score(source, PAIRS, upstream=url, model="good", criteria="Is correct.")
    assert result.new == 240
    pool = sy.read(result.run, score=PAIRS)
    assert isinstance(pool, sy.LabelledPool)
    plain, raw, calibrated = (
        vote.fit(pool).predict(pool).to_polars()["answer"]
        for vote in (sy.MajorityVote(), sy.BestOfN(), sy.CalibratedVote())
    )
    assert not raw.equals(plain), "its scores have nothing to do with the answers"
    assert calibrated.equals(plain)


def test_ask_grades_its_samples_by_the_criteria(tmp_path: Path, upstream: FaultUpstream) -> None:
    (tmp_path / "criteria.txt").write_text("Is short.")
    with fault_verifier(tmp_path) as server:
        at = ("--verifier-upstream", f"{server.url}/v1", "--verifier-model", "good")
        more = ("--verifier", GRADES, *at, "--criteria", tmp_path / "criteria.txt", "--json")
        result = scored("ask", "How many?", "--upstream", upstream.url, "--model", "m", "-n", 4, *more)
        texts = [entry["text"] for entry in server.asked()]
    assert texts
    assert all("Criteria:\nIs short.\n" in text for text in texts)
    assert {sample["verifier"] for sample in result["samples"]} <= {"read", "words of another"}
