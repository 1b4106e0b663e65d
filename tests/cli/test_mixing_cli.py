"""Several scores on the command line: every verb that reads a score, and every way to ask for one that is not there."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from tests.building import without_sources
from tests.running import make_plan, steelyard
from tests.voting.fitting.test_mixing import read, table


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixing") / "responses.parquet"
    huge = pl.when(pl.row_index() == 3).then(float("inf")).otherwise("other")
    sy.write(table(gone=pl.lit(None, pl.Float64), flat=pl.lit(0.7), raw=8 * pl.col("other") - 3, huge=huge), path)
    return path


@pytest.fixture(scope="module")
def plan(file: Path) -> Path:
    assert make_plan(file, "--score", "good+other", "-o", file.with_name("plan.json")).code == 0
    return file.with_name("plan.json")


def test_fit_says_what_each_contributed_and_vote_needs_no_score(file: Path, tmp_path: Path) -> None:
    plan, verdicts = tmp_path / "plan.json", tmp_path / "v.parquet"
    fitted = steelyard("fit", file, "--method", "calibrated", "--score", "good+other+flat", "-o", plan)
    assert fitted.code == 0, fitted.err
    begin = fitted.out.index("What each score contributed")
    lines = fitted.out[begin:].splitlines()
    assert lines[1].split() == ["score", "share", "%", "per", "spread"]
    shares = {line.split()[0]: float(line.split()[1]) for line in lines[2:5]}
    assert sum(shares.values()) == pytest.approx(100, abs=0.2)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert (lines[4].split()[0], lines[4].endswith("the same for every response")) == ("flat", True)
    voted = steelyard("vote", file, "--plan", plan, "-o", verdicts)
    assert voted.code == 0, voted.err
    pool = read(table(flat=pl.lit(0.7)), "good+other+flat")
    assert pl.read_parquet(verdicts).equals(sy.CalibratedVote().fit(pool).predict(pool).to_polars())


def test_fit_json_has_the_shares_of_every_reducer_and_vote_takes_their_plan(file: Path, tmp_path: Path) -> None:
    fitted = steelyard("fit", file, "--score", "steps:*", "-o", tmp_path / "plan.json", "--json")
    found = json.loads(fitted.out)
    assert sorted(found["mix"]) == ["steps:last", "steps:mean", "steps:min", "steps:prod"]
    assert sum(found["mix"].values()) == pytest.approx(1)
    for score in ("steps:*", "steps+steps:min+steps:mean+steps:prod"):
        done = steelyard("vote", file, "--plan", tmp_path / "plan.json", "--score", score)
        assert done.code == 0, done.err


@pytest.mark.parametrize("score", ["other+good", "good + other"])
def test_vote_takes_the_plans_scores_in_any_order(file: Path, plan: Path, score: str) -> None:
    assert steelyard("vote", file, "--plan", plan, "--score", score).code == 0


@pytest.mark.parametrize("method", ["vanilla", "best-of-n", "majority"])
def test_vote_without_a_plan_reads_the_mean(file: Path, method: str) -> None:
    done = steelyard("vote", file, "--method", method, "--score", "good+other")
    assert done.code == 0, done.err


def test_a_vote_reports_a_score_without_any_value(file: Path, plan: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.parquet"
    pl.read_parquet(file).with_columns(other=pl.lit(None, pl.Float64)).write_parquet(empty)
    done = steelyard("vote", empty, "--plan", plan, "-o", tmp_path / "verdicts.parquet")
    assert "other has no value in this table: the other scores vote without it" in done.err
    assert "has no value" not in steelyard("vote", file, "--plan", plan, "-o", tmp_path / "verdicts.parquet").err


def test_evaluate_and_compare_mix(file: Path) -> None:
    done = steelyard("evaluate", file, "--score", "good+other", "--resamples", 1, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["score"] == "good+other"
    assert {row["method"] for row in found["rows"]} == set(without_sources())
    compared = steelyard("compare", "calibrated", "vanilla", "--on", file, "--score", "good+other", "--json")
    assert json.loads(compared.out)["questions"] == 84


def test_report_mixes(file: Path, tmp_path: Path) -> None:
    done = steelyard("report", file, "--score", "good+other", "-o", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert "good+other" in (tmp_path / "r.html").read_text()


def test_the_grid_takes_several_verifiers() -> None:
    pool = sy.paper.load_grid("smol-misled", "prm_soft:min+orm_last")
    assert pool.origin.parts == ("orm_last:last", "prm_soft:min")
    assert steelyard("vote", "grid:smol-misled/orm_last+prm_hard", "--method", "vanilla", "-n", 2).code == 0


WRONG: list[tuple[str, str]] = [
    ("good+othr", "no score column 'othr': did you mean 'other'"),
    ("steps:mni+good", "unknown step reducer 'mni' in 'steps:mni': did you mean 'min'"),
    ("good:*", "'good' contains one number per response, not a list of steps: use --score good"),
    ("goood:*", "no score column 'goood': did you mean 'good'"),
    ("answer:*+good", "contains String, not numbers"),
    ("good+good", "'good' appears 2 times in 'good+good': name it once"),
    ("steps+steps:*", "'steps:last' appears 2 times"),
    ("good+", "a part of 'good+' is empty"),
    ("+", "is empty"),
    ("none+good", "'none' is combined with scores"),
    ("gone+good", "every score of 'gone' is missing: leave it out of --score gone+good"),
    ("raw", "if logits, read them with --score 'sigmoid(raw)'"),
    ("huge+good", "huge contains infinite values"),
    ("god*", "no score column matches 'god*': did you mean 'good'"),
    ("corr*", "no score column matches 'corr*'"),
    ("ste*:mni+other", "unknown step reducer 'mni' in 'steps:mni': did you mean 'min'"),
]


def test_scores_on_any_scale_are_mixed_by_ranks_and_the_plan_keeps_them(file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    fitted = steelyard("fit", file, "--score", "raw+good", "-o", plan)
    assert fitted.code == 0, fitted.err
    assert "raw (-3 to" in fitted.err
    assert "mixed by their ranks: among the calibration responses" in fitted.err
    assert "ranks among the calibration responses of 2 scores" in fitted.out + fitted.err
    assert len(json.loads(plan.read_text())["mix"]["ranks"]) == 2
    voted = steelyard("vote", file, "--plan", plan, "-o", tmp_path / "v.parquet")
    assert voted.code == 0, voted.err


@pytest.mark.parametrize("method", ["vanilla", "best-of-n", "majority"])
def test_scores_on_any_scale_need_no_plan(file: Path, method: str) -> None:
    assert steelyard("vote", file, "--method", method, "--score", "raw+good").code == 0


@pytest.mark.parametrize("verb", ["fit", "evaluate", "vote", "report", "compare"])
def test_every_verb_takes_a_pattern(file: Path, verb: str, tmp_path: Path) -> None:
    words = {
        "fit": ("fit", file, "-o", tmp_path / "p.json"),
        "evaluate": ("evaluate", file, "--resamples", 1),
        "vote": ("vote", file, "--method", "vanilla"),
        "report": ("report", file, "-o", tmp_path / "r.html"),
        "compare": ("compare", "calibrated", "vanilla", "--on", file),
    }[verb]
    done = steelyard(*words, "--score", "[go]*[dr]")
    assert done.code == 0, done.err


def test_a_plan_takes_the_pattern_it_was_fitted_with(file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert make_plan(file, "--score", "ste*+good", "-o", plan).code == 0
    reducers = ["steps:last", "steps:mean", "steps:min", "steps:prod"]
    assert json.loads(plan.read_text())["mix"]["parts"] == ["good", *reducers]
    assert steelyard("vote", file, "--plan", plan, "--score", "ste*+good").code == 0
    assert "fitted on the score" in steelyard("vote", file, "--plan", plan, "--score", "ste*+other").err


@pytest.mark.parametrize("verb", ["fit", "evaluate"])
@pytest.mark.parametrize(("score", "message"), WRONG)
def test_what_cannot_be_mixed_is_one_line_with_the_fix(file: Path, verb: str, score: str, message: str) -> None:
    done = steelyard(
        verb, file, "--score", score, *(("--method", "logit", "--calibrate", 0.5) if verb == "evaluate" else ())
    )
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1, done.err
    assert message in done.err


def test_a_plan_for_other_columns_is_refused_with_both_named(file: Path, plan: Path, tmp_path: Path) -> None:
    done = steelyard("vote", file, "--plan", plan, "--score", "good")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "fitted on the score 'good+other', not on 'good': vote without --score" in done.err
    sy.write(table().drop("other"), tmp_path / "less.parquet")
    done = steelyard("vote", tmp_path / "less.parquet", "--plan", plan)
    assert "no score column 'other'" in done.err
    assert "The plan was fitted on 'good+other': rename your columns to match" in done.err


def test_a_grid_verifier_that_is_not_there_is_named() -> None:
    done = steelyard("evaluate", "grid:smol-misled/orm_last+prm_hrd")
    assert (done.code, "no verifier 'prm_hrd': did you mean 'prm_hard'" in done.err) == (2, True)
