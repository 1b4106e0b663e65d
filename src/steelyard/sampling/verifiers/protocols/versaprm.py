r"""VersaPRM: plain text, every step closed with " \n\n\n\n" as one token, where "+" is weighed against "-".

<|begin_of_text|>{question} \n\n{step 1} \n\n\n\n{step 2} \n\n\n\n

The question and the steps are stripped and the tag is removed from them. A stripped step cannot join its
neighbours (the tokenizer cuts at runs of newlines), so steps are encoded by themselves and the tag is put by id.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.sampling.verifiers.protocol import WORDS, Array, Rendered, TokenProtocol, Verifier, two_way
from steelyard.sampling.verifiers.tokens import Tokens, without

TAG, BOS = " \n\n\n\n", "<|begin_of_text|>"
GOOD, BAD = "+", "-"


def render(question: str, steps: Sequence[str], tokens: Tokens) -> Rendered:
    """Lay out a question and its steps; a step is read at the tag that closes it."""
    tag = tokens.one(TAG)
    clean = [without(text, TAG).strip() for text in (question, *steps)]
    question_ids, *texts = tokens.plain([f"{clean[0]} \n\n", *clean[1:]])
    ids = [tokens.one(BOS), *question_ids]
    positions = []
    for text in texts:
        ids += text
        positions.append(len(ids))
        ids.append(tag)
    return Rendered(ids, positions)


def read(outputs: Array, positions: Sequence[int]) -> Array:
    """Softmax over ["-", "+"] at each tag."""
    return two_way(outputs, positions, good=1)


PROTOCOL = TokenProtocol(
    description='plain text, every step closed with a space and four newlines; "+" against "-" is read there',
    verifiers=(Verifier("versaprm", "UW-Madison-Lee-Lab/VersaPRM", "blank-lines"),),
    head=WORDS,
    words=(BAD, GOOD),
    context=8192,
    needs={TAG: 23535, GOOD: 10, BAD: 12, BOS: 128000},
    render=render,
    read=read,
    served='--runner pooling --convert classify --hf-overrides \'{"classifier_from_token": ["-", "+"], '
    '"method": "no_post_processing"}\' --pooler-config \'{"task": "token_classify"}\'',
)
