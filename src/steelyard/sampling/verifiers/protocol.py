"""What a protocol is: how a question and the steps of a response are put to a verifier, and how its outputs are read.

A protocol is two pure functions. `render` lays out a question and its steps; `read` turns what came back into
one score in [0, 1] per step. Which of the three kinds a protocol is says where it can run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from steelyard.sampling.verifiers.tokens import Tokens

Array: TypeAlias = NDArray[np.float64]
Message: TypeAlias = dict[str, str]

TOKEN_HEAD = "token-head"  # Linear-ReLU-Linear(2) on every token  # noqa: S105
VALUE_HEAD = "value-head"  # Linear(1) on every token
WORDS = "words"  # the language model's own logits of two words


@dataclass(frozen=True)
class Verifier:
    """One verifier: the name the user types, where its weights are published, how responses are split."""

    name: str
    model: str
    split: str


@dataclass(frozen=True)
class Rendered:
    """The ids a verifier sees, and for every step the position where its output is read."""

    ids: list[int]
    positions: list[int]


@dataclass(frozen=True)
class TokenProtocol:
    """A process reward model: ids in, a row of numbers per token out, read at the positions.

    `render` is given at least one step; a step may be empty.

    `outputs` of `read` has the shape (tokens, columns): two columns for a token head, one for a value head,
    one per word (in the order of `words`) otherwise.
    """

    what: str  # how it is asked, in one sentence
    verifiers: tuple[Verifier, ...]
    head: str
    context: int  # tokens it can see
    needs: Mapping[str, int]  # texts that must be one token of this id
    render: Callable[[str, Sequence[str], Tokens], Rendered]
    read: Callable[[Array, Sequence[int]], Array]
    words: tuple[str, ...] = ()
    served: str = ""  # what to give `vllm serve` besides the name; empty: vLLM cannot serve it
    prepare: Callable[[Sequence[str]], list[str]] = field(default=list)  # done before steps are dropped


@dataclass(frozen=True)
class ChatProtocol:
    """A verifier behind any OpenAI-compatible server: one more question, read from the first token's alternatives."""

    what: str
    verifiers: tuple[Verifier, ...]
    render: Callable[[str, Sequence[str]], list[Message]]
    read: Callable[[Mapping[str, float]], list[float] | None]  # token -> log-probability; None: it said neither


@dataclass(frozen=True)
class RecordedProtocol:
    """A verifier that needs no model: it reads what the run has recorded of a sample."""

    what: str
    verifiers: tuple[Verifier, ...]
    read: Callable[[Mapping[str, Any]], list[float] | None]  # None: nothing was recorded,
    missing: str = "the run recorded nothing that it reads"  # and why there is no score then


Protocol: TypeAlias = TokenProtocol | ChatProtocol | RecordedProtocol


def problem_of(_name: str, thing: object) -> str | None:
    """Say what is wrong with a protocol of another package, or None.

    >>> problem_of("mine", "a text")
    'it must be a TokenProtocol, a ChatProtocol or a RecordedProtocol with at least one verifier'
    """
    if not isinstance(thing, TokenProtocol | ChatProtocol | RecordedProtocol) or not thing.verifiers:
        return "it must be a TokenProtocol, a ChatProtocol or a RecordedProtocol with at least one verifier"
    return None


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow.

    >>> sigmoid(np.array([0.0, -1000.0, 1000.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small), np.float64)


def two_way(outputs: Array, positions: Sequence[int], good: int) -> Array:
    """Softmax over two columns at the positions, the share of column `good`.

    softmax([a, b])[1] = sigmoid(b - a): no pair is lost when a probability underflows.
    """
    rows = np.asarray(outputs, np.float64)[list(positions)]
    return sigmoid(rows[:, good] - rows[:, 1 - good])
