"""Two packages read the published vocabularies alike, and no text makes an added token."""

from __future__ import annotations

import json
import sys
from typing import Any

import fastokens
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from steelyard.verifiers import ordinary as module
from steelyard.verifiers.ordinary import ordinary
from tests.models.vocabularies import FOLDER, tokenizer, tokens

NAMES = ("qwen", "llama", "mistral")
PIECES = (
    " ", "  ", "\n", "\n\n", "\r\n", "\t", "'s", "'LL", "12", "3456789", "½", "²", "Ⅷ", "x", "Frac", "\\frac{", "}$",
    "...", "!!", "▁", "ки", "é", "e\u0301", "ﬁ", "你好", "한국", "ا", "\u200d", "👩‍👩‍👧", "\ufeff", "\x00", "\u2028",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


def bare(name: str) -> Tokenizer:
    """The tokenizer without added tokens, as its package reads it."""
    description = json.loads((FOLDER / name / "tokenizer.json").read_text())
    return Tokenizer.from_str(json.dumps(description | {"added_tokens": []}))


@pytest.fixture(scope="module", params=NAMES)
def both(request: pytest.FixtureRequest) -> tuple[str, Tokenizer]:
    return request.param, bare(request.param)


@given(text=texts.filter(lambda text: text.isascii() or text.encode(errors="ignore").decode() == text))
@example(text="")
@example(text=" " * 5000 + "a" * 5000 + "\n" * 5000)
def test_the_fast_ids_are_those_of_tokenizers(both: tuple[str, Tokenizer], text: str) -> None:
    name, slow = both
    assert tokens(name).plain([text]) == [slow.encode(text, add_special_tokens=False).ids]


def test_characters_of_all_of_unicode_are_read_alike(both: tuple[str, Tokenizer]) -> None:
    name, slow = both
    characters = [chr(i) for i in (*range(0x3000), *range(0x3000, 0x110000, 37)) if not 0xD800 <= i < 0xE000]
    asked = [f"a{char}b 1{char}2{char} {char}{char}\n" for char in characters]
    expected = [row.ids for row in slow.encode_batch(asked, add_special_tokens=False)]
    assert tokens(name).plain(asked) == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_added_tokens_are_read_as_their_characters(name: str) -> None:
    for added in tokens(name).added:
        text = f"so {added} is{added}"
        (ids,) = tokens(name).plain([text])
        assert not set(ids) & set(tokens(name).added.values())
        assert as_text(name, ids) == text


def as_text(name: str, ids: list[int]) -> str:
    """What ids stand for, token by token."""
    joined = "".join(tokenizer(name).id_to_token(number) for number in ids)
    return joined.replace("Ġ", " ").replace("▁", " ").removeprefix(" " if name == "mistral" else "")


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    assert tokens("qwen").plain(["a\ud800b", "c"]) == tokens("qwen").plain(["a?b", "c"])


def description(made: Tokenizer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made.to_str())
    return found


def test_a_tokenizer_that_fastokens_cannot_read_is_left_to_tokenizers() -> None:
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0), ("ab", -1.5), ("b", -2.0)], unk_id=0))
    with pytest.raises(ValueError, match="Unigram"):
        fastokens.Tokenizer.from_json_str(made.to_str())
    assert ordinary(description(made))("abba") == made.encode("abba").ids


def test_a_text_that_fastokens_gives_up_on_is_left_to_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = bare("mistral")

    def gives_up(text: str) -> list[int]:
        if text not in module.PROBE:
            raise ValueError("match limit exceeded")
        ids: list[int] = slow.encode(text, add_special_tokens=False).ids
        return ids

    monkeypatch.setattr(module, "_by_fastokens", lambda _description: gives_up)
    assert ordinary(description(tokenizer("mistral")))("so 12!") == slow.encode("so 12!", add_special_tokens=False).ids


def test_fastokens_is_not_used_where_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_by_fastokens", lambda _description: lambda _text: [7])
    assert ordinary(description(tokenizer("mistral")))("a") == bare("mistral").encode("a", add_special_tokens=False).ids


def test_without_fastokens_the_ids_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastokens", None)
    slow = ordinary(description(tokenizer("mistral")))
    for text in ("", " Is 3 + 4 < 8? <s></s>\n\n ки", "é" * 300):
        assert [slow(text)] == tokens("mistral").plain([text])
    with pytest.raises(UnicodeEncodeError):
        slow("\ud800")
