"""steelyard.toml and STEELYARD_*: what goes before what, what is refused, and that it is told."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a file of responses that has two scores."""
    monkeypatch.chdir(tmp_path)
    table = sy.simulate(60, 4, seed=3).with_columns(a=pl.col("score"), b=1 - pl.col("score")).drop("score")
    sy.write(table, tmp_path / "t.parquet")
    return tmp_path


def score_of(*words: str) -> str:
    done = steelyard("fit", "t.parquet", "--method", "vanilla", "--json", *words)
    assert done.code == 0, done.err
    return str(json.loads(done.out)["score"])


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "steelyard.toml").write_text('score = "a"\n')
    assert score_of() == "a"
    monkeypatch.setenv("STEELYARD_SCORE", "b")
    assert score_of() == "b"
    assert score_of("--score", "a") == "a"
    monkeypatch.setenv("STEELYARD_FIT_SCORE", "a")
    assert score_of() == "a"


def test_a_table_of_a_verb_goes_before_what_is_said_for_all(folder: Path) -> None:
    (folder / "steelyard.toml").write_text('score = "a"\n[verbs.fit]\nscore = "b"\nmethod = "majority"\nn = 2\n')
    assert score_of() == "b"
    found = json.loads(steelyard("fit", "t.parquet", "--json").out)
    assert (found["method"], found["n"]) == ("majority", 2)


def test_what_the_file_adds_is_told_and_nothing_else(folder: Path) -> None:
    (folder / "steelyard.toml").write_text('score = "a"\nupstream = "http://127.0.0.1:1"\n')
    done = steelyard("vote", "t.parquet", "--method", "vanilla")
    assert done.err.splitlines()[0] == "From steelyard.toml: score = a"
    assert "From" not in steelyard("vote", "t.parquet", "--method", "vanilla", "--score", "b").err


def test_a_required_option_may_stand_in_the_file(folder: Path) -> None:
    (folder / "steelyard.toml").write_text('upstream = "ftp://x"\nmodel = "m"\n')
    assert "must begin with http" in steelyard("ask", "How many?").err


def test_several_upstreams_may_stand_in_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_A", "sk-a-0123456789")
    monkeypatch.setenv("STEELYARD_KEY_ENV", "a=KEY_A,c=KEY_A")
    (folder / "steelyard.toml").write_text('upstream = "a=ftp://x,b=ftp://y"\n')
    assert "--key-env names a variable for no upstream" in steelyard("ask", "How many?").err
    monkeypatch.setenv("STEELYARD_KEY_ENV", "a=KEY_A")
    (folder / "steelyard.toml").write_text('upstream = "a=http://127.0.0.1:9,b=ftp://y"\n')
    assert "must begin with http" in steelyard("ask", "How many?").err


def test_the_server_of_the_llm_is_not_that_of_a_verifier(folder: Path) -> None:
    (folder / "steelyard.toml").write_text('upstream = "http://127.0.0.1:1"\n')
    assert "choose where qwen-prm runs" in steelyard("score", folder, "--verifier", "qwen-prm").err
    (folder / "steelyard.toml").write_text('[verbs.score]\nupstream = "ftp://x"\n')
    assert "must begin with http" in steelyard("score", folder, "--verifier", "qwen-prm").err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('upstraem = "local"', "unknown key 'upstraem' in steelyard.toml: did you mean 'upstream'?"),
        ("temperature = true", "temperature in steelyard.toml must be a number, not True"),
        ('temperature = "hot"', "temperature in steelyard.toml must be a number, not 'hot'"),
        ("seed = 1.5", "seed in steelyard.toml must be an integer, not 1.5"),
        ("score = 3", "score in steelyard.toml must be a string, not 3"),
        ("rename = [1]", "rename in steelyard.toml must be a list of strings, not [1]"),
        ("n = 3", "'n' in steelyard.toml is not an option of every command: put it under [verbs."),
        ("verbs = 3", "'verbs' in steelyard.toml must contain tables"),
        ("[verbs.fti]\nn = 3", "unknown command 'fti' in [verbs.fti] of steelyard.toml: did you mean 'fit'?"),
        (
            "[verbs.fit]\nmethods = 'logit'",
            "unknown key 'methods' in [verbs.fit] of steelyard.toml: did you mean 'method'",
        ),
        ("[verbs.fit]\njson = true", "unknown key 'json' in [verbs.fit]"),
        ("score", "steelyard.toml is not TOML"),
        ('api-key = "abc"', "'api-key' in steelyard.toml looks like a secret"),
        ('token = "abc"', "'token' in steelyard.toml looks like a secret"),
        ('key-env = "sk-abcdefghijklmnopqrstuvwxyz"', "the value of key-env in steelyard.toml looks like a secret"),
        ('model = "sk-proj-abcdefghijklmnopqrstuvwxyz"', "the value of model in steelyard.toml looks like a secret"),
        ('upstream = "http://me:pass@host/v1"', "the value of upstream in steelyard.toml looks like a secret"),
    ],
)
def test_what_cannot_stand_in_the_file_is_one_line(folder: Path, text: str, says: str) -> None:
    (folder / "steelyard.toml").write_text(text + "\n")
    done = steelyard("fit", "t.parquet")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert says in done.err
    assert "abcdefghij" not in done.err
    assert "pass@" not in done.err


def test_a_file_that_cannot_be_read_is_one_line(folder: Path) -> None:
    (folder / "steelyard.toml").mkdir()
    assert "error: cannot read steelyard.toml" in steelyard("fit", "t.parquet").err


def test_a_variable_of_a_wrong_type_is_refused_and_one_misspelt_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_SCOER", "a")
    assert "note: unknown environment variable STEELYARD_SCOER: did you mean STEELYARD_SCORE?" in (
        steelyard("methods").err
    )
    monkeypatch.setenv("STEELYARD_SEED", "one")
    done = steelyard("fit", "t.parquet")
    assert (done.code, "seed in $STEELYARD_SEED must be an integer, not 'one'" in done.err) == (2, True)


def test_the_doctor_shows_the_file_and_the_values_in_force(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"no {folder / 'steelyard.toml'}" in steelyard("doctor").out
    (folder / "steelyard.toml").write_text('score = "a"\n[verbs.fit]\nn = 2\n')
    monkeypatch.setenv("STEELYARD_ANSWERS", "number")
    shown = steelyard("doctor").out
    for line in (
        f"{folder / 'steelyard.toml'}: score = a",
        "[verbs.fit] of",
        "n = 2",
        "$STEELYARD_ANSWERS: answers = number",
    ):
        assert line in shown


ASK = ("ask", "How many?", "--model", "m", "-n", "1")
GENERATE = ("generate", "questions.jsonl", "-o", "run")


@pytest.mark.parametrize("where", ["https://evil.test/v1", "http://127.0.0.1.evil.test", "http://10.0.0.8:8000/v1"])
def test_the_file_alone_sends_nothing_to_another_machine(
    folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-3f9a1c77e2")
    (folder / "steelyard.toml").write_text(f'upstream = "{where}"\n')
    for words in (ASK, GENERATE, ("doctor",)):
        done = steelyard(*words)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"--upstream {where}, or trust the host permanently with export STEELYARD_TRUSTED=" in done.err
    (folder / "steelyard.toml").write_text(f'[verbs.score]\nupstream = "{where}"\n')
    assert "would send your prompts and your key" in steelyard("score", "t.parquet", "--verifier", "p-true").err


@pytest.mark.parametrize(
    "value", ['"a=http://127.0.0.1:1,b=https://evil.test/v1"', '["a=http://127.0.0.1:1", "b=https://evil.test/v1"]']
)
def test_nor_does_one_of_several_upstreams_in_the_file(folder: Path, value: str) -> None:
    (folder / "steelyard.toml").write_text(f"[verbs.ask]\nupstream = {value}\n[verbs.generate]\nupstream = {value}\n")
    for words in (ASK, GENERATE):
        done = steelyard(*words)
        assert (done.code, done.out) == (2, "")
        assert "would send your prompts and your key to evil.test: " in done.err


def test_a_server_that_the_user_names_or_trusts_may_be_any(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "steelyard.toml").write_text('upstream = "https://nowhere.test/v1"\n')
    assert "would send" not in steelyard(*ASK, "--upstream", "http://127.0.0.1:1").err
    monkeypatch.setenv("STEELYARD_TRUSTED", "other.test, nowhere.test")
    assert "no such file: questions.jsonl" in steelyard(*GENERATE, "--model", "m").err
    monkeypatch.delenv("STEELYARD_TRUSTED")
    monkeypatch.setenv("STEELYARD_UPSTREAM", "http://127.0.0.1:1")
    assert "would send" not in steelyard(*ASK).err


@pytest.mark.parametrize("where", ["http://127.0.0.1:1", "http://localhost:1/v1", "http://[::1]:1"])
def test_a_server_on_this_machine_may_stand_in_the_file(folder: Path, where: str) -> None:
    (folder / "steelyard.toml").write_text(f'upstream = "{where}"\nmodel = "m"\n')
    assert "no such file: questions.jsonl" in steelyard(*GENERATE).err
