"""Texts to ids as the characters they are made of: by a tokenizer that knows no added token, so no text can make one.

fastokens does it ten times as fast as tokenizers and more, but takes two seconds to begin. So it begins once
tokenizers has read as much as it can in that time, and is used if it can read the tokenizer and agrees on a probe; a
text that it gives up on goes to tokenizers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Fast: TypeAlias = Callable[[str], list[int]]

LONG = 2_000_000  # characters
SHARED = "We add the numbers. " * 300
PROBE = [
    "", " ", "\n", "  \n\n \n", "\r\n\t x", "It's 12345.678 = 3\\frac{1}{2}!!\n\n", "▁a ки", "e\u0301 é ﬁ 你好 ½ 😀",
    "\x00", "\u180e's a \u180eb", "<s><|im_start|><extra_0>", "".join(map(chr, range(0x500))),
    f"{SHARED}is   x", f"{SHARED}is   ",  # some versions remember too much of a text that begins alike
]  # fmt: skip


class Ordinary:
    """The ids of texts, none of which is read as an added token."""

    def __init__(self, description: str) -> None:
        from tokenizers import Tokenizer

        bare: dict[str, Any] = {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
        self._description = json.dumps(json.loads(description) | bare, ensure_ascii=False)
        self._tokenizer = Tokenizer.from_str(self._description)
        self._fast: Fast | None = None
        self._until_long = LONG

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        if self._until_long > 0:
            self._until_long -= sum(map(len, texts))
            if self._until_long <= 0:
                self._fast = agreeing(self._description, self._tokenizer)
        if self._fast:
            try:
                return [self._fast(text) for text in texts]
            except UnicodeEncodeError:  # a lone surrogate
                raise
            except ValueError:  # a limit of its regular expressions
                pass
        return slowly(self._tokenizer, texts)


def slowly(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """What tokenizers makes of texts; a lone surrogate is a UnicodeEncodeError."""
    for text in texts:
        text.encode()
    return [row.ids for row in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def agreeing(description: str, tokenizer: Tokenizer) -> Fast | None:
    """What fastokens does with a text; None where it is not installed, fails or differs."""
    with suppress(Exception):
        from fastokens import Tokenizer as FastTokenizer

        encode = FastTokenizer.from_json_str(description).encode_ordinary
        if [encode(text).ids for text in PROBE] == slowly(tokenizer, PROBE):
            return lambda text: encode(text).ids
    return None
