"""What is trained on what: every size, seed and rate of the grid in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEED = 20261115


@dataclass(frozen=True)
class Shape:
    """A Llama's dimensions."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    theta: float = 100_000.0
    eps: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads


SHAPES = {
    "smol": Shape(layers=30, width=576, heads=9, kv_heads=3, hidden=1536),  # SmolLM2-135M
    "tiny": Shape(layers=8, width=384, heads=6, kv_heads=2, hidden=1024),
    "mid": Shape(layers=10, width=512, heads=8, kv_heads=4, hidden=1408),
}


@dataclass(frozen=True)
class LLM:
    """One language model: what it starts from and what it reads. "smol" starts from SmolLM2, others from scratch."""

    problems: int
    epochs: int
    style: str = "verbose"  # or "terse", or "both"
    flawed: float = 0.0  # share of the training solutions with a systematic mistake
    shape: str = "smol"
    split: str = "train"
    rate: float = 3e-4
    batch: int = 1  # in multiples of Sizes.tokens


LLMS = {  # the rows of the grid
    "smol-much": LLM(problems=16_000, epochs=2),
    "smol-terse": LLM(problems=12_000, epochs=2, style="terse"),
    "smol-little": LLM(problems=5_000, epochs=4),
    "smol-misled": LLM(problems=16_000, epochs=2, flawed=0.35),
    "tiny-scratch": LLM(problems=24_000, epochs=4, shape="tiny", rate=1e-3),
}
PUPILS = {  # whose mistakes the strong verifiers learn from; none of them is in the grid
    "pupil-verbose": LLM(problems=24_000, epochs=4, shape="tiny", rate=1e-3),
    "pupil-misled": LLM(problems=24_000, epochs=4, flawed=0.35, shape="tiny", rate=1e-3),
    "pupil-terse": LLM(problems=24_000, epochs=4, style="terse", shape="tiny", rate=1e-3),
}
SOLVER = {"solver": LLM(72_000, epochs=3, style="both", shape="mid", split="solver", rate=1e-3, batch=2)}
MODELS = LLMS | PUPILS | SOLVER


@dataclass(frozen=True)
class Verifier:
    """One verifier: whose responses it learns from, and which positions carry which label.

    labels: "hard" (a step is good when any rollout from it ends right), "soft" (the share that
    do), "token" (the outcome on every token), "last" (the outcome on the last token alone).
    """

    labels: str
    llms: tuple[str, ...]
    start: str | None = None  # a model to start from; SmolLM2 as published if none
    responses: int | None = None  # learn from this many only
    frozen: bool = False  # train the head alone
    surprise: bool = False  # the head also reads how likely the trunk finds the tokens
    epochs: int = 1
    rate: float = 2e-4


READER: Any = {
    "frozen": True,
    "surprise": True,
    "rate": 2e-3,
}  # a language model left as it is and read by a head
VERIFIERS = {
    "prm_hard": Verifier("hard", ("pupil-verbose", "pupil-misled"), start="pupil-verbose", **READER, epochs=2),
    "prm_soft": Verifier("soft", tuple(PUPILS), start="solver", **READER, epochs=2),
    "prm_other": Verifier("soft", ("pupil-terse",), start="solver", **READER, epochs=2),
    "orm_token": Verifier("token", tuple(PUPILS), start="solver"),
    "orm_last": Verifier("last", tuple(PUPILS), start="solver", **READER),
    "orm_little": Verifier("token", ("smol-much",), responses=1_000, epochs=2),
    "probe": Verifier("token", tuple(LLMS), responses=20_000, frozen=True, rate=2e-3),
}


@dataclass(frozen=True)
class Rollouts:
    """Responses to learn from: so many a problem, and so many continuations of the steps of some."""

    split: str
    samples: int
    step_problems: int
    step_samples: int
    step_rollouts: int = 4


ROLLOUTS = dict.fromkeys(LLMS, Rollouts("rollout", 8, 1_500, 4)) | dict.fromkeys(
    PUPILS, Rollouts("practice", 4, 3_000, 2)
)


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    splits: tuple[tuple[str, int], ...] = (
        ("train", 24_000),  # problems the language models may read
        ("rollout", 2_000),  # problems the verifiers learn from
        ("test", 1_000),  # the grid's own
        ("solver", 72_000),
        ("practice", 6_000),
    )
    levels: tuple[int, int, int] = (1, 1, 1)
    samples: int = 64
    slots: int = 8192
    context: int = 320
    longest: int = 200  # new tokens
    tokens: int = 16_384  # a training batch
    temperature: float = 0.7
    top_p: float = 0.9


FULL = Sizes()
SMALL = Sizes(  # a rehearsal on a CPU
    splits=(("train", 200), ("rollout", 12), ("test", 8), ("solver", 200), ("practice", 12)),
    samples=4,
    slots=24,
    longest=96,
    tokens=4096,
)
SMALL_SHAPES = dict.fromkeys(SHAPES, Shape(layers=2, width=64, heads=4, kv_heads=2, hidden=128))
