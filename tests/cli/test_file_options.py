"""A downloaded folder: what its steelyard.toml may set, and that no code of the folder is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.cli import commands
from steelyard.cli.config_safety import ALLOWED, CHECKED, HARMLESS
from steelyard.cli.verbs import kinds_of, options
from tests.running import steelyard

REFUSED = {
    "access-log": "writes a file",
    "allow-field": "lifts the cap on the cost",
    "allow-host": "lets requests in under another name",
    "cap": "lifts the limits of the gateway",
    "confirm-above": "lifts the limit on what is spent without a question",
    "criteria": "reads a file whose text is sent",
    "dry-run": "keeps a command from doing its work",
    "engine": "runs the work on another machine",
    "feedback": "stores votes in a folder",
    "fork": "writes a folder",
    "grid": "reads a folder",
    "host": "opens the gateway to the network",
    "keep-texts": "stores prompts and responses",
    "key-env": "chooses which secret is sent",
    "key-file": "chooses which keys are accepted",
    "local": "loads the weights of a model",
    "on": "reads a file",
    "plan": "reads a file",
    "port": "opens a port",
    "probe": "spends money",
    "token-price": "lifts the cap on the cost",
    "unlabelled": "reads a file",
    "unsafe-no-key": "opens the gateway without a key",
    "verifier-key-env": "chooses which secret is sent",
    "verifier-local": "loads the weights of a model",
    "verifier-model": "names a folder or hub repository to load",
}
OPTIONS = [(verb, option) for verb, command in commands().items() for option in options(command)]


def value_of(verb: str, option: str) -> str:
    """A harmless value of the type that an option takes, as a variable of the environment has it."""
    command: Any = commands()[verb]
    kind, _ = kinds_of(command)[options(command)[option].name]
    texts = {"upstream": "local", "verifier-upstream": "local", "prompt": "math", "pair": "grid:a/b"}
    return {bool: "true", int: "3", float: "0.5", str: texts.get(option, "x")}[kind]


def test_every_option_is_either_allowed_with_a_reason_or_refused() -> None:
    names = {option for _, option in OPTIONS}
    assert REFUSED.keys() & ALLOWED == set()
    assert REFUSED.keys() | ALLOWED == names
    listed = [option for text in HARMLESS.values() for option in text.split()] + list(CHECKED)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(("verb", "option"), OPTIONS)
def test_the_file_sets_the_allowed_options_only(
    verb: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value = value_of(verb, option)
    text = value if value in ("true", "3", "0.5") else f'"{value}"'
    Path("steelyard.toml").write_text(f"[verbs.{verb}]\n{option} = {text}\n")
    done = steelyard("methods")
    if option not in REFUSED and (verb, option) != ("score", "model"):
        assert done.code == 0, done.err
        return
    variable = f"STEELYARD_{verb}_{option}".replace("-", "_").upper()
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"[verbs.{verb}] of steelyard.toml sets {option}, which a file" in done.err
    assert f"give --{option} on the command line or set {variable}" in done.err
    Path("steelyard.toml").unlink()
    monkeypatch.setenv(variable, value)
    assert steelyard("methods").code == 0


@pytest.mark.parametrize(
    "text",
    [
        '[verbs.serve]\nhost = "0.0.0.0"\nunsafe-no-key = true\nkeep-texts = true',
        '[verbs.vote]\nengine = "ray:10.0.0.1:6379"',
        'key-env = "AWS_SECRET_ACCESS_KEY"',
        'prompt = "/etc/passwd"',
        '[verbs.demo]\npair = "s3://bucket/a.parquet"',
        '[verbs.score]\nmodel = "somebody/weights"',
    ],
)
def test_a_file_that_opens_or_sends_or_reads_is_refused_by_every_verb(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("steelyard.toml").write_text(text + "\n")
    for arguments in (("serve", "--upstream", "http://127.0.0.1:1"), ("vote", "t.parquet"), ("demo",), ("doctor",)):
        done = steelyard(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert "which a file in the working directory may not set" in done.err


def test_a_settings_file_that_is_endless_or_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("steelyard.toml")
    assert "cannot read steelyard.toml: it is not a file" in steelyard("methods").err
    Path("steelyard.toml").unlink()
    Path("steelyard.toml").symlink_to("/dev/zero")
    assert "cannot read steelyard.toml: it is not a file" in steelyard("methods").err
    Path("steelyard.toml").unlink()
    Path("steelyard.toml").write_text("#" * (2 << 20))
    done = steelyard("methods")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "it is larger than 1,048,576 bytes" in done.err


MAIN = "from steelyard.__main__ import main; main()"
DECIDE = """
from steelyard.answers.equivalence import EquivalenceChecker
with EquivalenceChecker() as checker:
    assert checker.decide([(r"\\cos{x}+0", r"\\cos(x)")]) == [True]
"""


@pytest.mark.parametrize(
    ("code", "arguments"), [(MAIN, ["vote", "parts", "--engine", "processes:1", "-o", "out"]), (DECIDE, [])]
)
def test_the_processes_of_a_command_import_nothing_from_the_working_directory(
    code: str, arguments: list[str], tmp_path: Path
) -> None:
    def run(code: str, *arguments: str) -> None:
        command = [sys.executable, "-P", "-c", code, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    sy.write(sy.simulate(4, 2, seed=1), tmp_path / "t.parquet")
    run(MAIN, "partition", "t.parquet", "-o", "parts", "--parts", "1")
    for name in ("multiprocessing", "json", "polars"):
        (tmp_path / f"{name}.py").write_text("from pathlib import Path; Path('imported').touch()")
    run(code, *arguments)
    assert not (tmp_path / "imported").exists()
