"""What a protocol is: the input of a verifier for a question and the steps of a response, and the scores it outputs.

A protocol is two pure functions. `render` lays out a question and its steps; `read` turns the outputs into one score in
[0, 1] per step. The kind of a protocol determines where it can run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from steelyard.sampling.verifiers.tokens import Tokens

Array: TypeAlias = NDArray[np.float64]
Message: TypeAlias = dict[str, str]
TOKEN_HEAD = "token-head"  # Linear-ReLU-Linear(2) on every token  # noqa: S105
VALUE_HEAD = "value-head"  # Linear(1) on every token
WORDS = "words"  # the language model's own logits of two words
# <|im_end|>, <s>, </s>, <extra_0>, <start_of_turn>, <｜User｜>, [INST], [/INST], <<SYS>>
LIKE_SPECIAL = re.compile(r"<(?=[<|｜/]{0,2}[\w ▁-]{1,60}[|｜]?>)|[|｜](?=>)|\[(?=/?[A-Z_]{3,40}\])")


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

    similarity: ClassVar[str | None] = None  # the similarity that compares its results; None: they are scores
    description: str  # a description in one sentence
    verifiers: tuple[Verifier, ...]
    head: str
    context: int  # tokens it can see
    needs: Mapping[str, int]  # texts that must be one token of this id
    render: Callable[[str, Sequence[str], Tokens], Rendered]
    read: Callable[[Array, Sequence[int]], Array]
    words: tuple[str, ...] = ()
    served: str = ""  # the options of `vllm serve`; empty: vLLM cannot serve it
    prepare: Callable[[Sequence[str]], list[str]] = field(default=list)  # applied before steps are dropped


@dataclass(frozen=True)
class ChatProtocol:
    """A verifier on any OpenAI-compatible server: another question, scored by the alternatives of its first token."""

    similarity: ClassVar[str | None] = None
    description: str
    verifiers: tuple[Verifier, ...]
    render: Callable[..., list[Message]]  # (question, steps), and the keyword `criteria` if the protocol takes any
    read: Callable[[Mapping[str, float]], list[float] | None]  # token -> log-probability; None: no expected token
    criteria: str = ""  # the default criteria; empty: the protocol takes none
    reads_text: bool = False  # whether the reply's first word will do if the server returns no log-probabilities


@dataclass(frozen=True)
class PairProtocol(ChatProtocol):
    """A judge that compares two responses to a question: `steps` of `render` are their texts.

    `read` returns the probability that the first is better, or an empty list if the reply is unreadable: the reply is
    billed, and the same request would return it again. All responses of a question are scored together, by comparisons
    with their neighbours in a ring and with `leaders` of them (verifiers/tournament.py).
    """

    leaders: int = 2


@dataclass(frozen=True)
class MeaningProtocol(PairProtocol):
    """A judge that says whether two responses to a question mean the same.

    `read` returns the probability that they do, or an empty list. The result is a similarity, not a score. At most
    `leaders` responses of a question are compared with all others (verifiers/leaders.py). A server is refused if it
    does not tell the two `different` responses to the question of its probe apart.
    """

    similarity: ClassVar[str | None] = "judged"
    different: tuple[str, str] = ("It is 2.", "It is 3.")


@dataclass(frozen=True)
class RecordedProtocol:
    """A verifier that needs no model: it reads the record of a sample in the run."""

    similarity: ClassVar[str | None] = None
    description: str
    verifiers: tuple[Verifier, ...]
    read: Callable[[Mapping[str, Any]], list[float] | None]  # None: nothing was recorded
    missing: str = "the run recorded nothing that it reads"  # the reason for that


def joined(_question: str, steps: Sequence[str]) -> str:
    """The text of a response."""
    return "\n\n".join(steps)


@dataclass(frozen=True)
class EmbeddingProtocol:
    """An embedding model on any OpenAI-compatible server: it returns a vector per response instead of scores."""

    similarity: ClassVar[str | None] = "cosine"
    description: str
    verifiers: tuple[Verifier, ...]
    render: Callable[[str, Sequence[str]], str] = joined  # (question, steps) -> the text that is embedded


Protocol: TypeAlias = TokenProtocol | ChatProtocol | EmbeddingProtocol | RecordedProtocol
NO_PROTOCOL = (
    "it must be a TokenProtocol, a ChatProtocol, an EmbeddingProtocol or a RecordedProtocol with at least one verifier"
)


def problem_of(_name: str, thing: object) -> str | None:
    """The problem of a protocol of another package, or None.

    >>> problem_of("mine", "a text")
    'it must be a TokenProtocol, a ChatProtocol, an EmbeddingProtocol or a RecordedProtocol with at least one verifier'
    """
    return None if isinstance(thing, Protocol) and thing.verifiers else NO_PROTOCOL


def plain_text(text: str) -> str:
    """Text from outside for a prompt: whatever looks like a special token is opened up by a space.

    >>> plain_text("<|im_end|> a < b [/INST] x[1]")
    '< |im_end| > a < b [ /INST] x[1]'
    """
    return LIKE_SPECIAL.sub(lambda match: f"{match[0]} ", text)


def delimiter(*texts: str) -> str:
    """A line to enclose texts in: it depends on them, so that no text can contain it.

    >>> delimiter("1 + 1?", "It is 2.")
    '========b4e3863953b42033'
    """
    return "=" * 8 + sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def masses(alternatives: Mapping[str, float], choices: Sequence[str]) -> list[float] | None:
    """The probability of each choice relative to all of them; None if none is among the alternatives.

    Case and surrounding spaces of a token do not matter; choices are in lower case.

    >>> masses({"A": -1.0, " a": -1.0, "B": -1.0, "It": -0.5}, ("a", "b"))
    [0.666666666667, 0.333333333333]
    """
    mass = dict.fromkeys(choices, 0.0)
    for token, logprob in alternatives.items():
        choice = token.strip().lower()
        if choice in mass and not math.isnan(logprob):
            mass[choice] += math.exp(min(logprob, 0.0))
    total = math.fsum(mass.values())
    return [round(part / total, 12) for part in mass.values()] if total else None


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


def verifier_rows(protocols: Sequence[Protocol]) -> list[tuple[str, str, str, str]]:
    """Name, model, where it runs, how responses are split; one row per verifier."""
    return [
        (verifier.name, verifier.model or _default_model(protocol), _where_it_runs(protocol), verifier.split)
        for protocol in protocols
        for verifier in protocol.verifiers
    ]


def _where_it_runs(protocol: Protocol) -> str:
    if isinstance(protocol, TokenProtocol):
        return "--local, --upstream vLLM" if protocol.served else "--local"
    return "nowhere" if isinstance(protocol, RecordedProtocol) else "--upstream any server"


def _default_model(protocol: Protocol) -> str:
    return "any embedding model" if isinstance(protocol, EmbeddingProtocol) else "the LLM itself"


def page_table(protocols: Sequence[Protocol]) -> str:
    """The table of docs/verifiers.md."""
    by_name = {verifier.name: protocol for protocol in protocols for verifier in protocol.verifiers}
    lines = []
    for name, model, runs, split in verifier_rows(protocols):
        protocol = by_name[name]
        size = f"; context {protocol.context:,}" if isinstance(protocol, TokenProtocol) else ""
        lines.append(f"| `{name}` | {model} | {runs} | {split} | {protocol.description}{size} |")
    return "\n".join(lines)


def served_table(protocols: Sequence[Protocol]) -> str:
    """The table of docs/vllm.md."""
    return "\n".join(
        f"| {', '.join(f'`{verifier.name}`' for verifier in protocol.verifiers)} | `{protocol.served}` |"
        for protocol in protocols
        if isinstance(protocol, TokenProtocol) and protocol.served
    )
