"""A ballot by a plan with a cascade: whom to ask next, whatever the order in which answers arrive."""

from __future__ import annotations

from itertools import permutations

import pytest

import steelyard as sy
from steelyard.voting.stopping.cascade import Cascade, Step
from tests.committees import committee, pool

ODDS = {
    ("a",): (2.0, 1.0),
    ("a", "b"): (1.5, 1.5, 1.0),
    ("a", "b", "c"): (1.0, 1.0, 4.0, 1.0),
    ("a", "c"): (1.0, 4.0, 1.0),
}
CASCADE = Cascade((Step(("a",)), Step(("b",), low=0.5), Step(("c",), high=0.8)), ODDS)


def voter(cascade: Cascade = CASCADE) -> sy.Method:
    method = sy.CommitteeVote().fit(pool(committee({"a": 0.6, "b": 0.6, "c": 0.9, "d": 0.3}, 60)))
    method.cascade_ = cascade
    return method


def ballot(cascade: Cascade = CASCADE) -> sy.Ballot:
    return sy.Ballot(voter(cascade), answers="exact")


def test_it_says_whom_to_ask_first() -> None:
    assert ballot().state.next == ("a",)
    assert ballot().state.confidence is None


def test_it_has_no_picture() -> None:
    with pytest.raises(sy.SettingError, match="a ballot by a cascade has no picture: print its state"):
        ballot().plot()


def test_it_asks_until_the_answer_is_likely_and_then_stops() -> None:
    one = ballot()
    assert one.add("7", source="a").next == ("b",)
    now = one.add("7", source="b")
    assert now.stop
    assert now.verdict == "7"
    assert now.next == ()
    assert now.confidence is not None
    assert now.confidence > 0.8


def test_where_sources_differ_it_asks_the_next() -> None:
    one = ballot()
    one.add("7", source="a")
    assert one.add("8", source="b").next == ("c",)
    now = one.add("8", source="c")
    assert (now.stop, now.verdict, now.votes) == (True, "8", 2)


def test_a_source_that_never_answers_is_passed_over() -> None:
    one = ballot()
    now = one.add(None, source="a")
    assert now.next == ("c",)
    assert now.verdict is None
    assert one.add("5", source="c").verdict == "5"


def test_the_order_of_arrival_does_not_matter() -> None:
    answers = {"a": "7", "b": "8", "c": "8"}
    ends = []
    for order in permutations(answers):
        one = ballot()
        for name in order:
            now = one.add(answers[name], source=name)
        ends.append(now)
    assert all(end == ends[0] for end in ends)


def test_an_answer_that_was_not_asked_for_does_not_count() -> None:
    one = ballot()
    one.add("9", source="c")
    one.add("7", source="a")
    now = one.add("7", source="b")
    assert (now.verdict, now.samples, now.stop) == ("7", 2, True)


def test_an_answer_of_a_source_that_is_skipped_is_told() -> None:
    with pytest.warns(sy.SteelyardWarning, match="skips d"):
        ballot().add("7", source="d")


def test_an_unknown_source_or_none_is_refused() -> None:
    with pytest.raises(sy.SettingError, match="no source 'e'"):
        ballot().add("7", source="e")
    with pytest.raises(sy.SettingError, match="name the source"):
        ballot().add("7")


def test_the_same_source_twice_with_another_answer_is_refused() -> None:
    one = ballot()
    one.add("7", source="a", sample=0)
    one.add("7", source="a", sample=0)
    with pytest.raises(sy.SettingError, match="was added twice"):
        one.add("8", source="a", sample=0)


def test_a_source_is_asked_for_as_many_samples_as_it_was_learned_with() -> None:
    one = ballot(Cascade(CASCADE.steps, ODDS, {"a": 2}))
    assert one.add("7", source="a").next == ("a",)
    assert one.add("7", source="a").next == ("b",)


def test_a_ballot_does_what_the_replay_of_the_cascade_does() -> None:
    from steelyard.voting.fitting.answer_odds import Panel

    labelled = pool(committee({"a": 0.6, "b": 0.6, "c": 0.9, "d": 0.3}, 40, seed=4))
    found = CASCADE.replay(Panel.of(labelled))
    method, who = voter(), labelled.source
    assert who is not None
    for q in range(labelled.n_questions):
        one = sy.Ballot(method, answers="exact")
        rows = range(labelled.starts[q], labelled.starts[q + 1])
        said = {labelled.sources[who[r]]: str(labelled.answer[r]) for r in rows}
        while one.state.next:
            for name in one.state.next:
                one.add(said[name], source=name)
        row = found.row[q]
        assert one.verdict == str(Panel.of(labelled).code[row])
        assert one.state.confidence == pytest.approx(float(found.confidence[q]))
        assert one.state.samples == found.sampled[q].sum()


def test_without_a_cascade_a_committee_counts_by_source() -> None:
    method = voter()
    method.cascade_ = None
    one = sy.Ballot(method, answers="exact")
    one.add("7", source="a")
    one.add("7", source="b")
    assert one.add("8", source="c").verdict == "8"
