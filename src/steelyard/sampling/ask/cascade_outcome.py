"""What came of asking along a cascade: the verdict, who was asked and who was not and why, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from steelyard.sampling.ask.ask import AnswerTotal, Entered, Outcome, Vote
from steelyard.sampling.llm.draws import Draw
from steelyard.sampling.online.standing import Standing
from steelyard.tables.columns import CHARACTERS
from steelyard.voting.fitting.answer_odds import Panel
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.cascade import Cascade

CASCADE = "cascade"  # what its votes are by
SKIPPED = "the cascade never asks it"
ABSENT = "no upstream has its name"


class Turn(NamedTuple):
    """What became of one source: whether it was asked and why, how much came of it, and what that cost."""

    source: str
    asked: bool
    why: str
    samples: int = 0
    tokens: float = 0.0  # as the server counts them, else the characters / 4
    cost: float | None = None  # by the plan's prices; None where it has none


@dataclass(frozen=True)
class CascadeAsked:
    """How a question went along a cascade."""

    described: str
    turns: list[Turn]

    @property
    def cost(self) -> float | None:
        """What the question cost; None where the plan has no prices."""
        known = [turn.cost for turn in self.turns if turn.asked and turn.cost is not None]
        return sum(known) if known else None


def cascade_outcome(pool: Pool, entered: Sequence[Entered], cascade: Cascade, standing: Standing) -> Outcome:
    """Count the samples of the sources that were asked, by what the cascade has learned of them together.

    The responses of the pool are those `entered`, in their order.
    """
    panel = Panel.of(pool)
    found = cascade.replay(panel)
    asked = _asked(cascade, panel)
    worth = dict(zip(asked, cascade.odds[asked], strict=False))
    samples = Counter(one.source for one in entered)
    weights = np.array([worth[one.source] / samples[one.source] for one in entered])
    names = [] if pool.names is None else list(pool.names)
    read = pool.answer >= 0
    held = np.bincount(pool.answer[read], minlength=len(names))
    total = np.bincount(pool.answer[read], weights[read], len(names))
    totals = [AnswerTotal(str(name), int(held[k]), float(total[k])) for k, name in enumerate(names)]
    return Outcome(
        answer=None if found.row[0] < 0 else names[int(panel.code[found.row[0]])],
        confidence=float(found.confidence[0]),
        share=standing.share,
        margin=standing.margin,
        answers=sorted(totals, key=lambda one: (-one.weight, -one.votes)),
        votes=[
            Vote(one.sample, names[code], one.score, weight, None, one.source)
            if code >= 0
            else Vote(one.sample, None, one.score, None, None, one.source)
            for one, code, weight in zip(entered, pool.answer.tolist(), weights.tolist(), strict=True)
        ],
        none_correct=None,
    )


def turns_of(pool: Pool, draws: Sequence[Draw], cascade: Cascade, upstreams: Sequence[str]) -> CascadeAsked:
    """Say of every source of the cascade, and of every upstream, whether it was asked, and why."""
    panel = Panel.of(pool)
    asked = _asked(cascade, panel)
    turns = []
    for name in cascade.sources:
        if name in asked and name in upstreams:
            turns.append(_turn(name, [draw for draw in draws if draw.source == name], cascade))
        else:
            turns.append(Turn(name, False, ABSENT if name in asked else _passed(name, cascade, panel)))
    turns += [Turn(name, False, SKIPPED) for name in upstreams if name not in cascade.sources]
    return CascadeAsked(cascade.described(), turns)


def _asked(cascade: Cascade, panel: Panel) -> tuple[str, ...]:
    """Who was asked, sorted; a source that the panel does not have too."""
    names = panel.names + tuple(name for name in cascade.sources if name not in panel.names)
    return tuple(sorted(name for name, was in zip(names, cascade.replay(panel).asked[0], strict=True) if was))


def _turn(name: str, draws: Sequence[Draw], cascade: Cascade) -> Turn:
    came = [draw.choice for draw in draws if draw.choice]
    tokens = sum(len(c.text) / CHARACTERS if c.tokens is None else c.tokens for c in came)
    why = next(iter({draw.reason or "" for draw in draws if not draw.choice}), "") if not came else ""
    cost = cascade.origin.cost(name, tokens=tokens, samples=len(came))
    return Turn(name, True, f"it gave no sample: {why}" if why else "its turn came", len(came), tokens, cost)


def _passed(name: str, cascade: Cascade, panel: Panel) -> str:
    """Why a source was not asked: where it would have been, and how likely the answer was then."""
    place = next(i for i, step in enumerate(cascade.steps) if name in step.sources)
    before = replace(cascade, steps=cascade.steps[:place]).replay(panel)
    step = cascade.steps[place]
    return f"asked only {step.where()}, and it was {float(before.confidence[0]):.3f}"
