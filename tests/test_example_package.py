"""The example package, installed beside Steelyard: everything that it adds is found and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.runs.runs_small import small_run

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "steelyard-example"
PAIRS = sy.simulate(60, 8, seed=0)

pytestmark = pytest.mark.long  # every command is a process


def install(source: Path, target: Path) -> None:
    """Do what pip would: copy the package, and write down its name and its entry points beside it."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    package = project["name"].replace("-", "_")
    shutil.copytree(source / "src" / package, target / package, ignore=shutil.ignore_patterns("__pycache__"))
    about = target / f"{package}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        [f"[{group}]", *(f"{k} = {v}" for k, v in points.items())] for group, points in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(line for group in groups for line in group))


class Installed:
    """A folder in which a Python with Steelyard and the example package runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        install(EXAMPLE, folder / "site")
        places = (folder / "site", Path(sy.__file__).parents[1], ROOT)
        self.environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))}
        sy.write(PAIRS, folder / "t.parquet")

    def python(self, *words: object) -> str:
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=self.folder, env=self.environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def steelyard(self, *words: object) -> str:
        return self.python("-m", "steelyard", *words)

    def json(self, *words: object) -> Any:
        return json.loads(self.steelyard(*words, "--json"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def fitted(installed: Installed) -> dict[str, Any]:
    """What `fit` says of the example's method; its plan is plan.json."""
    found: dict[str, Any] = installed.json(
        "fit", "t.parquet", "--method", "trimmed", "--set", "share=0.2", "-o", "plan.json"
    )
    return found


def test_its_method_is_fitted_with_its_setting(installed: Installed, fitted: dict[str, Any]) -> None:
    assert (fitted["method"], fitted["share"], fitted["questions"]) == ("trimmed", 0.2, 60)
    plan = json.loads((installed.folder / "plan.json").read_text())
    assert plan["learned"]["floor_"] == pytest.approx(float(PAIRS["score"].quantile(0.2, "linear") or 0))


@pytest.mark.usefixtures("fitted")
def test_its_plan_votes_on_the_command_line_and_in_python_alike(installed: Installed) -> None:
    installed.steelyard("vote", "t.parquet", "--plan", "plan.json", "-o", "v.parquet")
    code = (
        "import steelyard as sy; vote = sy.load('plan.json'); vote.save('again.json')\n"
        "vote.predict(sy.read('t.parquet')).to_polars().write_parquet('python.parquet'); print(repr(vote))"
    )
    assert installed.python("-c", code).strip() == "TrimmedVote(share=0.2)"
    verdicts, again = (pl.read_parquet(installed.folder / name) for name in ("v.parquet", "python.parquet"))
    assert verdicts.height == 60
    assert verdicts.equals(again)
    assert (installed.folder / "again.json").read_text() == (installed.folder / "plan.json").read_text()


@pytest.mark.usefixtures("fitted")
def test_its_plan_without_it_is_refused_in_one_line(installed: Installed) -> None:
    with pytest.raises(sy.PlanError, match="unknown method 'trimmed'"):
        sy.load(installed.folder / "plan.json")


def test_its_method_is_listed_explained_and_measured(installed: Installed) -> None:
    (row,) = (row for row in installed.json("methods")["methods"] if row["package"] == "steelyard-example")
    assert (row["method"], row["learns"], row["oracle"]) == ("trimmed", False, False)
    (setting,) = installed.json("methods", "trimmed")["settings"]
    assert (setting["name"], setting["type"], setting["default"]) == ("share", "float", 0.1)
    rows = installed.json("evaluate", "t.parquet", "--method", "vanilla,trimmed", "-n", "2,8", "--resamples", 5)["rows"]
    assert [row["method"] for row in rows if row["accuracy"] is not None] == ["vanilla", "trimmed"] * 2


@pytest.mark.long
def test_its_method_has_its_label_and_its_colour_on_a_page(installed: Installed) -> None:
    installed.steelyard("report", "t.parquet", "--method", "trimmed", "-o", "r.html")
    page = (installed.folder / "r.html").read_text()
    assert "the trimmed weighted vote answers" in page
    assert '<span class=swatch style="background:#882255"></span>trimmed' in page


def test_its_verifier_is_listed_and_scores_a_run(installed: Installed) -> None:
    assert "brevity" in {row["verifier"] for row in installed.json("score")["verifiers"]}
    run = small_run(installed.folder / "run")
    assert installed.json("score", run, "--verifier", "brevity")["new"] == 32
    table = pl.read_parquet(run / "table.parquet")
    assert table["brevity"].list.first().to_list() == pytest.approx([0.991040] * 32, abs=1e-6)  # exp(-9 / 1000)


def test_its_layout_is_listed_and_recognises_a_file_that_is_read_by_every_verb(installed: Installed) -> None:
    heard = [f"The answer is {number}." for number in (4, 4, 5)]
    lines = [{"asked": f"{i} + 2?", "heard": heard, "truth": "4"} for i in range(3)]
    (installed.folder / "survey.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code = (
        "import steelyard as sy; print(sy.layouts()['survey']); pool = sy.read('survey.jsonl', score='none')\n"
        "print(pool.n_responses, int(pool.correct.sum())); import sys; from tests.running import steelyard\n"
        "done = steelyard('vote', 'survey.jsonl', '--json'); print(done.err, done.out, sep='')"
    )
    about, counts, said, verdicts = installed.python("-c", code).split("\n", 3)
    assert about == "steelyard-example, JSON lines: asked, heard (one response each), truth as gold"
    assert counts == "9 6"
    assert said == "survey: 3 questions, 9 responses"
    assert [each["answer"] for each in json.loads(verdicts)["verdicts"]] == ["4"] * 3


def test_its_layout_refuses_a_damaged_line_with_the_fix(installed: Installed) -> None:
    (installed.folder / "bad.jsonl").write_text('{"asked": "1 + 1?", "heard": 3}\n')
    words = (
        "-c",
        "from tests.running import steelyard; print(steelyard('vote', 'bad.jsonl', '--layout', 'survey').err)",
    )
    assert installed.python(*words).strip() == (
        "error: bad.jsonl: line 1 has no list of texts in 'heard': correct or remove it"
    )


def test_its_similarity_is_listed_and_compares_texts(installed: Installed) -> None:
    (listed,) = (row for row in installed.json("similarities")["similarities"] if row["package"] != "steelyard")
    assert listed == {
        "name": "lengths",
        "package": "steelyard-example",
        "summary": "Ratio of the lengths of two texts.",
    }
    code = (
        "from steelyard.answers.similarities.similarity import find_similarity, similarity_blocks; import numpy as np\n"
        "print(similarity_blocks(find_similarity('lengths'), ['', 'abc'], np.array([0, 2]), None)[0].tolist())"
    )
    assert json.loads(installed.python("-c", code)) == [1, 0.25, 0.25, 1]


def test_its_method_passes_the_checks_of_steelyard_testing(installed: Installed) -> None:
    code = (
        "from steelyard.testing import check_method; from steelyard_example.trimmed import TrimmedVote\n"
        "check_method(TrimmedVote); print('passed')"
    )
    assert installed.python("-c", code).strip() == "passed"
