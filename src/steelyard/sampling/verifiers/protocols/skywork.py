r"""Skywork's process reward models: plain text, every newline closes a step, a value head read at the newline.

<|im_start|>{question}\n{step 1}\n{step 2}\n

The question with its newline and every step are encoded by themselves: encoding the whole text would join the
newline with what stands before it. An empty step is the newline alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.sampling.verifiers.protocol import VALUE_HEAD, Array, Rendered, TokenProtocol, Verifier, sigmoid
from steelyard.sampling.verifiers.tokens import Tokens

BOS, TAG = "<|im_start|>", "\n"


def render(question: str, steps: Sequence[str], tokens: Tokens) -> Rendered:
    """Lay out a question and its steps; a step is read at the newline that closes it."""
    newline = tokens.one(TAG)
    question_ids, *texts = tokens.plain([f"{question}\n", *steps])
    ids = [tokens.one(BOS), *question_ids]
    positions = []
    for text in texts:
        ids += text
        positions.append(len(ids))
        ids.append(newline)
    return Rendered(ids, positions)


def read(outputs: Array, positions: Sequence[int]) -> Array:
    """Sigmoid of the value at each closing newline."""
    return sigmoid(np.asarray(outputs, np.float64)[list(positions), 0])


PROTOCOL = TokenProtocol(
    description="plain text; every newline closes a step, the value head is read there",
    verifiers=(
        Verifier("skywork-1.5b", "Skywork/Skywork-o1-Open-PRM-Qwen-2.5-1.5B", "newlines"),
        Verifier("skywork-7b", "Skywork/Skywork-o1-Open-PRM-Qwen-2.5-7B", "newlines"),
    ),
    head=VALUE_HEAD,
    context=4096,
    needs={BOS: 151644, TAG: 198},
    render=render,
    read=read,
)
