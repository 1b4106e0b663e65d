"""Agreement in error: the shares are those counted by hand, and families stand together."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.evaluation.source_analysis import FEWEST, ErrorAgreement, error_agreement, error_order
from tests.committees import committee, pool

# Ten questions; 0 is correct. a and b: both wrong in six, the same in four of them. c: wrong with them in all six.
SAID = {
    "a": [0, 0, 0, 0, 1, 1, 1, 1, 2, 2],
    "b": [0, 0, 0, 1, 1, 1, 1, 1, 3, 3],
    "c": [0, 3, 0, 0, 1, 2, 2, 2, 2, 4],
}


def by_hand() -> sy.LabelledPool:
    rows = [(q, name, answers[q]) for q in range(10) for name, answers in SAID.items()]
    question, source, answer = zip(*rows, strict=True)
    made = sy.Pool.from_arrays(question=question, source=source, answer=answer, correct=[a == 0 for a in answer])
    assert isinstance(made, sy.LabelledPool)
    return made


def test_shares_and_what_the_others_do_are_those_counted_by_hand() -> None:
    found = error_agreement(by_hand(), ("a", "b", "c"))
    assert found.both.tolist() == [[6, 6, 6], [6, 7, 6], [6, 6, 7]]
    assert found.share[0, 1] == pytest.approx(4 / 6)
    assert found.share[0, 2] == pytest.approx(2 / 6)
    assert found.share[1, 2] == pytest.approx(1 / 6)
    # In the six questions in which a and b are wrong, the other pairs are a-c (the same in 2) and b-c (in 1).
    assert found.expected[0, 1] == pytest.approx(3 / 12)
    assert found.share == pytest.approx(found.share.T, nan_ok=True)
    assert np.isnan(np.diag(found.share)).all()


def test_pairs_that_are_rarely_wrong_together_have_no_share() -> None:
    few = by_hand().take(np.arange(3 + FEWEST))
    found = error_agreement(few, ("a", "b", "c"))
    assert found.both[0, 1] == FEWEST - 1
    assert np.isnan(found.share[0, 1])


def test_the_answer_a_source_gave_most_often_counts() -> None:
    rows = [(q, "a", answer) for q in range(6) for answer in (1, 1, 2)] + [(q, "b", 1) for q in range(6)]
    question, source, answer = zip(*rows, strict=True)
    made = sy.Pool.from_arrays(question=question, source=source, answer=answer, correct=[False] * len(rows))
    assert isinstance(made, sy.LabelledPool)
    assert error_agreement(made, ("a", "b")).share[0, 1] == 1


def test_a_copy_stands_beside_its_original_whatever_they_are_called() -> None:
    table = committee(dict.fromkeys("abcdefgh", 0.5), 200, copies={"zz": "b"})
    made = pool(table)
    found = error_agreement(made, made.sources)
    assert found.share[found.names.index("b"), found.names.index("zz")] == 1
    order = [found.names[s] for s in error_order(found)]
    assert sorted(order) == sorted(made.sources)
    assert abs(order.index("b") - order.index("zz")) == 1


def test_sources_that_never_err_together_have_an_order_all_the_same() -> None:
    nothing = np.full((3, 3), np.nan)
    found = ErrorAgreement(("a", "b", "c"), nothing, nothing, np.zeros((3, 3), np.int64))
    assert sorted(error_order(found)) == [0, 1, 2]
