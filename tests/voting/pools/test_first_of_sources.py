"""The first samples of every source of a pool."""

from __future__ import annotations

import pytest

import steelyard as sy
from steelyard.voting.pools.pool import Pool

WHO = ["ant", "bee", "ant", "ant", "bee", "bee", "bee"]
POOL = Pool.from_arrays(question=[0, 0, 0, 0, 1, 1, 1], answer=[1, 2, 3, 4, 5, 6, 7], source=WHO)


def test_the_first_samples_of_each_source_are_kept_in_their_order() -> None:
    kept = POOL.first_of_sources({"ant": 2, "bee": 1})
    assert kept.answer.tolist() == [1, 2, 3, 5]
    assert kept.sizes.tolist() == [3, 1]
    assert kept.sources == ("ant", "bee")


def test_a_source_of_which_none_is_wanted_is_gone_and_so_are_its_questions() -> None:
    kept = POOL.first_of_sources({"ant": 5, "bee": 0})
    assert (kept.sources, kept.n_questions, kept.n_responses) == (("ant",), 1, 3)


def test_an_unknown_source_is_refused_by_name() -> None:
    with pytest.raises(sy.SettingError, match="there is no source cow"):
        POOL.first_of_sources({"cow": 1})
