"""Text to ids, where no text can make a special token.

Protocols put special tokens where they belong by id; the question and the response are only ever encoded by
`plain`, which reads `<|im_start|>` in them as the characters it is made of (plain_tokenizer.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.plain_tokenizer import Ordinary

INSTALL = "pip install 'steelyard[prm]'"


class Tokens:
    """A tokenizer as protocols use it."""

    def __init__(self, description: str, settings: Mapping[str, Any] | None = None, name: str = "") -> None:
        from tokenizers import Tokenizer

        self.settings = settings or {}  # tokenizer_config.json
        self.name = name
        decoder = Tokenizer.from_str(description).get_added_tokens_decoder()  # the description is a tokenizer.json
        self.added: dict[str, int] = {token.content: number for number, token in decoder.items()}
        self.learned: dict[str, Any] = {}  # what a protocol worked out once, by its name
        self._ordinary = Ordinary(description)
        self._never = frozenset(self.added.values())
        self._fixed: dict[str, list[int]] = {}

    @classmethod
    def load(cls, folder: Path) -> Tokens:
        """Read the tokenizer of a model's folder."""
        try:
            import tokenizers  # noqa: F401
        except ImportError:
            raise VerifierError(f"tokenizers are not installed: {INSTALL}") from None
        file = folder / "tokenizer.json"
        if not file.is_file():
            raise VerifierError(
                f"{folder} has no tokenizer.json: write one with transformers, "
                f"AutoTokenizer.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
            )
        settings = _settings(folder)
        try:
            return cls(file.read_text("utf-8"), settings, folder.name)
        except Exception as error:  # noqa: BLE001 - the package raises plain Exception
            raise VerifierError(f"cannot read {file}: {error}; download it again") from None

    def plain(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, none of them an added token. A lone surrogate is read as "?"."""
        try:
            rows = self._ordinary(texts)
        except UnicodeEncodeError:
            rows = self._ordinary([text.encode("utf-8", "replace").decode() for text in texts])
        return [self._only_text(row) for row in rows]

    def fixed(self, text: str) -> list[int]:
        """The ids of a text of the layout, remembered."""
        if text not in self._fixed:
            self._fixed[text] = self.plain([text])[0]
        return self._fixed[text]

    def one(self, text: str) -> int:
        """The id of an added token, or of a text that is one token."""
        if text in self.added:
            return self.added[text]
        ids = self.fixed(text)
        if len(ids) != 1:
            raise VerifierError(f"{self.name}: {text!r} is not one token here ({ids}): this is another tokenizer")
        return ids[0]

    def check(self, needs: Mapping[str, int]) -> None:
        """Assert that the tokens a protocol relies on have the published ids."""
        for text, expected in needs.items():
            found = self.one(text)
            if found != expected:
                raise VerifierError(
                    f"{self.name}: token {text!r} is {found}, expected {expected}: "
                    "this model has another tokenizer; name the one the verifier was published with by --model"
                )

    def parts(self, text: str) -> list[str | int]:
        """A text of a layout, cut at its added tokens, which become ids.

        Only for layouts (a chat template), never for a question or a response.
        """
        pieces = (piece for piece in self._cut.split(text) if piece) if self.added else iter([text])
        numbers: dict[str, str | int] = dict(self.added)
        return [numbers.get(piece, piece) for piece in pieces]

    @cached_property
    def _cut(self) -> re.Pattern[str]:
        longest_first = sorted(map(re.escape, self.added), key=len, reverse=True)
        return re.compile(f"({'|'.join(longest_first)})")

    def _only_text(self, ids: list[int]) -> list[int]:
        """Take out added tokens that merges happen to build."""
        return ids if self._never.isdisjoint(ids) else [number for number in ids if number not in self._never]


def _settings(folder: Path) -> dict[str, Any]:
    """tokenizer_config.json, with the chat template that may stand in a file of its own."""
    file, template = folder / "tokenizer_config.json", folder / "chat_template.jinja"
    try:
        settings: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
        if template.is_file():
            settings["chat_template"] = template.read_text()
    except (OSError, ValueError) as error:
        raise VerifierError(f"cannot read {file}: {error}; download it again") from None
    return settings
