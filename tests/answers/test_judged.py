"""The similarity by judgements: symmetric, independent of rows and their order, and words where nothing was judged."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.answers.similarities.similarity import find_similarity, similarity_blocks
from steelyard.foundation.errors import ColumnError, SettingError, TableError
from steelyard.foundation.judgements import text_key

WORDS = ("paris", "rome", "not", "in", "the", "Größe", "北京", "\n", '"', "\\", "{}")
ANSWERS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=6, unique=True
)
PROBABILITIES = st.integers(0, 2**16).map(lambda steps: steps / 2**16)


def compared(answer: str, judged: dict[str, float] | None = None) -> str:
    """What the similarity is given for a response."""
    return json.dumps({"answer": answer, "judged": None if judged is None else json.dumps(judged)})


def texts_of(answers: Sequence[str], pairs: dict[tuple[int, int], float], *, both: bool = True) -> list[str]:
    judged: list[dict[str, float]] = [{} for _ in answers]
    for (a, b), p in pairs.items():
        judged[a][text_key(answers[b])] = p
        if both:
            judged[b][text_key(answers[a])] = p
    return [compared(answer, entries) for answer, entries in zip(answers, judged, strict=True)]


def draw_pairs(data: st.DataObject, n: int) -> dict[tuple[int, int], float]:
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    judged = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return {pair: data.draw(PROBABILITIES) for pair in judged}


@given(answers=ANSWERS, data=st.data(), both=st.booleans())
def test_judged_pairs_have_their_probability_and_the_others_the_similarity_of_words(
    answers: list[str], data: st.DataObject, both: bool
) -> None:
    pairs = draw_pairs(data, len(answers))
    prompt = data.draw(st.sampled_from([None, "paris or rome?"]))
    expected = find_similarity("tokens").matrix(answers, prompt)
    for (a, b), p in pairs.items():
        expected[a, b] = expected[b, a] = p
    matrix = find_similarity("judged").matrix(texts_of(answers, pairs, both=both), prompt)
    assert np.array_equal(matrix, expected)
    assert np.array_equal(matrix, matrix.T)
    assert (matrix.diagonal() == 1).all()


@given(answers=ANSWERS, data=st.data())
def test_rows_may_be_in_any_order_and_some_may_be_missing(answers: list[str], data: st.DataObject) -> None:
    texts = texts_of(answers, draw_pairs(data, len(answers)))
    order = data.draw(st.permutations(range(len(answers))))[: data.draw(st.integers(1, len(answers)))]
    judged = find_similarity("judged")
    full = judged.matrix(texts, None)
    assert np.array_equal(judged.matrix([texts[i] for i in order], None), full[np.ix_(order, order)])


def test_two_different_probabilities_of_a_pair_count_with_their_mean() -> None:
    a, b = compared("Paris", {text_key("Rome"): 0.5}), compared("Rome", {text_key("Paris"): 0.25})
    assert find_similarity("judged").matrix([a, b], None)[0, 1] == 0.375


def test_equal_answers_are_1_whatever_was_judged() -> None:
    one, other = compared("Paris"), compared("Paris", {text_key("Paris"): 0.0, text_key("Rome"): 0.0})
    matrix = find_similarity("judged").matrix([one, other, compared("Rome", {text_key("Paris"): 1.0})], None)
    assert matrix.tolist() == [[1, 1, 1], [1, 1, 0.5], [1, 0.5, 1]]


@pytest.mark.parametrize(
    "value", ["", "0.5", "[0.5]", '{"a": 1.5}', '{"a": "x"}', '{"a": NaN}', '{"a": true}', "[" * 9999]
)
def test_a_value_that_has_no_judgements_is_refused_in_one_line(value: str) -> None:
    text = json.dumps({"answer": "Paris", "judged": value})
    with pytest.raises(TableError, match="is not a JSON object of probabilities by response: name a column"):
        similarity_blocks(find_similarity("judged"), [text], np.array([0, 1]), None)


def table(**columns: pl.Expr) -> pl.DataFrame:
    answers = ["It is Paris.", "The city of light", "Not Paris", "I do not know."]
    judged = [{"The city of light": 0.9, "Not Paris": 0.1}, {"Not Paris": 0.2}, {}, {}]
    values = [json.dumps({text_key(other): p for other, p in entries.items()}) for entries in judged]
    return pl.DataFrame({"question": ["q"] * 4, "response": answers, "same": values}).with_columns(**columns)


def test_a_vote_reads_the_column_and_a_row_without_judgements_is_compared_by_its_words() -> None:
    pool = sy.read(table(), answers="free:judged:same", score="none")
    assert pool.similarity is not None
    assert pool.similarity.block(0, 3) == pytest.approx(
        np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]]), abs=1e-4
    )
    verdict = sy.MajorityVote().predict(pool).to_polars()
    assert verdict["answer"].to_list() == ["The city of light"]
    empty = sy.read(table(same=pl.lit(None, pl.String)), answers="free:judged:same", score="none")
    by_tokens = sy.read(table(), answers="free", score="none")
    assert empty.similarity is not None
    assert by_tokens.similarity is not None
    assert np.array_equal(empty.similarity.values, by_tokens.similarity.values)


def test_mistakes_are_one_line_with_the_fix() -> None:
    with pytest.raises(
        ColumnError, match=r"contains Float64, not judgements: 'steelyard score --verifier same-meaning'"
    ):
        sy.read(table(same=pl.lit(0.5)), answers="free:judged:same", score="none")
    with pytest.raises(SettingError, match="free:judged:NAME to use its judgements"):
        sy.read(table(), answers="free:judged", score="none")
    with pytest.raises(ColumnError, match="there is no column 'sane' to compare: did you mean 'same'"):
        sy.read(table(), answers="free:judged:sane", score="none")
