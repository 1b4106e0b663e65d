"""A fuzzer for extraction and the normal form: `python -m tests.answers.fuzz_answers 60 [SEED]` runs it for a minute.

It splices and mutates the examples and the hostile corpus, builds worst cases from the grammar, and checks what must
hold for every text: no exception, work that grows no faster than the text (lines executed, not seconds), a normal
form that is its own normal form, and the same classes in both orders.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form
from tests.answers.answer_examples import DIFFERENT, EXTRACTED, SAME
from tests.answers.hostile_answers import HOSTILE
from tests.answers.worst_answers import allowed_lines, random_worst_case, read_in_every_way, steps_of


def seeds() -> list[str]:
    texts = [text for spellings in SAME for text in spellings] + [text for pair in DIFFERENT for text in pair]
    return texts + [response for _, response, *_ in EXTRACTED] + [text for text in HOSTILE if len(text) < 3000]


def mutated(rng: random.Random, texts: list[str]) -> str:
    """A new text from old ones."""
    a, b = rng.choice(texts), rng.choice(texts)
    cut, at = rng.randrange(len(a) + 1), rng.randrange(len(b) + 1)
    made = [
        a[:cut] + b[at:],
        a + b,
        a * rng.randrange(1, 4),
        a[:cut] + chr(rng.randrange(0x2FF)) + a[cut:],
        a[cut:] + a[:cut],
    ]
    return rng.choice(made)[:5000]


def fuzz(going_on: Callable[[int], bool], seed: int) -> int:
    """Try texts while `going_on(how many)`; return how many. An assertion names the text that broke something."""
    rng = random.Random(seed)
    texts, tried = seeds(), 0
    while going_on(tried):
        text = random_worst_case(rng) if rng.random() < 0.3 else mutated(rng, texts)
        assert steps_of(read_in_every_way, text) <= allowed_lines(text), repr(text)
        form = normal_form(text)
        assert normal_form(form) == form, repr(text)
        other = rng.choice(texts)
        assert len(set(group([text, other]).classes)) == len(set(group([other, text]).classes)), repr((text, other))
        if len(texts) < 5000:
            texts.append(text)
        tried += 1
    return tried


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    end = time.monotonic() + float(sys.argv[1])
    print(f"{fuzz(lambda _: time.monotonic() < end, chosen):,} texts with seed {chosen}, nothing found")
