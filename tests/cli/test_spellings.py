"""Methods may be given one by one or as a list, to verbs that take several, and to those that take one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import steelyard as sy
from tests.running import steelyard


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "responses.parquet"
    sy.write(sy.simulate(60, 4, seed=3), path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("--method", "majority,vanilla", "-n", "2,4"),
        ("--method", "majority", "--method", "vanilla", "-n2,4"),
        ("--method=majority,vanilla", "-n", "2,4"),
    ],
)
def test_evaluate_takes_methods_and_sizes_in_every_spelling(file: Path, words: tuple[str, ...]) -> None:
    done = steelyard("evaluate", file, *words, "--resamples", 0, "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert {(row["method"], row["n"]) for row in rows} == {(m, n) for m in ("majority", "vanilla") for n in (2, 4)}


def test_what_comes_after_two_dashes_is_no_option() -> None:
    assert "unknown method '--frugal'" in steelyard("methods", "--", "--frugal").err


@pytest.mark.parametrize("verb", ["fit", "vote", "report", "plan-budget"])
def test_a_verb_for_one_method_refuses_two(verb: str, file: Path, tmp_path: Path) -> None:
    for words in (("--method", "majority,vanilla"), ("--method", "majority", "--method", "vanilla")):
        done = steelyard(verb, file, *words, *(("--budget", 2) if verb == "plan-budget" else ()))
        assert done.code == 2
        assert done.err.startswith("error: --method takes one name here, not majority, vanilla")
    assert not (tmp_path / "report.html").exists()


def test_compare_takes_a_file_and_two_methods_or_two_methods_on_a_file(file: Path) -> None:
    by_option = steelyard("compare", file, "--method", "majority,vanilla", "--json")
    positional = steelyard("compare", "majority", "vanilla", "--on", file, "--json")
    assert by_option.code == 0, by_option.err
    assert json.loads(by_option.out) == json.loads(positional.out)


def test_compare_without_a_second_thing_says_what_to_add(file: Path) -> None:
    done = steelyard("compare", file)
    assert done.code == 2
    assert "name two methods (--method logit,majority), or a second file" in done.err
    assert "one --method" in steelyard("compare", file, file, "--method", "majority,vanilla").err


def test_doctor_takes_the_server_of_the_verifier() -> None:
    done = steelyard("doctor", "--verifier", "p-true", "--verifier-upstream", "ftp://x")
    assert "must begin with http" in done.err
