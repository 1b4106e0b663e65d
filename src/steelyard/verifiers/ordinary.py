"""Text to ids as the characters it is made of: by a tokenizer that knows no added token, so no text can make one.

fastokens does it about ten times as fast as tokenizers. It is used where it is installed, can read the tokenizer
and agrees on a probe; a text that it gives up on goes to tokenizers, which gives the same ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Ordinary: TypeAlias = Callable[[str], list[int]]

PROBE = (
    "", " ", "\n", "  \n\n \n", "\r\n\t x", "It's 12345.678 = 3\\frac{1}{2}!!\n\n", "▁a ки", "e\u0301 é ﬁ 你好 ½ 😀",
    "\x00", "<s><|im_start|><extra_0>", "".join(map(chr, range(0x500))),
)  # fmt: skip


def ordinary(tokenizer: Mapping[str, Any]) -> Ordinary:
    """What a tokenizer.json makes of a text, by the faster of the two packages that is right."""
    bare = {**tokenizer, "added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
    description = json.dumps(bare, ensure_ascii=False)
    slow = _by_tokenizers(description)
    fast = _by_fastokens(description)
    if fast is None or any(_tried(fast, text) != slow(text) for text in PROBE):
        return slow

    def ids(text: str) -> list[int]:
        found = _tried(fast, text)
        return slow(text) if found is None else found

    return ids


def _tried(fast: Ordinary, text: str) -> list[int] | None:
    """None where a limit of its regular expressions was reached."""
    try:
        return fast(text)
    except UnicodeEncodeError:  # a lone surrogate
        raise
    except ValueError:
        return None


def _by_fastokens(description: str) -> Ordinary | None:
    try:
        from fastokens import Tokenizer
    except ImportError:
        return None
    try:
        tokenizer = Tokenizer.from_json_str(description)
    except ValueError:  # a kind of tokenizer that it does not know
        return None
    return lambda text: tokenizer.encode_ordinary(text).ids


def _by_tokenizers(description: str) -> Ordinary:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)

    def ids(text: str) -> list[int]:
        text.encode()  # a lone surrogate
        found: list[int] = tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids
        return found

    return ids
