"""Two packages read the published vocabularies alike, and no text makes an added token."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import fastokens
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from steelyard.sampling.verifiers import tokens as module
from steelyard.sampling.verifiers.tokens import (
    Fast,
    Ordinary,
    Tokens,
    agreeing,
    slowly,
)
from tests.models.vocabularies import FOLDER, bare, tokenizer, tokens

NAMES = ("qwen", "llama", "mistral")
PIECES = (
    " ", "  ", "\n", "\n\n", "\r\n", "\t", "'s", "'LL", "12", "3456789", "½", "²", "Ⅷ", "x", "Frac", "\\frac{", "}$",
    "...", "!!", "▁", "ки", "é", "e\u0301", "ﬁ", "你好", "한국", "ا", "\u200d", "👩‍👩‍👧", "\ufeff", "\x00", "\u180e",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


def description(name: str) -> str:
    return (FOLDER / name / "tokenizer.json").read_text()


def ids(made: Tokenizer, text: str) -> list[int]:
    found: list[int] = made.encode(text, add_special_tokens=False).ids
    return found


@pytest.fixture(scope="module", params=NAMES)
def both(request: pytest.FixtureRequest) -> tuple[Fast, Tokenizer]:
    """fastokens and tokenizers; that they agree on the probe is asserted."""
    slow = bare(request.param)
    fast = agreeing(slow.to_str(), slow)
    assert fast is not None
    return fast, slow


@given(text=texts.filter(lambda text: text.encode(errors="ignore").decode() == text))
@example(text="")
@example(text=" " * 5000 + "a" * 5000 + "\n" * 5000)
def test_the_fast_ids_are_those_of_tokenizers(both: tuple[Fast, Tokenizer], text: str) -> None:
    fast, slow = both
    assert fast(text) == ids(slow, text)


@given(parts=st.lists(texts.filter(lambda text: text.encode(errors="ignore").decode() == text), max_size=4))
def test_no_text_changes_the_ids_of_the_next(both: tuple[Fast, Tokenizer], parts: list[str]) -> None:
    fast, slow = both
    for part in parts:
        assert fast(module.SHARED + part) == ids(slow, module.SHARED + part)


def test_characters_of_all_of_unicode_are_read_alike(both: tuple[Fast, Tokenizer]) -> None:
    fast, slow = both
    characters = [chr(i) for i in (*range(0x3000), *range(0x3000, 0x110000, 37)) if not 0xD800 <= i < 0xE000]
    asked = [f"a{char}b 1{char}2{char} {char}{char}\n{char}'s" for char in characters]
    assert list(map(fast, asked)) == slowly(slow, asked)


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_added_tokens_are_read_as_their_characters(name: str) -> None:
    for added in tokens(name).added:
        text = f"so {added} is{added}"
        (found,) = tokens(name).plain([text])
        assert not set(found) & set(tokens(name).added.values())
        assert as_text(name, found) == text


def as_text(name: str, found: list[int]) -> str:
    """What ids stand for, token by token."""
    joined = "".join(str(tokenizer(name).id_to_token(number)) for number in found)
    return joined.replace("Ġ", " ").replace("▁", " ").removeprefix(" " if name == "mistral" else "")


def test_an_added_token_that_merges_build_is_taken_out() -> None:
    made = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    made.add_special_tokens(["ab"])
    assert Tokens(made.to_str()).plain(["aabb", "ab"]) == [[0, 1], []]


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    assert tokens("qwen").plain(["a\ud800b", "c"]) == tokens("qwen").plain(["a?b", "c"])


def test_fastokens_begins_when_a_run_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def begin(*_: object) -> Fast:
        begun.append(1)
        return lambda text: [len(text)]

    monkeypatch.setattr(module, "LONG", 10)
    monkeypatch.setattr(module, "agreeing", begin)
    read = Ordinary(description("mistral"))
    slow = bare("mistral")
    assert read(["so 12!"]) == [ids(slow, "so 12!")]
    assert not begun
    assert read(["four", "more"]) == read(["four", "more"]) == [[4], [4]]
    assert len(begun) == 1


def long_one(monkeypatch: pytest.MonkeyPatch, name: str) -> Ordinary:
    """Reads as in a long run."""
    monkeypatch.setattr(module, "LONG", 1)
    return Ordinary(description(name))


def test_a_text_that_fastokens_gives_up_on_is_left_to_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(_text: str) -> list[int]:
        raise ValueError("match limit exceeded")

    monkeypatch.setattr(module, "agreeing", lambda *_: gives_up)
    assert long_one(monkeypatch, "mistral")(["so 12!"]) == [ids(bare("mistral"), "so 12!")]


def test_a_tokenizer_that_fastokens_cannot_read_is_left_to_tokenizers() -> None:
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("ab", -1.5), ("b", -2.0)], unk_id=0))
    with pytest.raises(ValueError, match="Unigram"):
        fastokens.Tokenizer.from_json_str(made.to_str())
    assert agreeing(made.to_str(), made) is None


def test_a_tokenizer_that_cannot_read_the_probe_still_reads_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Tokenizer(models.BPE({"a": 0, "b": 1}, [], unk_token="<unk>"))
    monkeypatch.setattr(module, "LONG", 1)
    assert Ordinary(made.to_str())(["ab"]) == [[0, 1]]


@pytest.mark.parametrize("fault", [AttributeError, RuntimeError, ValueError, TypeError])
def test_fastokens_is_not_used_where_it_fails(monkeypatch: pytest.MonkeyPatch, fault: type[Exception]) -> None:
    def fails(*_: object) -> None:
        raise fault

    monkeypatch.setattr(fastokens, "Tokenizer", SimpleNamespace(from_json_str=fails))
    assert long_one(monkeypatch, "mistral")(["a"]) == [ids(bare("mistral"), "a")]


def test_fastokens_is_not_used_where_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = SimpleNamespace(encode_ordinary=lambda _text: SimpleNamespace(ids=[7]))
    monkeypatch.setattr(fastokens, "Tokenizer", SimpleNamespace(from_json_str=lambda _description: wrong))
    assert long_one(monkeypatch, "mistral")(["a"]) == [ids(bare("mistral"), "a")]


def test_without_fastokens_the_ids_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastokens", None)
    slow = long_one(monkeypatch, "mistral")
    for text in ("", " Is 3 + 4 < 8? <s></s>\n\n ки", "é" * 300):
        assert slow([text]) == tokens("mistral").plain([text])
    with pytest.raises(UnicodeEncodeError):
        slow(["\ud800"])
