"""Completion: what the words of an unfinished line may become, and that bash gets it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.cli import commands
from steelyard.cli.completing import completions
from steelyard.sampling.verifiers import verifier_names
from tests.running import steelyard

VERBS = commands()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("steelyard ev", ["evaluate"]),
        ("steelyard vote --pl", ["--plan"]),
        ("steelyard fit t.parquet --method lo", ["logit"]),
        ("steelyard evaluate t.parquet --method majority,pl", ["majority,platt"]),
        ("steelyard fit --method=li", ["--method=linear"]),
        ("steelyard methods best", ["best-of-n"]),
        ("steelyard completion f", ["fish"]),
        ("steelyard ask 'Who' --upstream ", ["local"]),
        ("steelyard vote ", []),
        ("steelyard vote t", []),
        ("steelyard vote --plan p", []),
        ("steelyard nothing ", []),
        ("steelyard fit 'open --meth", ["--method"]),
    ],
)
def test_what_a_word_may_become(line: str, words: list[str]) -> None:
    assert completions(line, VERBS) == words


def test_verbs_verifiers_and_methods_are_all_offered() -> None:
    assert completions("steelyard ", VERBS) == [*VERBS, "--help", "--version"]
    assert completions("steelyard score run --verifier ", VERBS) == list(verifier_names())
    assert completions("steelyard fit t --method ", VERBS) == list(sy.method_names())


def test_names_of_the_grid_stand_beside_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grapes.parquet").touch()
    assert "grid:smol-misled/prm_soft" in completions("steelyard evaluate grid:smol-m", VERBS)
    found = completions("steelyard evaluate g", VERBS)
    assert found[0] == "grid:smol-much/prm_hard"
    assert found[-1] == "grapes.parquet"
    assert completions("steelyard compare a b --on gr", VERBS)[-1] == "grapes.parquet"


def test_hidden_options_are_not_offered() -> None:
    assert "--reserve" not in completions("steelyard fit --", VERBS)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The command in a folder of its own, as an installed one is."""
    made = tmp_path / "bin" / "steelyard"
    made.parent.mkdir()
    made.write_text(f'#!/bin/sh\nexec {sys.executable} -m steelyard "$@"\n')
    made.chmod(0o755)
    return made


def _shown_by(shell: list[str], typed: str, program: Path) -> list[str]:
    """What a real shell prints that finds our program first."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HOME": str(program.parent)}
    done = subprocess.run([*shell, "-c", typed], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("steelyard evaluate grid:smol-misled/prm_s", "grid:smol-misled/prm_soft"),
        ("steelyard fit --meth", "--method"),
        ("steelyard vote FOLDER/ta", "FOLDER/table.csv"),
    ],
)
def test_fish_completes_names_options_and_files(program: Path, line: str, found: str) -> None:
    (program.parent / "table.csv").touch()
    folder = str(program.parent)
    typed = f"{steelyard('completion', 'fish').out}\ncomplete -C '{line.replace('FOLDER', folder)}'"
    assert _shown_by(["fish", "--no-config"], typed, program) == [found.replace("FOLDER", folder)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("evaluate grid:smol-misled/prm_s", "grid:smol-misled/prm_soft"),
        ("fit --meth", "--method"),
        ("vote ta", "(files)"),
    ],
)
def test_zsh_completes_names_and_options_and_leaves_files_to_itself(program: Path, words: str, found: str) -> None:
    outside = "compdef() { :; }; compadd() { print -l -- ${(P)2}; }; _files() { print '(files)'; }"
    script = steelyard("completion", "zsh").out
    typed = f"{outside}\n{script}\nwords=(steelyard {words}); CURRENT=$#words; _steelyard"
    assert _shown_by(["zsh", "-f"], typed, program) == [found]


def test_bash_completes_a_name_with_a_colon(program: Path) -> None:
    script = steelyard("completion", "bash").out
    line = "steelyard evaluate grid:smol-misled/prm_s"
    typed = (
        f"{script}\nCOMP_LINE='{line}'; COMP_POINT={len(line)}\n"
        "COMP_WORDS=(steelyard evaluate grid : smol-misled/prm_s)\n"
        f"COMP_CWORD=4; _steelyard {program}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    assert _shown_by(["bash"], typed, program) == ["smol-misled/prm_soft"]


def test_every_shell_has_a_script_and_others_are_refused() -> None:
    for shell in ("bash", "zsh", "fish"):
        found = json.loads(steelyard("completion", shell, "--json").out)
        assert found["shell"] == shell
        assert found["script"] + "\n" == steelyard("completion", shell).out
        assert "_STEELYARD_COMPLETE" in found["script"]
    assert "did you mean 'zsh'" in steelyard("completion", "zhs").err
