"""Without the extra [report], whatever draws charts says what to install before it starts, and the rest works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = "pip install 'steelyard[report]'"
COMMAND_LINE = "from steelyard.__main__ import main; main()"


def without(module: str, program: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a new process in which a module cannot be imported."""
    hidden = f"import sys; sys.modules[{module!r}] = None; {program}"
    return subprocess.run(
        [sys.executable, "-c", hidden, *words], capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.mark.parametrize(("module", "package"), [("altair", "altair"), ("vl_convert", "vl-convert-python")])
@pytest.mark.parametrize(
    "words",
    [
        ("report", "no-such-file.parquet", "-o", "made"),
        ("reproduce", "fig-offset", "--grid", "no-such-folder", "-o", "made"),
        ("reproduce", "all", "--quick", "-o", "made"),
    ],
)
def test_a_verb_that_draws_ends_in_one_line_before_it_reads_or_writes(
    tmp_path: Path, module: str, package: str, words: tuple[str, ...]
) -> None:
    done = without(module, COMMAND_LINE, *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: charts need {package}: {INSTALL}\n"
    assert not list(tmp_path.iterdir())


def test_plot_says_what_to_install_before_it_looks_at_its_argument(tmp_path: Path) -> None:
    done = without("altair", "import steelyard as sy; sy.plot(None)", folder=tmp_path)
    assert done.stderr.splitlines()[-1].endswith(f"SettingError: charts need altair: {INSTALL}")


@pytest.mark.parametrize(
    "subject",
    [
        "sy.VanillaVote()",
        "sy.MajorityVote().predict(sy.Pool.from_arrays(question=[0], answer=[4]))",
        "sy.evaluation.EvaluationTable({'n': [1]})",
    ],
)
def test_a_plot_method_says_what_to_install(tmp_path: Path, subject: str) -> None:
    done = without("altair", f"import steelyard as sy; {subject}.plot()", folder=tmp_path)
    assert done.stderr.splitlines()[-1].endswith(f"SettingError: charts need altair: {INSTALL}")


def test_no_public_name_loads_an_optional_package(tmp_path: Path) -> None:
    optional = {"altair", "vl_convert", "torch", "steelyard.sampling.verifiers.runners.packed_attention"}
    program = (
        f"import steelyard as sy; [getattr(sy, name) for name in sy.__all__]; print({optional} & set(sys.modules))"
    )
    assert without("ray", program, folder=tmp_path).stdout == "set()\n"


@pytest.mark.long
def test_the_other_verbs_work_without_charts(tmp_path: Path) -> None:
    commands = [
        "simulate --questions 60 -n 8 -o t.parquet",
        "evaluate t.parquet --resamples 2 -n 8 --method majority,logit",
        "fit t.parquet --method logit -o plan.json",
        "vote t.parquet --plan plan.json -o verdicts.parquet",
        "compare t.parquet --method logit,majority",
        "answers t.parquet",
        "reproduce grid --quick --no-cache -o tables",
    ]
    program = """
from steelyard.cli import main
for command in sys.argv[1:]:
    sys.argv = ["steelyard", *command.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(f"{command}: {end.code}")
"""
    done = without("altair", program, *commands, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tables" / "grid.md").exists()


@pytest.mark.long
@pytest.mark.parametrize("as_json", [False, True])
def test_the_demo_does_all_but_the_report(tmp_path: Path, as_json: bool) -> None:
    done = without("altair", COMMAND_LINE, "demo", "-o", "demo", *["--json"] * as_json, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"error: charts need altair: {INSTALL}"
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"plan.json", "verdicts.parquet"}
    verbs = ["evaluate", "fit", "vote"]
    if as_json:
        assert [step["command"].split()[1] for step in json.loads(done.stdout)["steps"]] == verbs
    else:
        assert all(f"$ steelyard {verb} " in done.stdout for verb in verbs)
        assert "steelyard report" not in done.stdout
