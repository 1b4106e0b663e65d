"""steelyard score --verifier embeddings: vectors of responses, durable and billed, and the vote that compares them."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.runners.embedding_server import BATCH
from tests.running import steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.test_score import journal
from tests.sampling.verifiers import embedding_upstream
from tests.sampling.verifiers.embedding_upstream import DIMENSIONS, EmbeddingUpstream, cosine, serving, vector
from tests.upstreams import FaultUpstream, command
from tests.waiting import until

NAME = "embeddings"
TEXTS = ["It is Paris, the old town.", "It is Paris, the new town.", "Rome.", "I guess Paris, the old town.", "Oslo?"]


@pytest.fixture
def server() -> Iterator[EmbeddingUpstream]:
    with serving() as upstream:
        yield upstream


def options(run: Path, server: EmbeddingUpstream, *more: object, model: str = "good") -> list[object]:
    return ["score", run, "--verifier", NAME, "--upstream", server.url, "--model", model, "--json", *more]


def scored(*arguments: object) -> dict[str, Any]:
    done = steelyard(*arguments)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def refused(*arguments: object) -> str:
    done = steelyard(*arguments)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    return done.err


def vectors(run: Path, column: str = NAME) -> dict[str, list[int] | None]:
    table = pl.read_parquet(run / "table.parquet")
    assert table.schema[column] == pl.List(pl.Int16)
    return {
        f"{question}: {text}": entry
        for question, text, entry in table.select("question", "response", column).iter_rows()
    }


def free_text(folder: Path, questions: int = 2, **columns: Any) -> Path:
    """A table of labelled free text."""
    rows = [
        {"question": f"q{i}", "response": f"{text} ({i})", "correct": "Paris" in text} | columns
        for i in range(questions)
        for text in TEXTS
    ]
    pl.DataFrame(rows).write_ndjson(folder / "texts.jsonl")
    return folder / "texts.jsonl"


def test_every_response_has_a_vector_and_nothing_is_asked_twice(tmp_path: Path, server: EmbeddingUpstream) -> None:
    run = small_run(tmp_path / "run", questions=5)
    result = scored(*options(run, server))
    assert (result["new"], result["failures"]) == (40, {})
    assert result["found"] == {"where": NAME, "served": "good", "dimensions": DIMENSIONS, "batch": BATCH}
    assert sorted(map(len, server.requests)) == [2, 8, BATCH], "the probe and two batches"
    assert scored(*options(run, server))["new"] == 0
    assert len(server.requests) == 3
    for name, stored in vectors(run).items():
        expected = np.array(vector(name.partition(": ")[2]))
        assert np.array(stored) == pytest.approx(expected / np.abs(expected).max() * 32767, abs=0.5001)
    line = max(map(len, (run / "journal.jsonl").read_bytes().splitlines()))
    assert line < 4 * DIMENSIONS + 300, "2.7 bytes per number"


def test_thoughts_are_not_embedded_and_a_response_without_more_is_empty(
    tmp_path: Path, server: EmbeddingUpstream
) -> None:
    table = tmp_path / "t.jsonl"
    responses = ["<think>Rome?</think>It is Paris.", "<think>It goes on", " "]
    pl.DataFrame({"question": ["a"] * 3, "response": responses}).write_ndjson(table)
    result = scored(*options(table, server))
    assert (result["new"], result["empty"], server.texts) == (1, 2, ["It is Paris."])


@pytest.mark.parametrize("kind", ["nan", "null", "zero", "text", "longer", "huge", "nested"])
def test_a_bad_vector_is_the_failure_of_its_response_alone(
    tmp_path: Path, server: EmbeddingUpstream, kind: str
) -> None:
    run = small_run(tmp_path / "run", questions=2, samples=5)
    reasons = {
        "nan": "the vector contains NaN or infinite values", "null": "the vector contains NaN or infinite values",
        "zero": "all numbers of the vector are 0", "longer": "the vector has 65 numbers instead of 64",
        "nested": "the vector is not a list of 1 to 65,536 numbers",
    }  # fmt: skip
    result = scored(*options(run, server, "--max-failures", 2, model=f"{kind}?the 3."))
    assert result["failures"] == {reasons.get(kind, "the vector is not a list of numbers"): 2}
    assert {name for name, stored in vectors(run).items() if stored is None} == {
        f"q{i}: We add the 3.\n\nThe answer is \\boxed{{{i + 2}}}." for i in range(2)
    }
    again = scored(*options(run, server, "--max-failures", 2, model=f"{kind}?the 3."))
    assert (again["new"], again["failures"].popitem()[1]) == (0, 2)
    assert len(server.texts) == 12, "only the failed ones were requested again"


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("kind", ["400", "500", "few"])
def test_a_request_that_fails_is_split_until_only_the_bad_text_fails(
    tmp_path: Path, server: EmbeddingUpstream, kind: str
) -> None:
    run = small_run(tmp_path / "run", questions=2)
    result = scored(*options(run, server, "--max-failures", 2, model=f"{kind}?the 6."))
    reason = "the reply has 0 embeddings for 1 texts, or their indices are wrong"
    reason = reason if kind == "few" else f"HTTP {kind}: the input is longer than 512 tokens"
    assert (result["new"], result["failures"]) == (14, {reason: 2})
    assert all((stored is None) == ("the 6." in name) for name, stored in vectors(run).items())


def test_a_server_that_takes_one_text_at_a_time_gets_one(tmp_path: Path, server: EmbeddingUpstream) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=4)
    assert scored(*options(run, server, model="one"))["found"]["batch"] == 1
    assert sorted(map(len, server.requests)) == [1, 1, 1, 1, 1, 2]


@pytest.mark.usefixtures("short_pauses")
def test_a_server_that_cannot_embed_is_one_line_with_the_fix(tmp_path: Path, server: EmbeddingUpstream) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=4)
    messages = {
        "words": "cannot embed texts: the reply contains no embeddings",
        "400": "HTTP 400: the input is longer than 512 tokens",
        "nan": "the vector contains NaN or infinite values; name an embedding model with --model",
    }
    for model, message in messages.items():
        assert message in refused(*options(run, server, model=model))
    elsewhere = ["score", run, "--verifier", NAME, "--upstream", f"{server.url}/x", "--model", "good"]
    assert "HTTP 404: no such path" in refused(*elsewhere)


def test_killed_or_interrupted_it_keeps_every_vector_and_asks_nothing_twice(
    tmp_path: Path, server: EmbeddingUpstream
) -> None:
    calm, run = (small_run(tmp_path / name, questions=20) for name in ("calm", "run"))
    scored(*options(calm, server))
    server.requests.clear()
    for number in (signal.SIGINT, signal.SIGKILL):
        server.allow(3)  # the probe and two batches
        before = len(journal(run, "score"))
        order, environment = command(*options(run, server))
        process = subprocess.Popen(order, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda goal=before + 2 * BATCH: len(journal(run, "score")) >= goal)  # type: ignore[misc]
        process.send_signal(number)
        process.communicate()
        assert len(journal(run, "score")) == before + 2 * BATCH
    server.requests.clear()
    server.allow(float("inf"))
    assert scored(*options(run, server))["new"] == 32
    assert len(server.texts) == 32
    assert vectors(run) == vectors(calm)
    keys = Counter((record["question"], record["sample"]) for record in journal(run, "score"))
    assert set(keys.values()) == {1}
    assert len(keys) == 160


def test_another_model_of_the_same_name_is_refused_on_resume(
    tmp_path: Path, server: EmbeddingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "run", questions=1, samples=4)
    order = options(run, server, "--max-failures", 1, model="nan?the 3.")
    scored(*order)
    monkeypatch.setattr(embedding_upstream, "DIMENSIONS", DIMENSIONS // 2)
    assert "have 64 numbers, and nan?the 3. now gives 32: serve the same model" in refused(*order)


def test_the_bill_counts_requests_and_tokens_and_the_estimate_covers_them(
    tmp_path: Path, server: EmbeddingUpstream
) -> None:
    run = small_run(tmp_path / "run", questions=5)
    price = ("--token-price", "verifier=1000000,1000000")
    estimate = scored(*options(run, server, *price, "--dry-run"))
    assert server.requests == []
    assert "more than --confirm-above 10" in refused(*options(run, server, *price, "--confirm-above", 10))
    assert server.requests == []
    spent = scored(*options(run, server, *price))["spent"]
    tokens = sum(len(text.split()) for text in server.texts)
    assert estimate["samples"] == 40
    assert estimate["requests"] == {"low": 2, "high": 40, "expected": 2}
    assert estimate["input_tokens"]["low"] <= tokens <= estimate["input_tokens"]["high"]
    bill = {"requests": 2, "samples": 40, "prompt_tokens": tokens, "completion_tokens": 0}
    status = scored("status", run, "--json")["spent"]["verifiers"][NAME]
    assert {name: status[name] for name in bill} == bill
    assert spent["cost"] == pytest.approx(tokens)


def test_vectors_are_never_read_as_scores(tmp_path: Path, server: EmbeddingUpstream) -> None:
    table = free_text(tmp_path)
    scored(*options(table, server, "--as", "e5"))
    run = tmp_path / "texts.scored"
    scored("score", run, "--verifier", NAME, "--upstream", server.url, "--model", "good", "--json")
    assert sy.read(run, answers="free").scores is None
    for name in ("e5", NAME):
        assert f"'{name}' contains embeddings, not scores" in refused("vote", run, "--score", name, "--answers", "free")
    own = pl.read_ndjson(table).with_columns(pl.Series("text_embedding", [vector(text) for text in TEXTS * 2]))
    assert sy.read(own, answers="free").scores is None
    assert sy.read(own.with_columns(prm=0.5), answers="free").origin.score == "prm"


def test_a_vote_by_embeddings_elects_the_response_that_most_others_resemble(
    tmp_path: Path, server: EmbeddingUpstream
) -> None:
    table = free_text(tmp_path)
    shown = steelyard(*[option for option in options(table, server) if option != "--json"])
    assert "Next: steelyard vote" in shown.out
    assert f"--answers free:cosine:{NAME}" in shown.out
    run, output = tmp_path / "texts.scored", tmp_path / "verdicts.parquet"
    done = steelyard("vote", run, "--answers", f"free:cosine:{NAME}", "--method", "majority", "-o", output)
    assert done.code == 0, done.err
    answers = pl.read_parquet(output)["answer"].to_list()
    for i in range(2):
        texts = [f"{text} ({i})" for text in TEXTS]
        sums = {text: sum(max(0.0, cosine(text, other)) for other in texts) for text in texts}
        assert answers[i] == max(texts, key=lambda text: sums[text])
    pool = sy.read(run, answers=f"free:cosine:{NAME}", score="none")
    assert pool.similarity is not None
    block = pool.similarity.block(0, 5)
    assert block == pytest.approx(
        np.array([[max(0.0, cosine(f"{a} (0)", f"{b} (0)")) for b in TEXTS] for a in TEXTS]), abs=1e-4
    )


def test_embeddings_of_your_own_are_compared_as_lists_or_json(tmp_path: Path) -> None:
    table = pl.read_ndjson(free_text(tmp_path)).with_columns(v=pl.Series([vector(text) for text in TEXTS * 2]))
    blocks = []
    for column in (
        pl.col("v"), pl.col("v").cast(pl.List(pl.Float32)), pl.col("v").cast(pl.Array(pl.Float32, DIMENSIONS)),
        pl.concat_str(pl.lit("["), pl.col("v").cast(pl.List(pl.String)).list.join(", "), pl.lit("]")),
    ):  # fmt: skip
        pool = sy.read(table.with_columns(column), answers="free:cosine:v", score="none")
        assert pool.similarity is not None
        blocks.append(pool.similarity.values)
    for block in blocks[1:]:
        assert block == pytest.approx(blocks[0], abs=1e-4)


def test_a_response_without_a_vector_resembles_only_equal_texts_and_a_refusal_does_not_vote() -> None:
    responses = ["Paris.", "In Paris.", "Rome.", "Rome.", "I don't know.", "[1, 0]"]
    entries = [[1.0, 0.0], [0.6, 0.8], None, None, [1.0, 0.0], None]
    table = pl.DataFrame({"question": ["a"] * 6, "response": responses, "v": entries})
    pool = sy.read(table, answers="free:cosine:v", score="none")
    assert pool.similarity is not None
    assert pool.answer.tolist() == [0, 1, 2, 2, -1, 3]
    expected = np.eye(4)
    expected[0, 1] = expected[1, 0] = 0.6
    assert pool.similarity.block(0, 4) == pytest.approx(expected, abs=1e-4)


def test_mistakes_with_embeddings_are_one_line_with_the_fix(
    tmp_path: Path, server: EmbeddingUpstream, upstream: FaultUpstream
) -> None:
    run, at = small_run(tmp_path / "run", questions=1, samples=2), ("--upstream", server.url)
    sampling = ("--upstream", upstream.url, "--model", "m", "--verifier", NAME)
    uneven = pl.DataFrame({"question": ["a", "a"], "response": ["x", "y"], "v": [[1.0], [1.0, 2.0]]})
    uneven.write_parquet(tmp_path / "uneven.parquet")
    score = ("score", run, "--verifier", NAME)
    mistakes = {
        "'ask' weighs by scores: use 'steelyard generate'": ("ask", "1 + 1?", *sampling),
        "needs a server with an embedding model": score,
        "name the embedding model that": (*score, *at),
        "needs all of them: omit --frugal": (*score, *at, "--model", "m", "--frugal", "exact", "--plan", "p.json"),
        "takes no criteria": (*score, *at, "--model", "m", "--criteria", __file__),
        "write free:column:NAME": ("vote", run, "--answers", "free:cosine"),
        "there is no column 'nowhere' to compare": ("vote", run, "--answers", "free:cosine:nowhere"),
        "vectors of 1 and of 2 numbers": ("vote", tmp_path / "uneven.parquet", "--answers", "free:cosine:v"),
    }
    for message, mistake in mistakes.items():
        assert message in refused(*mistake)
    assert server.requests == []


def test_a_damaged_vector_in_the_journal_is_one_line_with_the_fix(tmp_path: Path, server: EmbeddingUpstream) -> None:
    for number, damaged in enumerate(["!", "AAAA", "", [1], None]):
        run = small_run(tmp_path / str(number), questions=1, samples=2)
        record = {"kind": "score", "verifier": NAME, "question": "q0", "sample": 0, "vector": damaged}
        with Run.open(run, write=True) as opened:
            opened.add_now([record])
        message = refused(*options(run, server))
        assert "is not a record of a run (vector is" in message
        assert "sed -i 3d" in message
