"""Small tokenizers that hold the tokens of the published ones under the same ids.

The rules that cut and join text (normaliser, pre-tokeniser, merges of newlines) are those of the real tokenizers;
ids nobody needs are filled with names that no text contains.
"""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

CUT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,%d}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
BYTES = [chr(i) for i in (*range(33, 127), *range(161, 173), *range(174, 256))]
BYTES += [chr(256 + i) for i in range(68)]  # the order of GPT-2: "!" is 0, "+" 10, "-" 12, a newline 198
NEWLINES = [("Ċ", "Ċ"), ("ĊĊ", "ĊĊ"), (".", "Ċ"), (".", "ĊĊ"), ("Ġ", "ĊĊ")]
WORDS = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "="), ("i", "n"), ("e", "r"), ("Ġ", "a"), ("o", "n")]


def qwen() -> Tokenizer:
    """Byte-level, NFC; the added tokens of Qwen2.5 with `<extra_0>` at 151651, one of them not special."""
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|object_{i}|>" for i in range(5)), "<extra_0>"]
    tokenizer = _bytes({}, 151643, digits=1)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in names])
    tokenizer.add_tokens([AddedToken("<tool_call>", normalized=False, special=False)])
    assert tokenizer.token_to_id("<extra_0>") == 151651
    return tokenizer


def llama() -> Tokenizer:
    """Byte-level; the added tokens of Llama 3 from 128000 on, a space and four newlines at 23535."""
    tokenizer = _bytes({"ĠĊĊĊĊ": 23535}, 128000, digits=3, more=[("Ġ", "ĊĊĊĊ")])
    names = ["<|begin_of_text|>", "<|end_of_text|>", *(f"<|reserved_special_token_{i}|>" for i in range(2))]
    names += ["<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>"]
    names += ["<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in names])
    assert tokenizer.token_to_id("<|eot_id|>") == 128009
    return tokenizer


def mistral() -> Tokenizer:
    """A sentence-piece vocabulary with bytes to fall back on; "▁ки" is 12902, "▁+" 648, "▁-" 387."""
    known = {"<unk>": 0, "<s>": 1, "</s>": 2, **{f"<0x{i:02X}>": i + 3 for i in range(256)}}
    known |= {"▁-": 387, "▁+": 648, "▁ки": 12902, "ки": 14000, "▁▁": 259, "▁к": 900}
    letters = "▁+-ки" + "".join(map(chr, range(33, 127))).replace("+", "").replace("-", "")
    known |= {letter: 28705 + i for i, letter in enumerate(letters)}
    merges = [("▁", "▁"), ("к", "и"), ("▁", "ки"), ("▁", "к"), ("▁", "+"), ("▁", "-")]
    model = models.BPE(_filled(known, 32000), merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    names = ("<unk>", "<s>", "</s>")
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in names])
    return tokenizer


def save(tokenizer: Tokenizer, folder: Path, **settings: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def _bytes(known: dict[str, int], size: int, *, digits: int, more: list[tuple[str, str]] | None = None) -> Tokenizer:
    merges = [*NEWLINES, *WORDS, *(more or [])]
    known |= {char: i for i, char in enumerate(BYTES)}
    joined = ["".join(pair) for pair in merges]
    known |= {text: 300 + i for i, text in enumerate(joined) if text not in known}
    tokenizer = Tokenizer(models.BPE(_filled(known, size), merges))
    cut = pre_tokenizers.Split(Regex(CUT % digits), "isolated")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, as_bytes])
    return tokenizer


def _filled(known: dict[str, int], size: int) -> dict[str, int]:
    taken = set(known.values())
    assert len(taken) == len(known)
    return known | {f"\x00unused {i}": i for i in range(size) if i not in taken}
