r"""Math-Shepherd: numbered steps, each closed with " ки", where "+" is weighed against "-".

<s>{question} Step 1: ... ки\nStep 2: ... ки

`ки` is removed from the question and the steps before the text is put together; the space before it keeps it one
token. The tokenizer joins across borders, so the whole text is encoded at once and the tags are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.protocol import WORDS, Array, Rendered, TokenProtocol, Verifier, two_way
from steelyard.sampling.verifiers.tokens import Tokens, without

TAG = "ки"
GOOD, BAD = "+", "-"
LABEL = re.compile(r"Step \d+:")


def label(steps: Sequence[str]) -> list[str]:
    """Number the steps that have no number of their own.

    >>> label(["Add.", "Step 7: Divide."])
    ['Step 1: Add.', 'Step 7: Divide.']
    """
    clean = map(_clean, steps)
    return [step if LABEL.match(step) else f"Step {i}: {step}".strip() for i, step in enumerate(clean, 1)]


def _clean(text: str) -> str:
    """A text that cannot make a tag: without `ки`, and without the character the tokenizer uses for a space."""
    return without(text.replace("▁", " "), TAG).strip()


def render(question: str, steps: Sequence[str], tokens: Tokens) -> Rendered:
    """Lay out a question and its steps; a step is read at the tag that closes it."""
    tag = tokens.one(TAG)
    text = f"{_clean(question)} " + "\n".join(f"{step} {TAG}" for step in label(steps))
    ids = [tokens.one("<s>"), *tokens.plain([text])[0]]
    positions = [i for i, number in enumerate(ids) if number == tag]
    if len(positions) != len(steps):
        raise VerifierError(f"found {len(positions)} tags for {len(steps)} steps: this is a different tokenizer")
    return Rendered(ids, positions)


def read(outputs: Array, positions: Sequence[int]) -> Array:
    """Softmax over ["+", "-"] at each tag."""
    return two_way(outputs, positions, good=0)


PROTOCOL = TokenProtocol(
    description='numbered steps, each closed with " ки"; "+" against "-" is read there',
    verifiers=(Verifier("math-shepherd", "peiyi9979/math-shepherd-mistral-7b-prm", "blank-lines"),),
    head=WORDS,
    words=(GOOD, BAD),
    context=4096,
    needs={TAG: 12902, GOOD: 648, BAD: 387, "<s>": 1},
    render=render,
    read=read,
    prepare=label,
    served='--runner pooling --convert classify --hf-overrides \'{"classifier_from_token": ["▁+", "▁-"], '
    '"method": "no_post_processing"}\' --pooler-config \'{"task": "token_classify"}\'',
)
