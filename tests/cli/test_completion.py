"""Completion: what a shell offers for an unfinished command line, asked for as its script does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.cli import commands
from steelyard.sampling.verifiers import verifier_names
from tests.running import steelyard

HEAVY = ("polars", "numpy", "altair", "torch", "numba", "pydantic")


def offered(monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """The words that the script for bash reads."""
    words = line.split(" ")
    monkeypatch.setenv("_STEELYARD_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    done = steelyard()
    assert (done.code, done.err) == (0, "")
    return done.out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("steelyard ev", ["evaluate"]),
        ("steelyard vote --pl", ["--plan"]),
        ("steelyard fit t.parquet --method lo", ["logit"]),
        ("steelyard evaluate t.parquet --method majority,pl", ["majority,platt"]),
        ("steelyard methods best", ["best-of-majority", "best-of-n"]),
        ("steelyard vote t.parquet --answers yes", ["yes-no"]),
        ("steelyard vote t.parquet --layout lm", ["lm-eval"]),
        ("steelyard generate q.jsonl --prompt pl", ["plain"]),
        ("steelyard reproduce al", ["all"]),
        ("steelyard ask Who --upstream ", ["local"]),
        ("steelyard vote ", []),
        ("steelyard vote t", []),
        ("steelyard vote --plan p", []),
        ("steelyard --version vote --pl", ["--plan"]),
        ("steelyard vote -n many --pl", ["--plan"]),
    ],
)
def test_names_and_options_are_offered_and_nothing_for_a_file(
    monkeypatch: pytest.MonkeyPatch, line: str, words: list[str]
) -> None:
    assert offered(monkeypatch, line) == words


def test_all_verbs_verifiers_and_methods_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered(monkeypatch, "steelyard ") == list(commands())
    assert offered(monkeypatch, "steelyard score run --verifier ") == list(verifier_names())
    assert offered(monkeypatch, "steelyard fit t --method ") == list(sy.method_names())


@pytest.mark.parametrize("verb", ["vote", "fit", "evaluate", "answers", "plan-budget", "score", "import", "report"])
def test_bundled_tables_are_offered_after_other_files(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    line = f"steelyard {verb} a.jsonl grid:smol-misled/prm_s"
    assert offered(monkeypatch, line) == ["grid:smol-misled/prm_soft"]


def test_files_are_offered_beside_bundled_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grapes.parquet").touch()
    words = offered(monkeypatch, "steelyard evaluate g")
    assert (words[0], words[-1]) == ("grid:smol-much/prm_hard", "grapes.parquet")
    assert offered(monkeypatch, "steelyard compare a b --on gr")[-1] == "grapes.parquet"


def test_values_are_converted_after_a_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as completing:
        assert offered(completing, "steelyard simulate -o t.parquet --questions 3 --se") == ["--seed"]
    assert steelyard("simulate", "-o", tmp_path / "t.parquet", "--questions", "3").code == 0
    assert steelyard("simulate", "-o", tmp_path / "u.parquet", "--questions", "many").code == 2


def test_completing_a_verb_or_an_option_imports_nothing_heavy() -> None:
    code = (
        "import sys; from steelyard.cli import main\n"
        "try: main()\n"
        f"finally: print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    environment = {"_STEELYARD_COMPLETE": "complete_bash", "COMP_WORDS": "steelyard fit --meth", "COMP_CWORD": "2"}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | environment)
    assert (done.stdout.split(), done.stderr.split()) == (["--method"], [])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The command in a folder of its own, as an installed one is."""
    script = tmp_path / "bin" / "steelyard"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m steelyard "$@"\n')
    script.chmod(0o755)
    return script


def printed_by(shell: list[str], typed: str, program: Path) -> list[str]:
    """What a real shell prints that has our program on its path."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HOME": str(program.parent)}
    done = subprocess.run([*shell, "-c", typed], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("steelyard evaluate grid:smol-misled/prm_s", "grid:smol-misled/prm_soft"),
        ("steelyard vote FOLDER/ta", "FOLDER/table.csv"),
    ],
)
def test_fish_completes_names_and_files(program: Path, line: str, word: str) -> None:
    (program.parent / "table.csv").touch()
    folder = str(program.parent)
    typed = f"_STEELYARD_COMPLETE=source_fish steelyard | source\ncomplete -C '{line.replace('FOLDER', folder)}'"
    assert printed_by(["fish", "--no-config"], typed, program) == [word.replace("FOLDER", folder)]


def test_zsh_leaves_files_to_itself(program: Path) -> None:
    outside = "compdef() { :; }; _arguments() { print -- $2; }; _files() { print '(files)'; }"
    script = 'eval "$(_STEELYARD_COMPLETE=source_zsh steelyard)"'
    typed = f"{outside}\n{script}\nwords=(steelyard vote ta); CURRENT=$#words; _steelyard_completion"
    assert printed_by(["zsh", "-f"], typed, program) == ["(files)"]


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("evaluate grid : smol-misled/prm_s", "smol-misled/prm_soft"),  # bash splits words at colons
        ("fit --meth", "--method"),
        ("vote ta", ""),
    ],
)
def test_bash_completes_names_and_options_and_leaves_files_to_itself(program: Path, words: str, word: str) -> None:
    typed = (
        'eval "$(_STEELYARD_COMPLETE=source_bash steelyard)"\n'
        f"COMP_WORDS=(steelyard {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        "_steelyard_completion steelyard; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p steelyard"
    )
    assert printed_by(["bash"], typed, program) == [word, "complete -o default -F _steelyard_completion steelyard"]
