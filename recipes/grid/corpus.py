"""The questions as token ids, and back: everything a GPU stage needs to know of text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recipes.grid.ragged import Ragged

MARK = "Answer: "
PROMPT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
JUDGE = "<|im_end|>\n<|im_start|>user\nIs this answer correct? Reply Yes or No.<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True)
class Split:
    """Problems of one purpose: prompts as ids, gold answers, where they come from."""

    prompts: Ragged
    answers: list[str]
    domains: list[str]
    levels: list[int]

    def __len__(self) -> int:
        return len(self.answers)


@dataclass(frozen=True)
class Corpus:
    """The trimmed vocabulary and every split in it."""

    strings: list[str]  # our token -> text
    kept: list[int]  # our token -> the original vocabulary's id
    end: int
    newline: int
    judge: NDArray[np.uint16]  # asks whether the solution before it is correct
    yes: int
    no: int
    splits: dict[str, Split]
    solutions: dict[str, Ragged]  # of the training problems: verbose, terse, flawed

    @classmethod
    def read(cls, work: Path) -> Corpus:
        about = json.loads((work / "corpus.json").read_text())
        arrays = np.load(work / "corpus.npz")
        splits = {
            name: Split(Ragged.read(arrays, f"{name}_prompts"), **fields) for name, fields in about["splits"].items()
        }
        solutions = {style: Ragged.read(arrays, style) for style in about["solutions"]}
        plain = {name: about[name] for name in ("strings", "kept", "end", "newline", "yes", "no")}
        return cls(**plain, judge=arrays["judge"], splits=splits, solutions=solutions)

    def text(self, ids: NDArray[np.uint16]) -> str:
        return "".join(self.strings[i] for i in ids)

    def answer(self, ids: NDArray[np.uint16]) -> str | None:
        """Return what stands after the last mark, None when there is none."""
        _, mark, answer = self.text(ids).rpartition(MARK)
        return answer.split("\n")[0].strip() if mark else None

    def ends(self, ids: NDArray[np.uint16]) -> NDArray[np.int64]:
        """Return where each step of a response ends: at its newlines and at its last token."""
        breaks = np.flatnonzero(ids == self.newline)
        return breaks if len(ids) and ids[-1] == self.newline else np.append(breaks, len(ids) - 1)
