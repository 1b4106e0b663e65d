"""Similarities of free text: a formula on sets, equal in every order, process and thread, and bounded for any text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from steelyard.answers.similarities import similarity
from steelyard.answers.similarities.similarity import (
    MAX_FEATURES,
    FeatureSimilarity,
    Similarity,
    find_similarity,
    number_features,
    similarity_blocks,
)
from steelyard.answers.words import _MINUS, _ZEROS, _mark, _word
from steelyard.foundation.errors import SettingError
from steelyard.voting import kernels
from steelyard.voting.kernels.compilation import plain
from tests.answers.linear_patterns import ambiguous
from tests.running import steelyard

NAMES = ("characters", "column", "json", "tokens")
HERE = "tests.answers.test_similarities"
SPELLINGS = ("paris", "rome", "in", "the", "1,234", "3.5", "**oslo**", "北京", "हिन्दी", "é")
WORDS = st.lists(st.sampled_from(SPELLINGS), max_size=6).map(" ".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["a", "b", "5"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "x", "y"]), inner, max_size=3),
    max_leaves=8,
).map(json.dumps)
TEXTS = st.lists(st.one_of(WORDS, VALUES, st.text(max_size=12)), min_size=1, max_size=7, unique=True)
PROMPTS = st.none() | WORDS


def built_in(name: str) -> FeatureSimilarity:
    similarity = find_similarity(name)
    assert isinstance(similarity, FeatureSimilarity)
    return similarity


def row(name: str, *texts: str, prompt: str | None = None) -> list[float]:
    """How similar the first text is to the others."""
    similarities: list[float] = find_similarity(name).matrix(texts, prompt)[0, 1:].tolist()
    return similarities


def brute_force(name: str, texts: Sequence[str], prompt: str | None) -> list[list[float]]:
    """The formula on Python's sets."""
    chosen = built_in(name)
    sets: list[set[Any]] = [set(chosen.features(text, prompt)) or {text} for text in texts]

    def share_of(a: set[Any], b: set[Any]) -> float:
        share = len(a & b) / len(a | b) if chosen.formula == "jaccard" else 2 * len(a & b) / (len(a) + len(b))
        return int(share * 2**16 + 0.5) / 2**16

    return [[share_of(a, b) for b in sets] for a in sets]


@pytest.mark.parametrize("name", NAMES)
@given(texts=TEXTS, prompt=PROMPTS)
def test_a_matrix_is_the_formula_on_sets_symmetric_and_1_on_the_diagonal(
    name: str, texts: list[str], prompt: str | None
) -> None:
    matrix = find_similarity(name).matrix(texts, prompt)
    assert matrix.dtype == np.float32
    assert matrix.tolist() == brute_force(name, texts, prompt)
    assert np.array_equal(matrix, matrix.T)
    assert (matrix.diagonal() == 1).all()
    assert ((matrix >= 0) & (matrix <= 1)).all()


@pytest.mark.parametrize("name", NAMES)
@given(texts=TEXTS, prompt=PROMPTS, seed=st.integers(0, 99))
def test_texts_in_another_order_have_the_same_similarities(
    name: str, texts: list[str], prompt: str | None, seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(len(texts))
    matrix = find_similarity(name).matrix(texts, prompt)
    assert np.array_equal(find_similarity(name).matrix([texts[i] for i in order], prompt), matrix[np.ix_(order, order)])


@pytest.mark.parametrize("name", NAMES)
@given(questions=st.lists(st.tuples(TEXTS, PROMPTS), min_size=1, max_size=5), part=st.integers(1, 9))
def test_blocks_are_the_matrices_of_the_questions_however_they_are_cut_into_parts(
    name: str, questions: list[tuple[list[str], str | None]], part: int
) -> None:
    chosen = find_similarity(name)
    starts = np.cumsum([0, *(len(texts) for texts, _ in questions)])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(similarity, "PART", part)
        blocks, offsets = similarity_blocks(
            chosen, [text for texts, _ in questions for text in texts], starts, [prompt for _, prompt in questions]
        )
    matrices = [chosen.matrix(texts, prompt) for texts, prompt in questions]
    assert np.array_equal(blocks, np.concatenate([matrix.ravel() for matrix in matrices]))
    assert offsets.tolist() == np.cumsum([0, *(matrix.size for matrix in matrices)])[:-1].tolist()


def test_no_questions_and_questions_without_texts_have_no_blocks() -> None:
    for starts in ([0], [0, 0, 0]):
        blocks, offsets = similarity_blocks(find_similarity("tokens"), [], np.array(starts), None)
        assert (len(blocks), offsets.tolist()) == (0, [0] * (len(starts) - 1))


@given(texts=TEXTS, dice=st.booleans())
def test_the_compiled_loop_and_its_source_agree_to_the_last_bit(texts: list[str], dice: bool) -> None:
    arrays = number_features(built_in("tokens"), texts, np.array([0, len(texts)]), None)
    filled = [np.empty(len(texts) ** 2, np.float32) for _ in range(2)]
    for loop, blocks in zip((kernels.overlaps, plain(kernels.overlaps.py_func)), filled, strict=True):  # type: ignore[attr-defined]
        loop(*arrays, dice, kernels.read_only(np.zeros(1, np.int64)), blocks)
    assert filled[0].tobytes() == filled[1].tobytes()


def test_a_process_with_plain_loops_needs_no_numba() -> None:
    code = (
        "import sys; from steelyard.foundation.cores import choose_plain_loops; choose_plain_loops()\n"
        "from steelyard.answers.similarities.similarity import find_similarity\n"
        "print(find_similarity('tokens').matrix(['Marie Curie', 'Marie'], None).tolist(), 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[[1.0, 0.5], [0.5, 1.0]] False"


def test_features_are_the_same_in_another_process() -> None:
    texts = ["Paris, 1,234 guests", "北京", '[{"name": "f", "x": 5.0}]', "[1, 2]", ""]
    code = (
        "import json, sys; from steelyard.answers.similarities.similarity import find_similarity\n"
        "names, texts = json.loads(sys.argv[1])\n"
        "found = [[find_similarity(name).codes(text, 'guests').tolist() for text in texts] for name in names]\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps([NAMES, texts])], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[built_in(name).codes(t, "guests").tolist() for t in texts] for name in NAMES]


def test_tokens_compares_the_words_that_are_no_stop_words() -> None:
    shares = row("tokens", "It was Marie Curie.", "MARIE CURIE", "Marie and Pierre", "Oslo")
    assert shares == pytest.approx([1, 1 / 3, 0], abs=2**-16)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("She won **1,234** prizes there.", "1234", 1),
        ("**Answer:** Paris", "**Answer:** Rome", 1 / 3),  # a label is no answer
        ("**Paris**", "**Rome** and not Paris", 0),
        ("about 3.5 km", "3 to 5 km", 1 / 5),
        ("Ｐａｒｉｓ", "paris", 1),
        ("cafe\u0301", "café", 1),
        ("हिन्दी", "हिन्दू", 0),
        ("No.", "No!", 1),
        ("It is.", "it is", 1),
        ("...", "...!", 0),
        ("", " ", 0),
    ],
)
def test_tokens_reads_words_in_one_spelling(a: str, b: str, share: float) -> None:
    assert row("tokens", a, b) == pytest.approx([share], abs=2**-16)


def test_words_of_the_prompt_do_not_count_unless_there_are_no_others() -> None:
    prompt = "Is Oslo or Paris the capital of Norway?"
    assert row("tokens", "The capital is Bergen", "Bergen", "The capital is Oslo", prompt=prompt) == [1, 0]
    assert row("tokens", "Oslo", "oslo!", "Paris", prompt=prompt) == [1, 0]
    assert row("tokens", "In **Norway** it is Bergen", "Bergen", prompt=prompt) == [1 / 2]  # {norway, bergen}
    assert row("tokens", "**Oslo**", "**Paris**", "No, **Oslo**", prompt=prompt) == [0, 1]
    assert row("characters", "北京", "北京。", "上海", prompt="北京还是上海?") == [1, 0]


def test_characters_needs_no_spaces() -> None:
    assert row("characters", "東京都です", "東京都", "大阪府です") == pytest.approx([2 / 4, 1 / 7], abs=2**-16)
    assert row("characters", "Paris!", "p a r i s", "Parma") == pytest.approx([1, 1 / 5], abs=2**-16)
    assert row("characters", "日", "日。", "月") == [1, 0]


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ('{"x": 5, "y": [1, 2]}', '{"y": [1, 2.0], "x": 5.0}', 1),
        ('{"x": 5, "y": [1, 2]}', '{"x": 6, "y": [1, 2]}', 2 / 3),
        ('{"x": "5"}', '{"x": 5}', 0),
        ("[1, 2]", "[2, 1]", 0),
        ("[1, 1]", "[1]", 2 / 3),
        ('Sure:\n```json\n{"x": 1}\n```\nDone.', '{"x": 1}', 1),
        ('[{"name": "f", "x": 1}, {"name": "g"}]', '[{"name": "g"}, {"name": "f", "x": 1}]', 1),
        ('[{"name": "f", "x": 1}, {"name": "f", "x": 1}]', '[{"name": "f", "x": 1}]', 2 / 3),
        ('[{"x": 1, "y": 1}, {"x": 2, "y": 2}]', '[{"x": 1, "y": 2}, {"x": 2, "y": 1}]', 1 / 2),  # swapped arguments
        ("no JSON", "no JSON at all", 0),
        ("NaN", "Infinity", 0),
        ("{}", "[]", 0),
        ("true", "1", 0),
    ],
)
def test_json_gives_partial_credit_for_equal_leaves(a: str, b: str, share: float) -> None:
    assert row("json", a, b) == pytest.approx([share], abs=2**-16)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("[1, 2, 3, 4]", "[1, 2.0, 3, 5]", 3 / 4),
        ('["a", "b"]', '["a"]', 2 / 3),
        ("[[1], null]", "[[1], 0]", 1 / 2),
        ("42", "42.0", 0),
        ("abc", "abcd", 0),
        ("[]", "[0]", 0),
    ],
)
def test_column_compares_lists_by_position_and_all_else_by_equality(a: str, b: str, share: float) -> None:
    assert row("column", a, b, a) == pytest.approx([share, 1], abs=2**-16)


HOSTILE: dict[str, Callable[[], str]] = {
    "one word": lambda: "a" * 10**6,
    "many words": lambda: " ".join(map(str, range(150_000))),
    "digits and points": lambda: "1." * 500_000,
    "digits and commas": lambda: "1,111" * 200_000,
    "bold markers": lambda: "**" * 100_000 + "a",
    "bold parts": lambda: "**a** " * 100_000,
    "fences": lambda: "```json\n[" * 100_000,
    "deep lists": lambda: "[" * 10_000 + "]" * 10_000,
    "deep objects": lambda: '{"a":' * 10_000 + "1" + "}" * 10_000,
    "deep calls": lambda: '[{"a":' * 30 + json.dumps("x" * 900_000) + "}]" * 30,
    "long list": lambda: "[" + "1," * 10**6 + "1]",
    "list of lists": lambda: "[" + "[]," * 300_000 + "1]",
    "list of objects": lambda: "[" + '{"name":"a"},' * 70_000 + "1]",
    "long number": lambda: "9" * 10**6,
    "NUL": lambda: "\0a" * 10**5,
    "lone surrogates": lambda: "\ud800a\udfff " * 10**5,
    "marks in two orders": lambda: "e" + "\u0301\u0316" * 300_000,
    "half-width marks": lambda: "\uff9e\u0334" * 300_000,
    "ligatures": lambda: "\ufdfa" * 50_000,
    "ideographs": lambda: "".join(map(chr, range(0x4E00, 0x9FFF))) * 40,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_has_few_features_before_the_test_times_out(name: str, text: Callable[[], str]) -> None:
    hostile = text()
    codes = built_in(name).codes(hostile, hostile[: 10**5])
    assert 1 <= len(codes) == len(set(codes.tolist())) <= MAX_FEATURES


def test_patterns_that_are_compiled_when_needed_are_linear() -> None:
    marks = "|" + _mark().pattern
    words = [_word(each, minus) for each in ("", marks) for minus in ("", _MINUS.pattern)]
    assert [ambiguous(pattern) for pattern in (_mark(), _MINUS, _ZEROS, *words)] == [None] * 7


def test_only_the_first_features_count() -> None:
    many = " ".join(f"w{i}" for i in range(MAX_FEATURES))
    assert row("tokens", many, many + " and more") == [1]


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(SettingError, match="unknown similarity 'token': did you mean 'tokens'"):
        find_similarity("token")
    assert set(NAMES) < set(similarity.registry().names)


class Lengths(Similarity):
    """A similarity of another package, which defines `matrix` alone."""

    name: ClassVar[str] = "lengths"
    summary: ClassVar[str] = "Ratio of lengths."

    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:
        sizes = np.array([len(text) for text in texts], np.float32)
        return np.asarray(np.minimum.outer(sizes, sizes) / np.maximum.outer(sizes, sizes))


class Wide(FeatureSimilarity):
    name: ClassVar[str] = "wide"
    summary: ClassVar[str] = "Features of too many bits."

    def features(self, text: str, prompt: str | None) -> Iterable[int]:
        return [2**64]


class Silent(Lengths):
    name: ClassVar[str] = "silent"
    summary: ClassVar[str] = None  # type: ignore[assignment]


def test_a_similarity_of_another_package_is_listed_used_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(*, group: str) -> list[EntryPoint]:
        classes = (Lengths, Silent, Wide)
        return [EntryPoint(each.name, f"{HERE}:{each.__name__}", group) for each in classes]

    monkeypatch.setattr("steelyard.foundation.registry.entry_points", entry_points)
    registry = similarity.registry.__wrapped__()
    monkeypatch.setattr(similarity, "registry", lambda: registry)
    blocks, _ = similarity_blocks(find_similarity("lengths"), ["a", "abc"], np.array([0, 2]), None)
    assert blocks.tolist() == [1, 21845 / 2**16, 21845 / 2**16, 1]
    rows = json.loads(steelyard("similarities", "--json").out)["similarities"]
    assert [row["name"] for row in rows[-3:]] == ["lengths", "silent", "wide"]
    assert rows[-3] == {"name": "lengths", "package": "tests", "summary": "Ratio of lengths."}
    assert "its class must have a text `summary`" in rows[-2]["summary"]
    with pytest.raises(SettingError, match="'wide' has features that are not integers of 64 bits"):
        find_similarity("wide").matrix(["a"], None)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[1.0]], "'lengths' returned an array of shape (1, 1) for 2 texts"),
        ([[1, 2], [2, 1]], "'lengths' returned a value that is not in [0, 1]"),
        ([[1, np.nan], [np.nan, 1]], "'lengths' returned a value that is not in [0, 1]"),
        ([[1, 0.5], [0.25, 1]], "'lengths' returned a matrix that is not symmetric with 1 on its diagonal"),
        ([[0.5, 0], [0, 1]], "'lengths' returned a matrix that is not symmetric with 1 on its diagonal"),
    ],
)
def test_a_matrix_that_breaks_the_contract_is_refused(
    monkeypatch: pytest.MonkeyPatch, matrix: list[list[float]], says: str
) -> None:
    monkeypatch.setattr(Lengths, "matrix", lambda *_: np.array(matrix))
    with pytest.raises(SettingError) as caught:
        similarity_blocks(Lengths(), ["a", "b"], np.array([0, 2]), None)
    assert str(caught.value) == f"the similarity {says}"


def test_the_verb_lists_every_similarity_with_its_summary() -> None:
    done = steelyard("similarities")
    assert done.code == 0
    for name in NAMES:
        assert f"{name} " in done.out
        assert find_similarity(name).summary in done.out


@pytest.mark.parametrize("name", ["tokens", "characters"])
@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("It is -5.", "It is 5.", False),
        ("It is −5.", "It is -5.", True),
        ("a loss of (-$5)", "a loss of -5", True),
        ("It costs $5.", "It costs 5.", True),
        ("3.0 km", "3 km", True),
        ("version 3.10", "version 3.1", False),
        ("from 2-5", "from 2 5", True),
    ],
)
def test_a_number_has_its_sign_but_no_currency_and_no_zeros_alone_after_its_point(
    name: str, a: str, b: str, equal: bool
) -> None:
    assert bool(find_similarity(name).matrix([a, b], None)[0, 1] == 1) is equal
