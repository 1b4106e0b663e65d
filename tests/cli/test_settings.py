"""`fit --set` reaches every setting of every method, and `methods` says what there is to set."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

import steelyard as sy
from steelyard.cli.methods import settings_from
from steelyard.voting.methods.base.setting import settings_of
from tests.running import steelyard

FITTED = [name for name in sy.method_names() if not sy.method_class(name).oracle]


@dataclass(repr=False)
class Chatty(sy.MajorityVote):
    name: ClassVar[str] = "chatty"

    loud: bool = False
    word: str | None = None
    most: int | float = 1
    names: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("settings") / "t.parquet"
    sy.write(sy.simulate(50, 4, seed=0), path)
    return path


@pytest.mark.parametrize("name", FITTED)
def test_every_setting_of_every_method_can_be_given_as_a_text(name: str, file: Path, tmp_path: Path) -> None:
    kind = sy.method_class(name)
    pairs = [f"{each.name}={str(each.default).lower()}" for each in settings_of(kind)]
    words = [word for pair in pairs for word in ("--set", pair)]
    done = steelyard("fit", file, "--method", name, *words, "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert sy.load(tmp_path / "plan.json").settings() == kind().settings()


@pytest.mark.parametrize("name", sy.method_names())
def test_every_setting_of_every_method_is_explained(name: str) -> None:
    found = json.loads(steelyard("methods", name, "--json").out)
    settings = sy.method_class(name)().settings()
    assert {each["name"]: each["default"] for each in found["settings"]} == settings
    assert all(each["type"] and each["meaning"] for each in found["settings"])
    shown = steelyard("methods", name).out
    assert all(f"\n{key} " in shown for key in settings)
    assert found["what"] in shown


@pytest.mark.parametrize("name", sy.method_names())
def test_the_example_of_every_method_runs(
    name: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labelled.parquet").symlink_to(file)
    words = shlex.split(json.loads(steelyard("methods", name, "--json").out)["example"])
    done = steelyard(*words[1:], *(("--resamples", 0) if "evaluate" in words else ()))
    assert done.code == 0, done.err


def test_all_methods_are_listed_with_a_sentence_and_their_package() -> None:
    rows = json.loads(steelyard("methods", "--json").out)["methods"]
    assert [row["method"] for row in rows] == list(sy.method_names())
    for row in rows:
        kind = sy.method_class(row["method"])
        assert (row["learns"], row["oracle"], row["package"]) == (kind.learns, kind.oracle, "steelyard")
        assert row["what"].endswith(".")
    shown = steelyard("methods").out.splitlines()
    assert all(any(line.startswith(f"{row['method']} ") and row["what"] in line for line in shown) for row in rows)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("loud=true", True), ("loud=False", False), ("word=none", None), ("word=a=b", "a=b"), ("word=", ""),
        ("most=3", 3), ("most=0.5", 0.5), ("most=inf", float("inf")),
    ],
)  # fmt: skip
def test_a_text_is_read_as_what_the_setting_may_be(text: str, value: Any) -> None:
    (read,) = settings_from(Chatty, [text]).values()
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("loud=1", "loud must be bool, not '1'"),
        ("most=none", "most must be int or float, not 'none'"),
        ("names=a", "names is list, which only Python can set: set it there"),
    ],
)
def test_a_text_that_the_setting_cannot_be_is_refused(text: str, says: str) -> None:
    with pytest.raises(sy.SettingError, match=says):
        settings_from(Chatty, [text])


def test_a_switch_survives_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(repr=False)
    class Switched(sy.MajorityVote):
        name: ClassVar[str] = "switched"

        loud: bool = False

    monkeypatch.setattr("steelyard.voting.methods.method_class", lambda name: Switched)
    Switched(loud=True).save(tmp_path / "plan.json")
    assert sy.load(tmp_path / "plan.json").settings() == {"loud": True}
    damaged = (tmp_path / "plan.json").read_text().replace("true", "1")
    (tmp_path / "plan.json").write_text(damaged)
    with pytest.raises(sy.PlanError, match="loud is 1"):
        sy.load(tmp_path / "plan.json")


def test_a_seed_that_is_set_goes_before_the_seed_of_the_command(file: Path) -> None:
    words = ("fit", file, "--method", "logit", "--seed", 3, "--json")
    assert json.loads(steelyard(*words).out)["seed"] == 3
    assert json.loads(steelyard(*words, "--set", "seed=5").out)["seed"] == 5
