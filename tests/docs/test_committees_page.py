"""docs/committees.md: the page and its picture are made of the stored figures, and what measures them is sound."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from docs.committees import closed_sets, lengths, measuring
from docs.committees.__main__ import HERE, main
from docs.committees.cells import WAYS, best_single, by_source, mean_and_error, split
from docs.committees.losses import losses
from docs.committees.page import text
from docs.committees.peers import peers
from docs.committees.picture import SHOWN, picture
from docs.committees.sets import TITLES
from tests.committees import pool


def test_the_page_is_made_of_the_stored_figures() -> None:
    assert (HERE.parent / "committees.md").read_text() == text()


def test_the_picture_shows_both_sets_and_names_every_line() -> None:
    labels = pl.read_csv(HERE / "labels.csv")
    for drawn in (picture(labels), (HERE.parent / "committees.svg").read_text()):
        assert all(words in drawn for words in (*TITLES.values(), *SHOWN.values()))
    assert len(drawn) < 60_000


def test_by_the_stored_figures_few_labels_do_no_harm_and_none_do_well() -> None:
    labels = pl.read_csv(HERE / "labels.csv")
    found = {(row["set"], row["labels"], row["way"]): row["accuracy"] for row in labels.iter_rows(named=True)}
    assert found["math", 200, "consensus"] >= 0.905
    assert found["mmlu", 200, "consensus"] >= 0.82
    for name in TITLES:
        better = max(found[name, 20, "consensus"], found[name, 20, "committee"])
        assert found[name, 20, "few-label"] >= better - 0.002


def test_a_question_that_is_tested_twice_counts_once_in_the_error() -> None:
    once = np.random.default_rng(0).integers(0, 2, 200).astype(float)
    assert mean_and_error([once, once]) == pytest.approx((once.mean(), once.std(ddof=1) / np.sqrt(200)))


def test_no_label_is_taken_from_a_test_question() -> None:
    made = pool(questions=450)
    for labels in (10, 400):
        labelled, test = split(made, 3, labels)
        assert labelled.n_questions == labels
        assert not set(labelled.questions) & {made.questions[int(q)] for q in test}


def test_the_best_single_llm_is_chosen_by_the_labels_alone_and_ties_are_shared() -> None:
    made = pool(questions=200)
    chosen = best_single(made, made.take(np.arange(100)))
    assert chosen.tolist() == by_source(made)[:, made.sources.index("ant")].tolist()
    alike = pool(questions=50, copies={"ant2": "ant"})
    assert best_single(alike, alike).tolist() == by_source(alike)[:, alike.sources.index("ant")].tolist()


def test_a_simulated_committee_goes_through_every_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LABELS", (50,)), ("SPLITS", (0, 1)), ("SIZES", (2,)), ("DRAWS", 2), ("USUAL", 50)):
        monkeypatch.setattr(measuring, name, value)
    made = pool(questions=480)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        tables = [measure("math", made) for measure in (measuring.by_labels, measuring.by_size, measuring.without_best)]
        beside = peers("math", made)
    for table in tables:
        assert set(table["way"]) == set(WAYS)
    at = {row["way"]: row for row in tables[0].iter_rows(named=True)}
    assert at["committee"]["accuracy"] - at["majority"]["accuracy"] == pytest.approx(at["committee"]["over_majority"])
    assert at["committee"]["over_majority"] > 0
    assert set(tables[2]["best"]) == {"ant"}
    assert beside["way"][:2].to_list() == ["majority", "consensus"]


def test_a_simulated_committee_of_closed_answers_goes_through_every_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SIZES", (2, 3)), ("DRAWS", 2)):
        monkeypatch.setattr(closed_sets, name, value)
    made = pool(questions=100)
    found = closed_sets.by_rule("mmlu", made)
    assert found["llms"].unique(maintain_order=True).to_list() == [3, 5]
    assert set(found["way"]) == {"majority", *closed_sets.RULES}
    assert closed_sets.by_rule("math", made).is_empty()


def test_a_length_that_tells_correct_from_wrong_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "SPLITS", (0,))
    made = pool(questions=480)
    rng = np.random.default_rng(0)
    useless = replace(made, tokens=rng.lognormal(size=made.n_responses))
    telling = replace(made, tokens=np.exp(np.where(made.correct, 1.0, 0.0) + 0.3 * rng.normal(size=made.n_responses)))
    at = {row["way"]: row["gain"] for row in lengths.by_length("math", telling).iter_rows(named=True)}
    assert at["committee, longer is better"] > 0.03
    assert at["consensus, the best strength"] > 0.01
    assert at["committee, longer is better"] > lengths.by_length("math", useless)["gain"][0] + 0.02


def test_by_the_stored_figures_length_adds_nothing_and_no_rule_without_labels_beats_agreement_with_all_llms() -> None:
    assert pl.read_csv(HERE / "lengths.csv")["gain"].max() < 0.003  # type: ignore[operator]
    rules = pl.read_csv(HERE / "rules.csv").filter(llms=83)
    assert rules.sort("accuracy")["way"][-1] == "agreement"


def test_what_is_not_won_is_said_in_words() -> None:
    row = {"set": "math", "labels": 10, "way": "committee"}
    row |= {"over_best": -0.02, "over_best_se": 0.005, "over_consensus": 0.001, "over_consensus_se": 0.005}
    row |= {"over_majority": 0.1, "over_majority_se": 0.01}
    nothing = pl.DataFrame({"set": ["mmlu"], "llms": [2], "way": ["majority"]})
    said = losses(pl.DataFrame([row]), nothing, nothing.cast({"llms": pl.String}))
    assert "the committee is clearly worse than the best single LLM with 10 (-2.0) labels" in said
    assert "the committee is not clearly better than the consensus without labels with 10 (+0.1) labels" in said
    assert "majority vote" not in said


def test_a_file_that_is_not_there_is_told(tmp_path: object) -> None:
    with pytest.raises(FileNotFoundError):
        main(["--math", f"{tmp_path}/none.parquet"])


def test_the_readme_says_what_was_measured() -> None:
    labels = pl.read_csv(HERE / "labels.csv").filter(set="math", labels=20)
    at = {row["way"]: f"{100 * row['accuracy']:.1f} %" for row in labels.iter_rows(named=True)}
    said = " ".join((HERE.parents[1] / "README.md").read_text().split())
    assert f"answers to the rest decides {at['few-label']} correctly ({at['committee']} without these)" in said
    assert f"that the labels find {at['best single']}, and majority vote {at['majority']}" in said
