"""The leaderboard: gains, ranks and errors over several sets, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.leaderboards import ResponseSet, leaderboard
from steelyard.evaluation.set_results import SetResult, average_ranks, holm, mean_difference
from tests.running import steelyard


def simulated(seed: int, questions: int = 120, samples: int = 8) -> sy.LabelledPool:
    return sy.read_labelled(sy.simulate(questions, samples, seed=seed))


@pytest.fixture(scope="module")
def board() -> sy.evaluation.Leaderboard:
    sets = [ResponseSet(f"set {i}", simulated(i)) for i in range(3)]
    return leaderboard(sets, labels=[0, 50], n=[4, 8, 16])


def test_without_labels_only_methods_that_learn_nothing_take_part(board: sy.evaluation.Leaderboard) -> None:
    by_labels = {labels: set(part["method"]) for (labels,), part in board.table.group_by("labels")}
    assert not any(sy.method_class(name).learns for name in by_labels[0])
    assert "calibrated" in by_labels[50]
    assert by_labels[0] < by_labels[50]
    assert not any(sy.method_class(name).oracle for name in by_labels[50])


def test_a_set_takes_part_only_at_the_sizes_it_has(board: sy.evaluation.Leaderboard) -> None:
    assert board.table["n"].unique().sort().to_list() == [4, 8]


def test_gains_are_the_mean_over_sets_of_the_difference_to_majority(board: sy.evaluation.Leaderboard) -> None:
    for row in board.table.iter_rows(named=True):
        sets = [one for one in board.results if one.labels == row["labels"]]
        gains = [one.of(row["method"], row["n"]).mean() - one.of("majority", row["n"]).mean() for one in sets]
        assert row["gain"] == pytest.approx(np.mean(gains))
        assert row["worst"] == pytest.approx(min(gains))
        assert gains[[one.name for one in sets].index(row["worst_set"])] == pytest.approx(min(gains))
        assert row["sets"] == 3


def test_the_ranks_of_all_methods_add_up(board: sy.evaluation.Leaderboard) -> None:
    for _, part in board.table.group_by("labels", "n"):
        assert part["rank"].sum() == pytest.approx(part.height * (part.height + 1) / 2)


def test_exactly_one_method_is_the_default_and_it_does_not_differ_from_itself(
    board: sy.evaluation.Leaderboard,
) -> None:
    default = board.table.filter("default")
    assert default.height == board.table.select("labels", "n").unique().height
    assert default["to_default"].to_list() == [0.0] * default.height
    assert default["p"].to_list() == [1.0] * default.height


def test_samples_to_match_vanilla(board: sy.evaluation.Leaderboard) -> None:
    match = board.samples_to_match
    assert match.filter(method="vanilla")["samples"].to_list() == pytest.approx([8.0, 8.0], rel=0.6)
    assert match["samples"].drop_nulls().is_between(4, 8).all()


def test_the_same_seed_gives_the_same_board() -> None:
    sets = [ResponseSet("set", simulated(1, 60))]
    first, second = (leaderboard(sets, labels=[0, 30], n=[4], seed=3).table.drop("microseconds") for _ in range(2))
    assert first.equals(second)


def result(name: str, correct: list[list[float]], ids: list[str]) -> SetResult:
    return SetResult(name, 0, "vanilla", ("majority", "vanilla"), (4,), np.array(correct)[:, None, :], np.array(ids))


def test_the_error_counts_a_question_of_several_sets_once() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (200, 2)).astype(float)
    ids = [str(i) for i in range(200)]
    one = result("a", values.tolist(), ids)
    copy = result("b", values.tolist(), ids)
    other = result("b", values.tolist(), [f"other {i}" for i in range(200)])
    pairs = [(one, "vanilla", "majority")]
    mean, se = mean_difference(pairs, 4)
    difference = values[:, 1] - values[:, 0]
    assert mean == pytest.approx(difference.mean())
    assert se == pytest.approx(difference.std(ddof=1) / np.sqrt(200))
    assert mean_difference([*pairs, (copy, "vanilla", "majority")], 4) == pytest.approx((mean, se))
    assert mean_difference([*pairs, (other, "vanilla", "majority")], 4) == pytest.approx((mean, se / np.sqrt(2)))


def test_the_error_is_that_of_a_simulation() -> None:
    """Two sets of the same questions whose differences are correlated by question."""
    rng = np.random.default_rng(1)
    means, errors = [], []
    for _ in range(300):
        shared = rng.normal(size=80)
        sets = [
            result(
                name,
                np.column_stack((np.zeros(80), shared + rng.normal(size=80))).tolist(),
                [str(i) for i in range(80)],
            )
            for name in "ab"
        ]
        mean, se = mean_difference([(one, "vanilla", "majority") for one in sets], 4)
        means.append(mean)
        errors.append(se)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.15)


def test_ranks_and_corrected_p_values() -> None:
    assert average_ranks(np.array([5.0, 5.0, 5.0, 1.0])).tolist() == [3.0, 3.0, 3.0, 1.0]
    assert holm([0.5]) == [0.5]
    assert holm([0.9, 0.8, 0.0]) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": [0]}, "at least 1"),
        ({"labels": [-1]}, "at least 0"),
        ({"splits": 0}, "at least 1"),
        ({"n": [64]}, "8 samples and 40 questions, too few for n = 64"),
        ({"labels": [1000]}, "1020 questions"),
        ({"labels": [5]}, "use 0, or 10 and more"),
        ({"methods": ["nonesuch"]}, "nonesuch"),
        ({"methods": ["pass-at-n"]}, "leave it out"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, list[int]], message: str) -> None:
    with pytest.raises(sy.SteelyardError, match=message):
        leaderboard([ResponseSet("set", simulated(1, 40))], **options)  # type: ignore[arg-type]


def test_what_is_not_on_the_board_is_reported_and_the_default_always_is() -> None:
    sets = [ResponseSet("set", simulated(1, 60))]
    with pytest.warns(sy.SteelyardWarning, match="n = 99 .* 500 labels .* logit with 0 labels [(]it needs labels[)]"):
        board = leaderboard(sets, labels=[0, 30, 500], n=[4, 99], methods=["logit"])
    assert set(board.table.filter(labels=0)["method"]) == {"majority", "vanilla"}
    assert set(board.table.filter(labels=30)["method"]) == {"majority", "calibrated", "logit"}


def test_questions_that_several_files_share_count_once(tmp_path: Path) -> None:
    table = sy.simulate(60, 8, seed=1)
    for name in ("a", "b"):
        table.write_parquet(tmp_path / f"{name}.parquet")
    words = ("--label-counts", "0", "-n", "4", "--json")
    one, two = (
        pl.DataFrame(json.loads(steelyard("leaderboard", *files, *words).out)["rows"]).filter(method="vanilla")
        for files in ([tmp_path / "a.parquet"], [tmp_path / "a.parquet", tmp_path / "b.parquet"])
    )
    assert (two["gain"][0], two["gain_se"][0]) == pytest.approx((one["gain"][0], one["gain_se"][0]))


def test_sources_vote_together_and_the_consensus_needs_no_labels() -> None:
    rng = np.random.default_rng(0)
    chances = [0.95, 0.9, 0.4, 0.4, 0.4]
    correct = np.column_stack([rng.random(150) < chance for chance in chances])
    rows = [
        {"question": q, "llm": f"llm-{i}", "answer": "right" if right else f"wrong-{rng.integers(2)}", "gold": "right"}
        for q, line in enumerate(correct.tolist())
        for i, right in enumerate(line)
    ]
    pool = sy.read_labelled(pl.DataFrame(rows), source="llm", score="none", answers="exact")
    board = leaderboard([ResponseSet("many", pool)], labels=[0, 50], n=[5])
    gains = {(row["labels"], row["method"]): row["gain"] for row in board.table.iter_rows(named=True)}
    assert set(gains) == {(0, "majority"), (0, "consensus"), *((50, m) for m in ("majority", "consensus", "committee"))}
    assert gains[50, "committee"] > 0
    assert board.samples_to_match.is_empty()
    assert {row["method"] for row in board.table.iter_rows(named=True) if row["default"]} == {"consensus", "committee"}


def test_of_several_sources_n_are_drawn_and_the_same_ones_answer_every_question() -> None:
    """Each pair has a perfect LLM and one that is always wrong, and labels say which one to believe."""
    right = {"ant": True, "bee": False}
    rows = [
        {"question": q, "llm": llm, "answer": "a" if good else "b", "gold": "a"}
        for q in range(120)
        for llm, good in right.items()
    ]
    pool = sy.read_labelled(pl.DataFrame(rows), source="llm", score="none", answers="exact")
    board = leaderboard([ResponseSet("two", pool)], labels=[50], n=[1, 2], splits=1)
    by_n = {row["n"]: row for row in board.table.filter(method="committee").iter_rows(named=True)}
    accuracy = board.results[0].of("committee", 1)
    assert set(accuracy.tolist()) == {float(accuracy[0])}  # one committee, one accuracy on every question
    assert by_n[2]["accuracy"] == 1.0
    with pytest.raises(sy.SettingError, match="has 2 sources and 120 questions, too few for n = 3"):
        leaderboard([ResponseSet("two", pool)], labels=[0], n=[3])


def test_options_about_files_need_files() -> None:
    refused = steelyard("leaderboard", "--by", "llm")
    assert refused.code == 2
    assert "name some FILE" in refused.err


def test_no_sets_are_refused() -> None:
    with pytest.raises(sy.SettingError, match="at least one set"):
        leaderboard([])


def test_each_llm_of_a_file_is_a_set(tmp_path: Path) -> None:
    table = pl.concat([sy.simulate(60, 8, seed=i).with_columns(pl.lit(f"llm-{i}").alias("llm")) for i in range(2)])
    table.write_parquet(tmp_path / "two.parquet")
    words = (str(tmp_path / "two.parquet"), "--by", "llm", "--label-counts", "0,30", "-n", "4,8")
    done = steelyard("leaderboard", *words, "--json")
    rows = pl.DataFrame(json.loads(done.out)["rows"])
    assert set(rows["sets"]) == {2}
    assert set(rows["worst_set"]) <= {"two/llm-0", "two/llm-1"}
    shown = steelyard("leaderboard", *words, "--method", "calibrated,vanilla").out
    assert "calibrated (default)" in shown
    assert "majority" in shown
    assert "kde" not in shown
    refused = steelyard("leaderboard", *words, "--source", "llm")
    assert refused.code == 2
    assert "use one" in refused.err
