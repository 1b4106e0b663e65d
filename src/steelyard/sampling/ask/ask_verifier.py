"""Scores the samples of one question with a verifier, all of them or on demand."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from steelyard.foundation.errors import SettingError, SteelyardWarning, VerifierError
from steelyard.runs.on_demand_records import has_text
from steelyard.runs.scored_columns import scored_column
from steelyard.runs.token_usage import Usage
from steelyard.sampling.ask.sample_stream import Draw
from steelyard.sampling.llm.upstreams import Serve, Upstream, check_upstream, started
from steelyard.sampling.score.frugal_rule import Frugal, Walk, frugal_rule, score_of_plan
from steelyard.sampling.score.score_samples import usage_of_score
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.criteria import with_criteria
from steelyard.sampling.verifiers.protocol import ChatProtocol, Protocol, RecordedProtocol
from steelyard.sampling.verifiers.runners.where import check_one_at_a_time, check_place, connect
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores, checked_split, split
from steelyard.tables import read
from steelyard.tables.score_columns import NO_SCORE
from steelyard.tables.source_column import USUAL
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool

READ, NOT_SCORED, NO_TEXT = "read", "not scored", "no text"
WHY = {
    "exact": "their scores could not change the verdict",
    "expected": "the expected gain from another score is below its price",
}


class Verified(NamedTuple):
    """The scores of the samples, row by row: steps (None: no score), whether it was scored, and its state in words."""

    column: str
    steps: list[list[float] | None]
    scored: list[bool]
    states: list[str]
    spent: Usage = Usage()

    def columns(self) -> list[pl.Series]:
        """The columns of a table with these scores."""
        scores = pl.Series(self.column, self.steps, pl.List(pl.Float64))
        return [scores, pl.Series(scored_column(self.column), self.scored, pl.Boolean)]


@dataclass(frozen=True)
class ReadBy:
    """Which verifier scored the samples, by which rule, and how many texts; `why` others were left out."""

    verifier: str
    rule: str | None
    read: int
    total: int  # samples
    not_scored: int
    why: str | None


@dataclass(frozen=True)
class Verifying:
    """A verifier, where it runs and what it scores, checked before anything is sampled."""

    name: str
    protocol: Protocol
    model: str
    split: str
    at: str | None
    key_env: str
    frugal: Frugal | None

    async def verified(self, question: str, rows: Sequence[Draw], answers: str, serve: Serve) -> Verified:
        """Score the samples; the verifier is connected to only if there is anything to score."""
        texts = [draw.choice.text if draw.choice else None for draw in rows]
        steps: list[list[float] | None] = [None] * len(rows)
        states = [NOT_SCORED if has_text(text) else NO_TEXT for text in texts]
        spent = Usage()
        walk = None if self.frugal is None else _walk(self.frugal, rows, answers)
        async with AsyncExitStack() as stack:
            runner: Runner | None = None
            while readings := walk.next() if walk else _all(texts, states):
                runner = runner or await self._connected(stack, serve)
                of = {copies[0]: copies for copies in readings}
                items = (Item(question, split(texts[row] or "", self.split), {"sample": row}) for row in of)
                async with aclosing(runner.score(items)) as results:
                    async for item, result in results:
                        copies = of[item.sample["sample"]]
                        scores = result.steps if isinstance(result, Scores) else None
                        spent += usage_of_score(result)
                        for row in copies:
                            steps[row], states[row] = scores, _state(result, row, copies[0])
                        if walk and self.frugal:
                            walk.tell(copies, self.frugal.values([scores])[0] if scores else float("nan"))
        _need_any(self.name, steps, states)
        return Verified(self.name, steps, [state != NOT_SCORED for state in states], states, spent)

    async def _connected(self, stack: AsyncExitStack, serve: Serve) -> Runner:
        served = None if self.at is None else started(serve, self.at, self.key_env)
        address = None if served is None else await stack.enter_async_context(served)
        runner = await connect(self.protocol, self.model, address)
        stack.push_async_callback(runner.close)
        return runner

    def check_plan(self, voter: Method, plan: str) -> None:
        """Refuse a plan for another score; warn if its stopping rule would have no scores."""
        if voter.cascade_:
            raise SettingError(f"{plan} has a cascade, which goes by answers alone: omit --verifier")
        if voter.reads_scores():
            score_of_plan(voter, plan, self.name)
        if voter.stopping_ is not None:
            warnings.warn(
                "the verifier scores the samples when all are drawn, so the plan's stopping rule does not apply: "
                "'steelyard serve' scores each sample as it arrives and follows the rule",
                SteelyardWarning,
                stacklevel=3,
            )

    def summary(self, verified: Verified) -> ReadBy:
        """How many samples were scored, and why the others were not."""
        rule = self.frugal.rule.name if self.frugal else None
        left = verified.states.count(NOT_SCORED)
        return ReadBy(
            self.name,
            rule,
            verified.states.count(READ),
            len(verified.states),
            left,
            WHY.get(rule or "") if left else None,
        )


def verifying(
    verifier: str | None,
    *,
    upstreams: Sequence[Upstream],
    at: str | None,
    local: bool,
    model: str | None,
    plan: str | Path | None,
    frugal: str | bool | None,
    answers: str,
    criteria: str | None = None,
) -> Verifying | None:
    """Check a verifier and where it runs; one that asks a chat server asks the upstream unless another is named."""
    if verifier is None:
        if frugal or at is not None or local or model is not None or criteria is not None:
            raise SettingError("name the verifier of the samples with --verifier NAME")
        return None
    protocol, entry = find_verifier(verifier)
    protocol = with_criteria(entry.name, protocol, criteria)
    check_one_at_a_time(entry.name, protocol, "ask")
    if isinstance(protocol, RecordedProtocol):
        raise SettingError(f"{entry.name} is what 'ask' weighs by without a verifier: omit --verifier {verifier}")
    if at is None and not local and isinstance(protocol, ChatProtocol) and len(upstreams) == 1:
        at, model = upstreams[0].url, model or upstreams[0].model
    check_place(entry.name, protocol, at=at is not None, local=local)
    if at is not None:
        check_upstream(at, upstreams[0].key_env)
    weights = model or entry.model
    if at is not None and not weights:
        raise SettingError(f"name the model that {at} serves with --verifier-model")
    rule = frugal_rule(frugal, plan, entry.name, answers, by_source=len(upstreams) > 1) if frugal else None
    return Verifying(entry.name, protocol, weights, checked_split(entry.split), at, upstreams[0].key_env, rule)


def _walk(frugal: Frugal, rows: Sequence[Draw], answers: str) -> Walk:
    """The walk over one question; samples without text need no score."""
    texts = [draw.choice.text if draw.choice else None for draw in rows]
    table = pl.DataFrame({"question": ["asked"] * len(rows), "response": pl.Series(texts, dtype=pl.String)})
    source = USUAL if frugal.voter.weighs_sources else None
    if source:
        table = table.with_columns(pl.Series(source, [draw.source for draw in rows]))
    pool: Pool = read(table, score=NO_SCORE, source=source, texts=True, answers=answers)
    empty = np.array([not has_text(text) for text in texts])
    return Walk(frugal.rule, frugal.voter, pool, empty, np.full(len(rows), np.nan))


def _all(texts: Sequence[str | None], states: Sequence[str]) -> list[list[int]]:
    """The rows of every text without a score, copies together."""
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if states[row] == NOT_SCORED and text is not None:
            rows.setdefault(text, []).append(row)
    return list(rows.values())


def _state(result: Scores | str, row: int, origin: int) -> str:
    if isinstance(result, str):
        return f"failed: {result}"
    return READ if row == origin else "words of another"


def _need_any(name: str, steps: Sequence[object], states: Sequence[str]) -> None:
    """Fail if the verifier failed on every sample."""
    failed = [state for state in states if state.startswith("failed: ")]
    if failed and all(scores is None for scores in steps):
        raise VerifierError(f"{name} failed to score any of the {len(failed)} requested samples ({failed[0]})")
