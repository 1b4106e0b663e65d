"""The answers of one question without a table get the keys that a table gives them."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from steelyard.answers.extract import KINDS, kind_of
from steelyard.answers.grouping import simple_keys
from steelyard.answers.reader import AnswerReader

SPELLED = st.sampled_from(
    ["7", "7.0", " 7", "07", "-0", "1/2", "0.5", "50%", "50 percent", "x+1", "1+x", "(B)", "b", "", " ", "null",
     '{"a": 1.0}', '{"a":1}', "[1, 2]", "\\frac{1}{2}", "10^400", "one half", "½", "1e3", "1,000"]
)  # fmt: skip


@given(texts=st.lists(SPELLED | st.text(max_size=6), max_size=6, unique=True), kind=st.sampled_from(sorted(KINDS)))
def test_keys_without_a_table_are_those_of_a_table(texts: list[str], kind: str) -> None:
    texts = [text for text in texts if text.isprintable()]
    few = simple_keys(texts, kind_of(kind))
    if few is None:
        return
    reader = AnswerReader(kind)
    assert few == reader.keys(pl.Series("answer", texts, pl.String), np.zeros(len(texts), np.int64)).to_list()
    reader.close()


def test_numbers_need_no_table_and_algebra_does() -> None:
    assert simple_keys(["7", "7.0", "0.5"], kind_of("math")) == ["7", "7", "1/2"]
    assert simple_keys(["50%", "50"], kind_of("math")) is None
    assert simple_keys([r"\sqrt[3]{x}"], kind_of("math")) is None
