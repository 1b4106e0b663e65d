"""How much of everything, and the shape of the verifier."""

from __future__ import annotations

from dataclasses import dataclass

SEED = 19
VERIFIER, VOCABULARY, SPLIT = "qwen-prm", 151_936, "merge-blank"
READINGS = ("packed", "masked", "float32")


@dataclass(frozen=True)
class Sizes:
    """Questions of the grid that are learned from are not voted on."""

    problems: int = 40_000  # made anew, with solutions that are correct and solutions with a mistake
    learned: int = 300  # questions of the grid
    labels: int = 200  # questions of the rest that a plan is fitted on
    layers: int = 16
    width: int = 512
    heads: int = 8
    key_heads: int = 2
    middle: int = 1536
    epochs: int = 5
    rate: float = 6e-4
    tokens: int = 32_768  # a training batch
    llms: int = 5
    most: int | None = None  # questions that are voted on


FULL = Sizes()
SMALL = Sizes(
    problems=60, learned=3, labels=12, layers=2, width=64, heads=2, key_heads=1, middle=128, epochs=1, tokens=4096,
    llms=1, most=24,
)  # fmt: skip
