"""A tokenizer without the tokenizers package: a character is its code point, so that layouts can be read as text.

Only what the layouts name is more than a character: special tokens, and the two tags that are ordinary words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.sampling.verifiers.protocol import Rendered
from steelyard.sampling.verifiers.tokens import Tokens

SPECIAL = (
    "<|im_start|>", "<|im_end|>", "<extra_0>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eot_id|>", "<|reserved_special_token_0|>", "<s>", "</s>",
)  # fmt: skip
TAGS = {" ки": 0xE000, " \n\n\n\n": 0xE001}
FIRST = 0x110000


class PlainTokens(Tokens):
    """Tokens, character by character."""

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.settings = settings or {}
        self.name = "plain"
        self.added = {name: FIRST + i for i, name in enumerate(SPECIAL)}
        self.learned: dict[str, Any] = {}
        self._fixed: dict[str, list[int]] = {}

    def plain(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._ids(text) for text in texts]

    def one(self, text: str) -> int:
        named = {**TAGS, "ки": TAGS[" ки"]} | self.added
        return named[text] if text in named else ord(text)

    def check(self, needs: Mapping[str, int]) -> None:
        """The ids are ours."""

    def shown(self, rendered: Rendered) -> str:
        """A layout as text: special tokens in ⟨⟩, the place where step k is read as ▲k after the token."""
        names = {number: f"⟨{name}⟩" for name, number in {**self.added, **TAGS}.items()}
        parts = [names[number] if number in names else chr(number) for number in rendered.ids]
        for step, position in enumerate(rendered.positions, 1):
            parts[position] += f"▲{step}"
        return "".join(parts)

    def _ids(self, text: str) -> list[int]:
        for tag, number in TAGS.items():
            text = text.replace(tag, chr(number))
        return [ord(char) for char in text]
