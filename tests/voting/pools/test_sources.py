"""A pool that knows who said what."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy


def made(**given: object) -> sy.Pool:
    columns = {"question": [0, 1, 0, 1], "answer": [0, 1, 2, 1], "source": ["b", "a", "a", "b"], **given}
    return sy.Pool.from_arrays(**columns)  # type: ignore[arg-type]


def said(pool: sy.Pool) -> list[tuple[str, int]]:
    assert pool.source is not None
    return [(pool.sources[s], int(a)) for s, a in zip(pool.source.tolist(), pool.answer, strict=True)]


def test_every_response_keeps_its_source_however_the_rows_come() -> None:
    assert said(made()) == [("b", 0), ("a", 2), ("a", 1), ("b", 1)]
    assert made().sources == ("a", "b")


def test_derived_pools_keep_who_said_what() -> None:
    pool = made(correct=[True, False, False, False])
    assert isinstance(pool, sy.LabelledPool)
    assert said(pool.first(1)) == [("b", 0), ("a", 1)]
    assert said(pool.take([1])) == [("a", 1), ("b", 1)]
    assert said(pool.unlabelled()) == said(pool)
    assert sorted(said(pool.shuffled(1, np.random.default_rng(0)))) == sorted(said(pool))
    assert [part.sources for part in pool.split(0.5, seed=0)] == [("a", "b")] * 2
    assert said(pool.by_source()) == [("a", 2), ("b", 0), ("a", 1), ("b", 1)]


def test_a_pool_without_sources_says_nothing_of_them() -> None:
    pool = sy.Pool.from_arrays(question=[0], answer=[0])
    assert (pool.source, pool.sources, repr(pool)) == (None, (), "Pool(1 questions, 1 responses, 0 unreadable)")
    assert "2 sources" in repr(made())


def test_names_that_differ_only_by_case_are_two_sources_and_that_is_said() -> None:
    with pytest.warns(sy.SteelyardWarning, match="'GPT' and 'gpt' differ only by case"):
        pool = made(source=["GPT", "gpt", "gpt", "GPT"])
    assert pool.sources == ("GPT", "gpt")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (["a", None, "b", "a"], "1 responses have no source"),
        (["a", " ", "b", "a"], "empty name"),
        (["a", "b"], "one entry for each of 4 responses"),
    ],
)
def test_a_source_that_is_missing_is_one_line(source: list[object], words: str) -> None:
    with pytest.raises(sy.errors.ColumnError, match=words):
        made(source=np.array(source, object))


def test_more_sources_than_a_plan_can_name_are_refused() -> None:
    with pytest.raises(sy.errors.ColumnError, match="at most 1,000 sources"):
        sy.Pool.from_arrays(question=np.zeros(1001), answer=np.zeros(1001, int), source=np.arange(1001))


def test_a_pool_of_some_sources_has_their_responses_alone_and_keeps_its_labels() -> None:
    columns = {"question": [0, 0, 1, 2, 2], "answer": [5, 6, 2, 3, 3], "correct": [True, False, True, False, False]}
    pool = sy.Pool.from_arrays(**columns, source=["a", "b", "a", "b", "c"])  # type: ignore[arg-type]
    assert isinstance(pool, sy.LabelledPool)
    part = pool.from_sources(["c", "b"])
    assert part.sources == ("b", "c")
    assert part.questions.tolist() == [0, 2]
    assert part.source is not None
    assert part.source.tolist() == [0, 0, 1]
    assert part.correct.tolist() == [False, False, False]
    assert pool.from_sources(["a"]).correct.tolist() == [True, True]


@pytest.mark.parametrize("names", [["d"], []])
def test_sources_that_are_not_there_are_told_with_those_that_are(names: list[str]) -> None:
    pool = sy.Pool.from_arrays(question=[0, 0], answer=[1, 2], source=["a", "b"])
    with pytest.raises(sy.SettingError, match="the sources are a, b"):
        pool.from_sources(names)
