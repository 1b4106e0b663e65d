"""An open run is scored by a verifier: what `score` was asked for, and the work on one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.imported import columns_of
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.runs.state import RESERVED
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstream import check_upstream, model_name, served
from steelyard.sampling.progress import Allowed
from steelyard.sampling.score.frugal_rule import Frugal
from steelyard.sampling.score.frugal_score import score_on_demand
from steelyard.sampling.score.score_samples import Scored, Scoring, score_samples
from steelyard.sampling.score.score_table import check_prompts
from steelyard.sampling.starting import started
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import Protocol, RecordedProtocol, TokenProtocol
from steelyard.sampling.verifiers.runners.where import check_place, connect
from steelyard.sampling.verifiers.scored_items import Runner
from steelyard.sampling.verifiers.step_splits import known_split

Connect = Callable[[Protocol, str, Address | None, int | None], Awaitable[Runner]]


@dataclass(frozen=True)
class ScoreOrder:
    """Which verifier reads, where it runs and how it is asked. It has the name of a key's variable, and no key."""

    verifier: str
    at: str | None = None
    local: bool = False
    model: str | None = None
    split: str | None = None
    context: int | None = None
    column: str | None = None
    key_env: str = "OPENAI_API_KEY"
    max_failures: str | int = "10%"

    @property
    def protocol(self) -> Protocol:
        """How the verifier is asked."""
        return find_verifier(self.verifier)[0]

    @property
    def name(self) -> str:
        """The column of the scores."""
        return find_verifier(self.verifier)[1].name if self.column is None else self.column

    def check(self) -> None:
        """Refuse what cannot be, before anything is opened."""
        protocol, known = find_verifier(self.verifier)
        check_place(known.name, protocol, at=self.at is not None, local=self.local)
        if self.at == LOCAL and isinstance(protocol, TokenProtocol):
            raise SettingError(f"the embedded LLM is no {known.name}: run it with --local, or --upstream a vLLM server")
        if self.at is not None and "," in self.at:
            raise SettingError("several servers are for a run in parts, where each worker asks its own: name one")
        if self.at is not None:
            check_upstream(self.at, self.key_env)
        if self.name in RESERVED or not self.name.strip():
            raise SettingError(
                f"scores cannot be called {self.name!r}: the table has such a column; choose another (--as, column=)"
            )

    def scoring(self, manifest: Manifest) -> Scoring:
        """What makes the scores of a run comparable."""
        _, known = find_verifier(self.verifier)
        weights = model_name(self.at, self.model) if self.at == LOCAL else self.model or known.model or manifest.model
        if self.at is not None and not weights:
            why = "are of several LLMs" if manifest.sources else "name no LLM (column 'llm')"
            raise SettingError(f"the responses {why}: name the model that {self.at} serves with --model")
        split = known_split(known.split if self.split is None else self.split)
        return Scoring(self.name, known.name, weights, split, self.context)


async def score_opened(
    opened: Run,
    order: ScoreOrder,
    *,
    on_demand: Frugal | None = None,
    is_part: bool = False,
    connect: Connect = connect,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score what has no score yet, and derive the table of the run; `connect` loads or reaches the verifier."""
    protocol = order.protocol
    if not is_part:
        check_has_samples(opened.folder, len(opened.state.samples.done))
    if opened.manifest.rows is not None:
        _check_imported(opened, protocol, order.name)
    allowed = Allowed.of(order.max_failures, len(opened.state.samples.done)).count
    scoring = order.scoring(opened.manifest)
    async with AsyncExitStack() as stack:

        async def ready() -> Runner:
            at = order.at
            address = await stack.enter_async_context(started(served, at, order.key_env)) if at is not None else None
            return await connect(protocol, scoring.model, address, order.context)

        if on_demand is None:
            done = await score_samples(opened, scoring, ready, max_failures=allowed, progress=progress)
        else:
            once = not isinstance(protocol, RecordedProtocol)  # what was recorded with equal texts may differ
            limits: dict[str, Any] = {"max_failures": allowed, "is_part": is_part, "progress": progress}
            done = await score_on_demand(opened, scoring, on_demand, ready, texts=once, **limits)
        opened.write_table()
        done.run = opened.folder
        return done


def check_has_samples(folder: Path, samples: int) -> None:
    """Refuse a run without samples, which `generate` leaves behind when all of its requests fail."""
    if not samples:
        raise RunError(
            f"{folder} has no samples to score: repeat its 'steelyard generate' command; 'steelyard status {folder}' "
            "lists what failed"
        )


def _check_imported(opened: Run, protocol: Protocol, column: str) -> None:
    """What a run of `generate` always has, one of a table may lack; and it may have a column of that name."""
    columns = columns_of(opened.manifest)
    if column in columns:
        raise SettingError(f"scores cannot be called {column!r}: the table has such a column; choose another with --as")
    check_prompts(protocol, columns, opened.folder)
