"""The page of a run whose verifier was asked on demand: what was asked and saved, and how sure the verdicts are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from tests.running import steelyard

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A plan, and a run that was scored on demand by it."""
    folder = tmp_path_factory.mktemp("demand")
    table = sy.simulate(40, 6)
    texts = pl.concat_str(pl.lit("It is "), pl.col("answer").fill_null("unclear"))
    table = table.with_columns(
        texts.alias("response"), pl.concat_list(pl.col("score").clip(0.001).log()).alias("logprobs")
    )
    bare, run, plan = table.drop("score"), folder / "run", folder / "plan.json"
    sy.score(bare, "logprob", output=folder / "all")
    sy.LogitVote().fit(sy.read_labelled(folder / "all", score="logprob")).save(plan)
    sy.score(bare, "logprob", output=run, plan=plan, frugal="exact")
    return {"folder": folder, "run": run, "plan": plan, "table": bare}


def page(*arguments: object) -> str:
    """What `steelyard report` writes."""
    output = Path(str(arguments[arguments.index("-o") + 1]))
    done = steelyard("report", *map(str, arguments))
    assert done.code == 0, done.err
    return output.read_text()


def test_a_run_that_was_scored_on_demand_is_shown_by_the_plan_it_was_scored_by(
    made: dict[str, Any], tmp_path: Path
) -> None:
    text = page(made["run"], "--score", "logprob", "-o", tmp_path / "page.html")
    unread = sy.read(made["run"], score="logprob")
    assert unread.scored is not None
    saved, total = int((~unread.scored).sum()), unread.n_responses
    assert 0 < saved < total
    assert f"{saved:,} <span" in text
    assert f"of {total:,} were not requested" in text
    assert "No score that was not requested could change a verdict of this plan." in text
    verdicts = sy.vote(made["run"], made["plan"])
    least = verdicts.sort("share").row(0, named=True)
    assert f"<bdi>{least['question']}</bdi>" in text
    assert f"{100 * float(verdicts['share'].to_numpy().mean()):.1f} <span" in text
    assert "mean vote share (not a probability)" in text  # the plan is of logit, which learns none
    assert ">confidence<" not in text
    assert text.count("<tr>") > verdicts.height


def test_the_bill_and_the_labels_are_on_the_page(made: dict[str, Any], tmp_path: Path) -> None:
    text = page(made["run"], "--plan", made["plan"], "--price-response", "2", "-o", tmp_path / "page.html")
    assert "was asked by the rule exact" in text
    bill = sy.status(made["run"], price_response=2)["bills"]["logprob"]
    assert f"money: {bill['cost']:.4g} spent, {bill['saved']:.4g} saved" in text
    assert "seconds of the verifier" in text
    accuracy = sy.accuracy(sy.load(made["plan"]).predict(sy.read(made["run"], score="logprob")), labelled(made))
    assert f"{100 * accuracy:.1f} <span" in text
    assert "(ECE)" not in text


def test_a_plan_that_learned_a_probability_shows_its_confidence_and_how_far_it_is_off(
    made: dict[str, Any], tmp_path: Path
) -> None:
    plan = tmp_path / "sure.json"
    sy.CalibratedVote().fit(sy.read_labelled(made["folder"] / "all", score="logprob")).save(plan)
    text = page(made["run"], "--plan", plan, "-o", tmp_path / "page.html")
    mean = float(sy.vote(made["run"], plan)["confidence"].to_numpy().mean())
    assert f"{100 * mean:.1f} <span" in text
    assert "of the verdicts are expected to be correct" in text
    assert "(ECE)" in text
    assert "vote share" not in text


def labelled(made: dict[str, Any]) -> Any:
    return sy.read_labelled(made["run"], score="logprob")


def test_another_plan_proves_nothing_about_scores_that_were_not_asked_by_it(
    made: dict[str, Any], tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    sy.paper.LinearVote().fit(sy.read_labelled(made["folder"] / "all", score="logprob")).save(other)
    text = page(made["run"], "--plan", other, "-o", tmp_path / "page.html")
    assert "could change a verdict." in text
    assert "No score that was not requested could change" not in text


def test_a_run_without_labels_is_shown_without_accuracy(made: dict[str, Any], tmp_path: Path) -> None:
    bare, run = made["table"].drop("correct"), tmp_path / "run"
    sy.score(bare, "logprob", output=run, plan=made["plan"], frugal="exact")
    text = page(run, "--score", "logprob", "-o", tmp_path / "page.html")
    assert "(ECE)" not in text
    assert "of the verdicts are correct" not in text


def test_a_plan_that_is_gone_is_asked_for(made: dict[str, Any], tmp_path: Path) -> None:
    plan, run = tmp_path / "gone.json", tmp_path / "run"
    plan.write_bytes(made["plan"].read_bytes())
    sy.score(made["table"], "logprob", output=run, plan=plan, frugal="exact")
    plan.unlink()
    with pytest.raises(sy.SteelyardError, match="name the plan with --plan"):
        sy.report(run, tmp_path / "page.html", score="logprob")


def test_what_a_page_by_a_plan_cannot_show_is_refused(made: dict[str, Any], tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    with pytest.raises(sy.SteelyardError, match="exclude each other"):
        sy.report(made["run"], output, plan=made["plan"], method="logit")
    with pytest.raises(sy.SteelyardError, match="is of one file, and 2 were given"):
        sy.report([made["run"], made["run"]], output, plan=made["plan"])
    with pytest.raises(sy.SteelyardError, match="a fit needs them all"):
        sy.report(made["run"], output, score="logprob", method="logit")
    sy.MajorityVote().fit(labelled(made)).save(tmp_path / "majority.json")
    with pytest.raises(sy.SteelyardError, match="weighs the scores of a verifier"):
        sy.report(made["run"], output, plan=tmp_path / "majority.json")
    with pytest.raises(sy.SteelyardError, match="is only for the bill of a run"):
        sy.report(made["folder"] / "all", output, score="logprob", price_response=1)
    assert not output.exists()
