r"""Qwen's process reward models: ChatML, every step closed with `<extra_0>`, a two-way head read at each.

<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n
<|im_start|>assistant\n{step 1}<extra_0>{step 2}<extra_0><|im_end|>\n
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.sampling.verifiers.protocol import TOKEN_HEAD, Array, Rendered, TokenProtocol, Verifier, two_way
from steelyard.sampling.verifiers.tokens import Tokens

SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
START, END, TAG = "<|im_start|>", "<|im_end|>", "<extra_0>"


def render(question: str, steps: Sequence[str], tokens: Tokens) -> Rendered:
    """Lay out a question and its steps; a step is read at the `<extra_0>` that closes it."""
    start, end, tag = tokens.one(START), tokens.one(END), tokens.one(TAG)
    first, *others = steps
    question_ids, *texts = tokens.plain([f"user\n{question}", f"assistant\n{first}", *others])
    newline = tokens.fixed("\n")
    ids = [start, *tokens.fixed(f"system\n{SYSTEM}"), end, *newline, start, *question_ids, end, *newline, start]
    positions = []
    for text in texts:
        ids += text
        positions.append(len(ids))
        ids.append(tag)
    return Rendered([*ids, end, *newline], positions)


def read(outputs: Array, positions: Sequence[int]) -> Array:
    """Softmax over [bad, good] at each `<extra_0>`."""
    return two_way(outputs, positions, good=1)


PROTOCOL = TokenProtocol(
    description="ChatML with the system prompt of its card; every step is closed with `<extra_0>`, the two-way head is "
    "read there",
    verifiers=(
        Verifier("qwen-prm", "Qwen/Qwen2.5-Math-PRM-7B", "blank-lines"),
        Verifier("qwen-prm800k", "Qwen/Qwen2.5-Math-7B-PRM800K", "blank-lines"),
    ),
    head=TOKEN_HEAD,
    context=4096,
    needs={TAG: 151651, START: 151644, END: 151645, "\n": 198},
    render=render,
    read=read,
    served="--runner pooling",
)
