"""A fuzzer for extraction and the normal form: `python -m tests.fuzz_answers 60 [SEED]` runs it for a minute.

It splices and mutates the examples and the hostile corpus, and checks what must hold for every text: no exception, a
bounded time, a normal form that is its own normal form, and the same classes in both orders.
"""

from __future__ import annotations

import random
import sys
import time

from steelyard.answers.extract import KINDS, extract
from steelyard.answers.grouping import group
from steelyard.answers.normal import normal_form, number_of, was_read
from tests.answer_examples import DIFFERENT, EXTRACTED, SAME
from tests.hostile_answers import HOSTILE

SLOWEST = 5.0  # seconds for one text


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


def fuzz(seconds: float, seed: int) -> int:
    """Try texts for a while; return how many. An assertion names the text that broke something."""
    rng = random.Random(seed)
    texts, tried, end = seeds(), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        text = mutated(rng, texts)
        start = time.monotonic()
        form = normal_form(text)
        assert normal_form(form) == form, repr(text)
        assert was_read(form) in (True, False)
        number_of(form)
        for kind in KINDS:
            extract(text, kind)
        other = rng.choice(texts)
        assert len(set(group([text, other]).classes)) == len(set(group([other, text]).classes)), repr((text, other))
        assert time.monotonic() - start < SLOWEST, repr(text)
        if len(texts) < 5000:
            texts.append(text)
        tried += 1
    return tried


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"{fuzz(float(sys.argv[1]), chosen):,} texts with seed {chosen}, nothing found")
