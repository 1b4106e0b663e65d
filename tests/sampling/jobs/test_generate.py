"""steelyard generate: every sample once, with its own seed; the ledger of the server is the oracle."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.journal_lines import Lines
from steelyard.runs.run import Run
from tests.fault_upstream.asked import text_of
from tests.running import steelyard
from tests.sampling.jobs.generating import SUFFIX, ask_for, generate, samples
from tests.upstreams import CANARY, FaultUpstream, command, fault_upstream
from tests.waiting import with_more_time

pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def test_every_sample_is_drawn_once_with_its_own_seed(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = generate(upstream, tmp_path, "good-1", "-n", 8, "--seed", 100)
    assert done.code == 0, done.err
    assert "24 of 24 samples" in done.out
    asked = upstream.asked("good-1")
    assert [(entry["n"], entry["seed"], entry["temperature"], entry["top_p"]) for entry in asked] == [
        (8, 100, 0.7, 0.9)
    ] * 3
    for (question, i), record in samples(tmp_path).items():
        prompt = f"{question[1:]} + 1?{SUFFIX}"
        assert record["response"] == text_of(prompt, 100 + i)
        assert record["seed"] == 100 + i
        assert (record["finish"], record["attempts"], record["model"]) == ("stop", 1, "good-1")
        assert record["tokens"] == len(record["response"].split())
        assert -0.4 < record["logprob"] < 0
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert table.height == 24
    assert table["correct"].null_count() == 0


def test_a_finished_run_asks_nothing_and_changes_nothing(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-2", "-n", 4)
    before = len(upstream.entries())
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "run").iterdir()}
    done = generate(upstream, tmp_path, "good-2", "-n", 4)
    assert done.code == 0
    assert "Nothing to sample: all 12 samples" in done.out
    assert len(upstream.entries()) == before
    after = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "run").iterdir()}
    assert {name: after.get(name) for name in files if name != "lock"} == {
        name: value for name, value in files.items() if name != "lock"
    }


def test_what_a_run_holds_is_told_from_memory_and_the_journal_is_read_once(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (done := tmp_path / "done", failing := tmp_path / "failing"):
        folder.mkdir()
    generate(upstream, done, "good-once", "-n", 4)
    words = ("fault:422?BAD", "-n", 4, "--max-failures", "100%", "--json")
    generate(upstream, failing, *words, bad=1)
    times = 0
    read = Lines.__iter__

    def counted(lines: Lines) -> Iterator[tuple[int, bytes]]:
        nonlocal times
        times += 1
        return read(lines)

    monkeypatch.setattr(Lines, "__iter__", counted)
    assert "all 12 samples" in generate(upstream, done, "good-once", "-n", 4).out
    assert times == 1
    told = json.loads(generate(upstream, failing, *words, bad=1).out)
    assert (told["wanted"], told["samples"], told["failed"]) == (12, 8, 4)
    assert list(told["reasons"].values()) == [4]
    assert times == 3  # once to go on, and once to make the table anew, as the journal has grown by the failures


def test_more_samples_are_added_to_those_there(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-3", "-n", 2)
    done = generate(upstream, tmp_path, "good-3", "-n", 5)
    assert done.code == 0, done.err
    assert set(upstream.samples("good-3").values()) == {1}
    assert len(samples(tmp_path)) == 15


def test_fan_out_asks_for_every_sample_by_itself(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "good-4", "-n", 5, "--fan-out", "--no-logprobs").code == 0
    asked = upstream.asked("good-4")
    assert sorted((entry["n"], entry["seed"]) for entry in asked if entry["prompt"].startswith("0")) == [
        (None, seed) for seed in range(5)
    ]
    assert {entry["logprobs"] for entry in asked} == {None}
    assert all(record["tokens"] for record in samples(tmp_path).values())  # counted by the server


def test_with_and_without_n_the_samples_are_the_same(upstream: FaultUpstream, tmp_path: Path) -> None:
    texts = []
    for i, words in enumerate([(), ("--fan-out",)]):
        folder = tmp_path / str(i)
        folder.mkdir()
        generate(upstream, folder, "good-5", "-n", 6, *words)
        texts.append({key: record["response"] for key, record in samples(folder).items()})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("model", "requests"), [("fault:no-n", 24), ("fault:slots@3", 9), ("fault:picky@n", 24)])
def test_a_server_without_n_is_asked_as_often_as_it_needs(
    upstream: FaultUpstream, tmp_path: Path, model: str, requests: int
) -> None:
    assert generate(upstream, tmp_path, model, "-n", 8).code == 0
    assert len(upstream.asked(model)) == requests
    assert set(upstream.samples(model).values()) == {1}
    assert len(samples(tmp_path)) == 24


def test_what_was_found_about_the_server_is_remembered(upstream: FaultUpstream, tmp_path: Path) -> None:
    model = "fault:slots@2"
    generate(upstream, tmp_path, model, "-n", 4)
    probes = len(upstream.asked(model, probes=True)) - len(upstream.asked(model))
    ask_for(tmp_path, 3)
    (tmp_path / "run" / "journal.jsonl").write_bytes(
        b"".join((tmp_path / "run" / "journal.jsonl").read_bytes().splitlines(keepends=True)[:-2])
    )
    assert generate(upstream, tmp_path, model, "-n", 4).code == 0
    assert len(upstream.asked(model, probes=True)) - len(upstream.asked(model)) == probes


def test_a_server_that_loses_n_midway_is_found_out(upstream: FaultUpstream, tmp_path: Path) -> None:
    """The probe sees n work; for the questions it is ignored, or has fewer slots."""
    for i, model in enumerate(("fault:no-n?1?", "fault:slots@2?1?")):
        folder = tmp_path / str(i)
        folder.mkdir()
        done = generate(upstream, folder, model, "-n", 6)
        assert done.code == 0, done.err
        assert len(samples(folder)) == 18


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--max-failures", "many"), "cannot read --max-failures 'many'"),
        (("--temperature", "nan"), "temperature"),
        (("-n", 0), "-n must be between 1 and"),
        (("--prompt", "no-such"), "no prompt 'no-such'"),
        (("--answers", "no-such"), "no-such"),
        (("--key-env", "NO_SUCH_KEY"), "the environment variable named by --key-env is not set"),
    ],
)
def test_a_mistake_in_the_words_makes_no_run(
    upstream: FaultUpstream, tmp_path: Path, words: tuple[object, ...], says: str
) -> None:
    done = generate(upstream, tmp_path, "good", *words)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / "run").exists()


def test_a_model_must_be_named(upstream: FaultUpstream, tmp_path: Path) -> None:
    done = steelyard("generate", ask_for(tmp_path, 1), "--upstream", upstream.url, "-o", tmp_path / "run")
    assert done.code == 2
    assert "--model" in done.err


def test_other_settings_are_refused_and_fork_starts_a_run_beside(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-6", "-n", 2)
    done = generate(upstream, tmp_path, "good-6", "-n", 2, "--temperature", 1)
    assert done.code == 2
    assert "params.temperature" in done.err
    assert "--fork" in done.err
    done = generate(upstream, tmp_path, "good-6", "-n", 2, "--temperature", 1, "--fork", tmp_path / "other")
    assert done.code == 0, done.err
    assert Run.open(tmp_path / "other").manifest.params["temperature"] == 1


def test_a_run_in_which_nothing_was_drawn_may_get_other_settings(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "fault:404", "-n", 2).code == 2
    done = generate(upstream, tmp_path, "good-11", "-n", 1, "--seed", 3)
    assert done.code == 0, done.err
    with Run.open(tmp_path / "run") as run:
        assert (run.manifest.model, run.manifest.n, run.manifest.seed) == ("good-11", 1, 3)


def test_a_fork_with_more_questions_asks_only_for_those(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-10", "-n", 2, count=2)
    done = generate(upstream, tmp_path, "good-10", "-n", 2, "--fork", tmp_path / "other", count=5)
    assert done.code == 0, done.err
    assert "10 of 10 samples (6 samples now" in done.out
    assert set(upstream.samples("good-10").values()) == {1}


def test_the_questions_that_are_asked_are_part_of_the_run(upstream: FaultUpstream, tmp_path: Path) -> None:
    generate(upstream, tmp_path, "good-7", "-n", 1)
    done = generate(upstream, tmp_path, "good-7", "-n", 1, "--limit", 2)
    assert done.code == 2
    assert "questions_sha256" in done.err


def test_choices_are_asked_for_and_read_as_choices(upstream: FaultUpstream, tmp_path: Path) -> None:
    row = {"question": "Which?", "options": ["x", "y"], "answer": "B", "category": "law", "question_id": 7}
    path = tmp_path / "mmlu.jsonl"
    path.write_text(json.dumps(row))
    words = ("--upstream", upstream.url, "--model", "good-8", "-n", 1, "-o", tmp_path / "run")
    done = steelyard("generate", path, *words)
    assert done.code == 0, done.err
    assert upstream.asked("good-8")[0]["prompt"].startswith("Which?\n\nOptions:\nA. x\nB. y\n\nThink step by step")
    assert Run.open(tmp_path / "run").manifest.answers == "choice"


def test_golds_in_words_make_a_run_whose_answers_are_read_as_words(upstream: FaultUpstream, tmp_path: Path) -> None:
    path = tmp_path / "capitals.jsonl"
    rows = [{"question": f"q{i}", "prompt": "Which city?", "gold": gold} for i, gold in enumerate(("Rome", "Oslo"))]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--upstream", upstream.url, "--model", "good-9", "-n", 2, "-o", tmp_path / "run")
    done = steelyard("generate", path, *words)
    assert (done.code, "answers are read as text: 2 of 2 golds are words" in done.err) == (0, True), done.err
    assert Run.open(tmp_path / "run").manifest.answers == "text"
    assert sy.read(tmp_path / "run", score="none").origin.answers == "text"
    named = steelyard("generate", path, *words[:-1], tmp_path / "named", "--answers", "exact")
    assert (named.code, Run.open(tmp_path / "named").manifest.answers) == (0, "exact")


def test_json_is_one_object(upstream: FaultUpstream, tmp_path: Path) -> None:
    words = ("-n", 2, "--json", "--max-failures", "50%")
    found = json.loads(generate(upstream, tmp_path, "fault:html?BAD", *words, bad=1).out)
    assert (found["wanted"], found["samples"], found["failed"], found["stopped"]) == (6, 4, 2, False)
    assert found["reasons"] == {"the reply is HTML": 2}
    assert found["again"].startswith("steelyard generate ")


def test_a_log_has_plain_lines_now_and_then(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.cli.progress_display.QUIET", 0.0)

    def check(seconds: float) -> None:
        (tmp_path / str(seconds)).mkdir()
        done = generate(upstream, tmp_path / str(seconds), f"fault:429@{seconds}!?BAD", "-n", 2, count=20, bad=1)
        assert done.code == 0, done.err
        assert re.search(
            r"^Sampling: \d+/40, [\d.,]+ samples/s, [\d,]+ tokens/s, the server is busy, waiting \d+ s$", done.err, re.M
        )

    with_more_time(check, 1.0)


def test_text_no_file_can_hold_is_mended_and_kept(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "fault:surrogate", "-n", 1).code == 0
    table = pl.read_parquet(tmp_path / "run" / "table.parquet")
    assert table["answer"].to_list() == ["3"] * 3
    assert "\ufffd" in table["response"][0]


def test_many_samples_at_temperature_0_are_worth_a_warning(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert "at temperature 0" in generate(upstream, tmp_path, "good-9", "-n", 2, "--temperature", 0).err


def test_no_key_is_in_any_file_or_line(tmp_path: Path) -> None:
    """The server echoes the key wherever it can: in samples, names and messages."""
    said = ""
    with fault_upstream(tmp_path) as upstream:
        for i, model in enumerate(
            ["good", "fault:echo?1?", "fault:422?BAD", "fault:500?BAD", "fault:401", "fault:429@0!?BAD",
             "fault:redirect", "fault:echo-escaped?1?", "fault:echo-error?1?", "fault:echo", "fault:echo-error"]
        ):  # fmt: skip
            options: tuple[object, ...] = (
                "generate", ask_for(tmp_path, 2, bad=1), "--upstream", upstream.url, "--model", model, "-n", 2,
                "--max-failures", "100%", "-o", tmp_path / f"run{i}",
            )  # fmt: skip
            done = steelyard(*options)
            said += done.out + done.err
        words, environment = command(*options[:-1], tmp_path / "debugged")
        noisy = environment | {"PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1"}
        debugged = subprocess.run(words, env=noisy, capture_output=True, text=True, check=False)
        said += debugged.stdout + debugged.stderr
        assert all(entry["keyed"] for entry in upstream.entries())
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "ledger.jsonl"]
    assert len(files) > 15
    for path in files:
        assert CANARY.encode() not in path.read_bytes(), path
        if path.suffix == ".parquet":
            assert CANARY not in pl.read_parquet(path).write_json()
    assert CANARY not in said
    for i in (1, 7):
        with Run.open(tmp_path / f"run{i}") as run:
            assert set(run.state.samples.failed.values()) == {
                "the reply contains the API key: it is not kept; the server echoes request headers"
            }


@pytest.mark.parametrize("key", ["x", "0", "1", "none", "test", "answer", "The answer is"[:3]])
def test_a_short_key_changes_no_response(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    model = f"short-{key}"
    assert generate(upstream, tmp_path, model, "-n", 2, count=2).code == 0
    for (question, i), record in samples(tmp_path).items():
        assert record["response"] == text_of(f"{question[1:]} + 1?{SUFFIX}", i)
        assert record["model"] == model


def test_a_key_given_as_the_name_of_its_variable_is_not_shown(upstream: FaultUpstream, tmp_path: Path) -> None:
    for pasted in ("skcanary3f9a1c77e2abcdef", CANARY):
        for words in (("generate", ask_for(tmp_path, 1), "-o", tmp_path / "run"), ("ask", "1 + 1?"), ("doctor",)):
            done = steelyard(*words, "--upstream", upstream.url, "--model", "m", "--key-env", pasted)
            assert done.code == 2
            assert pasted not in done.out + done.err
        assert pasted not in steelyard("doctor", "--key-env", pasted).out


def test_the_name_of_a_model_is_cut(upstream: FaultUpstream, tmp_path: Path) -> None:
    assert generate(upstream, tmp_path, "fault:long-name", "-n", 1, count=1).code == 0
    assert {record["model"] for record in samples(tmp_path).values()} == {"m" * 200}


def test_a_terminal_shows_a_bar_with_rate_and_time_left(tmp_path: Path) -> None:
    with fault_upstream(tmp_path, delay=0.1) as upstream:
        words, environment = command(
            "generate", ask_for(tmp_path, 40), "--upstream", upstream.url, "--model", "m", "-n", 2, "--concurrency", 4,
            "-o", tmp_path / "run",
        )  # fmt: skip
        parent, child = pty.openpty()
        environment |= {"TERM": "xterm-256color", "COLUMNS": "120"}
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=child)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:
            pass
        os.close(parent)
        assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode("utf-8", "replace"))
    assert re.search(r"Sampling .*\d+/80, [\d.]+ samples/s, [\d,]+ tokens/s, about \d+ s left", text)


def test_help_imports_no_http(tmp_path: Path) -> None:
    code = "import steelyard.cli, sys; print([m for m in ('aiohttp', 'asyncio', 'polars') if m in sys.modules])"
    _, environment = command()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "aiohttp" not in done.stdout
