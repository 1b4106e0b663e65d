"""Text to ids, where no text can make a special token.

Protocols put special tokens where they belong by id; the question and the response are only ever encoded by
`plain`, which reads `<|im_start|>` in them as the characters it is made of (`Ordinary`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.foundation.errors import VerifierError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

INSTALL = "pip install 'steelyard[prm]'"
Fast: TypeAlias = Callable[[str], list[int]]
LONG = 2_000_000  # characters
SHARED = "We add the numbers. " * 300
PROBE = [
    "", " ", "\n", "  \n\n \n", "\r\n\t x", "It's 12345.678 = 3\\frac{1}{2}!!\n\n", "▁a ки", "e\u0301 é ﬁ 你好 ½ 😀",
    "\x00", "\u180e's a \u180eb", "<s><|im_start|><extra_0>", "".join(map(chr, range(0x500))),
    f"{SHARED}is   x", f"{SHARED}is   ",  # some versions cache too much of texts with the same beginning
]  # fmt: skip


class Tokens:
    """A tokenizer as protocols use it."""

    def __init__(self, description: str, settings: Mapping[str, Any] | None = None, name: str = "") -> None:
        from tokenizers import Tokenizer

        self.settings = settings or {}  # tokenizer_config.json
        self.name = name
        decoder = Tokenizer.from_str(description).get_added_tokens_decoder()  # the description is a tokenizer.json
        self.added: dict[str, int] = {token.content: number for number, token in decoder.items()}
        self.learned: dict[str, Any] = {}  # results that a protocol caches, by its name
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
        """The ids of a text of the layout, cached."""
        if text not in self._fixed:
            self._fixed[text] = self.plain([text])[0]
        return self._fixed[text]

    def one(self, text: str) -> int:
        """The id of an added token, or of a text that is one token."""
        if text in self.added:
            return self.added[text]
        ids = self.fixed(text)
        if len(ids) != 1:
            raise VerifierError(f"{self.name}: {text!r} is not one token here ({ids}): this is a different tokenizer")
        return ids[0]

    def check(self, needs: Mapping[str, int]) -> None:
        """Assert that the tokens a protocol relies on have the published ids."""
        for text, expected in needs.items():
            actual = self.one(text)
            if actual != expected:
                raise VerifierError(
                    f"{self.name}: token {text!r} is {actual}, expected {expected}: "
                    "this model has a different tokenizer; pass the model the verifier was published with as --model"
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
        """Remove added tokens that merges happen to build."""
        return ids if self._never.isdisjoint(ids) else [number for number in ids if number not in self._never]


def _settings(folder: Path) -> dict[str, Any]:
    """tokenizer_config.json, with the chat template, which may be in a file of its own."""
    file, template = folder / "tokenizer_config.json", folder / "chat_template.jinja"
    try:
        settings: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
        if template.is_file():
            settings["chat_template"] = template.read_text()
    except (OSError, ValueError) as error:
        raise VerifierError(f"cannot read {file}: {error}; download it again") from None
    return settings


class Ordinary:
    """The ids of texts, by a tokenizer without added tokens, so that no text can make one.

    fastokens is at least ten times as fast as tokenizers, but takes two seconds to start. So it is started once
    tokenizers has read about as much as it can in that time, and is used if it can load the tokenizer and agrees on a
    probe; a text that it fails on goes to tokenizers.
    """

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
    """The ids of texts by tokenizers; a lone surrogate is a UnicodeEncodeError."""
    for text in texts:
        text.encode()
    return [row.ids for row in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


def agreeing(description: str, tokenizer: Tokenizer) -> Fast | None:
    """The encoder of fastokens; None if it is not installed, fails or differs."""
    with suppress(Exception):
        from fastokens import Tokenizer as FastTokenizer

        encode = FastTokenizer.from_json_str(description).encode_ordinary
        if [encode(text).ids for text in PROBE] == slowly(tokenizer, PROBE):
            return lambda text: encode(text).ids
    return None


def without(text: str, tag: str) -> str:
    """Remove a tag, and the tags that the removal would create, in linear time.

    >>> without("a ки b ккии c", "ки")
    'a  b  c'
    """
    text = text.replace(tag, "")
    if tag not in text:
        return text
    output: list[str] = []
    for char in text:
        output.append(char)
        if "".join(output[-len(tag) :]) == tag:
            del output[-len(tag) :]
    return "".join(output)


TEXTS = ["*.json", "*.jinja"]


WEIGHTS = ["*.safetensors"]


def model_folder(name: str, *, weights: bool = True) -> Path:
    """The folder of a model; a Hugging Face name is downloaded once, without any code it may bring."""
    if Path(name).is_dir():
        return Path(name)
    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise VerifierError(f"no model at {name!r}: pass a folder or a Hugging Face name (OWNER/NAME) with --model")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise VerifierError(f"cannot fetch {name}: the model packages are not installed; {INSTALL}") from None
    try:
        return Path(snapshot_download(name, allow_patterns=TEXTS + (WEIGHTS if weights else [])))
    except Exception as error:  # noqa: BLE001 - any error of the network, the disk or the hub
        reason = " ".join(str(error).split())[:200]
        raise VerifierError(
            f"cannot fetch {name} from the Hugging Face hub: {reason}; or download it and pass its folder with --model"
        ) from None
