"""Scores the responses of a run or a table with a verifier: `steelyard score` and `sy.score`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import RunError, SettingError
from steelyard.runs.imported import columns_of
from steelyard.runs.manifest import Manifest
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.runs.run_state import RESERVED
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstreams import check_upstream, model_name, served, started
from steelyard.sampling.progress import Allowed
from steelyard.sampling.score.frugal_rule import Frugal, frugal_rule
from steelyard.sampling.score.frugal_score import score_on_demand
from steelyard.sampling.score.score_pairs import score_pairs
from steelyard.sampling.score.score_samples import Scored, Scoring, score_samples
from steelyard.sampling.score.score_table import check_prompts, imported, is_run
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.criteria import criteria_hash, with_criteria
from steelyard.sampling.verifiers.protocol import (
    EmbeddingProtocol,
    MeaningProtocol,
    PairProtocol,
    Protocol,
    RecordedProtocol,
    TokenProtocol,
)
from steelyard.sampling.verifiers.runners.where import check_place, connect
from steelyard.sampling.verifiers.scored_items import Runner, checked_split
from steelyard.voting.methods.base.method import Method

Connect = Callable[[Protocol, str, Address | None, int | None], Awaitable[Runner]]


async def ascore(
    run: Any,
    verifier: str,
    *,
    upstream: str | None = None,
    output: str | Path | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    local: bool = False,
    model: str | None = None,
    split: str | None = None,
    context: int | None = None,
    column: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    max_failures: str | int = "10%",
    criteria: str | None = None,
    plan: Method | str | Path | None = None,
    frugal: str | bool | None = None,
    answers: str = AUTO,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """The async form of `score`. When it is cancelled, all scores so far are saved.

    >>> import asyncio, polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> asyncio.run(sy.ascore("run", "logprob")).new
    8
    """
    order = ScoreOrder(verifier, upstream, local, model, split, context, column, key_env, max_failures, criteria)
    order.check(on_demand=bool(frugal))
    on_demand = frugal_rule(frugal, plan, order.name, answers, by_source=True)
    with opened_run(run, output, rename, layout, order.protocol) as opened:
        return await score_opened(opened, order, on_demand=on_demand, progress=progress)


@waits_for(ascore)
def score() -> None:
    """Score every response of a run or a table with a verifier; no response is scored twice.

    A run of `generate` is scored in place. A table (a file, or anything that `read` takes) is first copied into a run
    in the folder `output`, by default FILE.scored for FILE.jsonl. The same call again resumes there; a table that has
    changed is refused. Its column `prompt` is the text of the question; `rename` maps your column names to ours,
    `layout` names the layout of its file.

    `upstream` is the address of the verifier's server, `local` runs it in this process; `column` names the scores, and
    `criteria` is the text by which a judge grades. `progress` is called with the fraction of samples that are scored.
    Ctrl-C saves all scores so far and raises KeyboardInterrupt.

    With `frugal` ("exact", "expected", or True for what the plan has learned) the verifier scores only responses that
    can still change the verdict of `plan`; the same call without it scores the others later. `answers` is the kind of
    answer that the vote groups by; a plan has its own. The options are those of `steelyard score`, which lists the
    verifiers.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> sy.score("run", "logprob").new
    8
    >>> sy.score("run", "logprob").new
    0
    >>> table = {"question": ["a", "a"], "response": ["It is 2.", "It is 3."], "logprobs": [[-0.1], [-0.7]]}
    >>> sy.write(pl.DataFrame(table), "mine.jsonl")
    >>> scored = sy.score("mine.jsonl", "logprob")
    >>> str(scored.run), sy.read(scored.run, score="logprob").n_responses
    ('mine.scored', 2)
    """


def opened_run(
    source: Any, output: str | Path | None, rename: dict[str, str] | None, layout: str | None, protocol: Protocol
) -> Run:
    """Open the run, or create that of a table."""
    check_source(source)
    if not is_run(source):
        return imported(source, output, rename, layout, protocol)
    if output is not None or rename or layout:
        raise SettingError(f"{source} is already a run, with its own columns: omit -o, --rename and --layout")
    return Run.open(Path(source), write=True)


def check_source(source: Any) -> None:
    """Refuse several runs, and a run in parts."""
    runs = [str(path) for path in source if is_run(path)] if isinstance(source, list | tuple) else []
    if runs:
        raise SettingError(f"{runs[0]} is a run, which is scored in place: give it alone")
    if isinstance(source, str | Path) and is_parted_run(Path(source)):
        raise SettingError(f"{source} is a run in parts: score it by several workers with --engine")


@dataclass(frozen=True)
class ScoreOrder:
    """Which verifier scores, where it runs and how. It contains the name of the key's variable, but no key."""

    verifier: str
    at: str | None = None
    local: bool = False
    model: str | None = None
    split: str | None = None
    context: int | None = None
    column: str | None = None
    key_env: str = "OPENAI_API_KEY"
    max_failures: str | int = "10%"
    criteria: str | None = None

    @property
    def protocol(self) -> Protocol:
        """The protocol of the verifier, with the criteria."""
        protocol, entry = find_verifier(self.verifier)
        return with_criteria(entry.name, protocol, self.criteria)

    @property
    def name(self) -> str:
        """The column of the scores."""
        return find_verifier(self.verifier)[1].name if self.column is None else self.column

    def check(self, *, on_demand: bool = False) -> None:
        """Refuse invalid settings before anything is opened."""
        protocol, (_, entry) = self.protocol, find_verifier(self.verifier)
        if isinstance(protocol, MeaningProtocol):
            _check_meaning(entry.name, on_demand=on_demand, split=self.split)
        if on_demand and isinstance(protocol, PairProtocol):
            raise SettingError(
                f"{entry.name} compares all responses of a question: omit --frugal, or use it with --verifier judge"
            )
        if on_demand and isinstance(protocol, EmbeddingProtocol):
            raise SettingError(f"{entry.name} gives vectors, not scores, and needs all of them: omit --frugal")
        check_place(entry.name, protocol, at=self.at is not None, local=self.local)
        if self.at == LOCAL and isinstance(protocol, EmbeddingProtocol):
            raise SettingError(
                f"the embedded LLM is not an embedding model: give the address of a server for {entry.name}"
            )
        if self.at == LOCAL and isinstance(protocol, TokenProtocol):
            raise SettingError(
                f"the embedded LLM cannot serve {entry.name}: run it with --local, or --upstream a vLLM server"
            )
        if self.at is not None and "," in self.at:
            raise SettingError("several servers need a run in parts, where each worker uses its own: name one server")
        if self.at is not None:
            check_upstream(self.at, self.key_env)
        if self.name in RESERVED or not self.name.strip():
            raise SettingError(
                f"the table already has a column {self.name!r}: choose another name for the scores (--as, column=)"
            )

    def scoring(self, manifest: Manifest) -> Scoring:
        """The settings that make the scores of a run comparable."""
        protocol, entry = find_verifier(self.verifier)
        if isinstance(protocol, EmbeddingProtocol) and not (self.model or entry.model):
            raise SettingError(f"name the embedding model that {self.at} serves with --model")
        weights = model_name(self.at, self.model) if self.at == LOCAL else self.model or entry.model or manifest.model
        if self.at is not None and not weights:
            why = "come from several LLMs" if manifest.sources else "name no LLM (column 'llm')"
            raise SettingError(f"the responses {why}: name the model that {self.at} serves with --model")
        split = checked_split(entry.split if self.split is None else self.split)
        return Scoring(self.name, entry.name, weights, split, self.context, criteria_hash(self.criteria))


def _check_meaning(name: str, *, on_demand: bool, split: str | None) -> None:
    """Refuse settings that do not apply to a judge of meanings."""
    if on_demand:
        raise SettingError(f"{name} compares only the leaders of a vote with the others: omit --frugal and --plan")
    if split is not None:
        raise SettingError(f"{name} compares responses as the vote reads them, without their thoughts: omit --split")


async def score_opened(
    opened: Run,
    order: ScoreOrder,
    *,
    on_demand: Frugal | None = None,
    is_part: bool = False,
    connect: Connect = connect,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score all responses without a score, and write the table of the run; `connect` loads or reaches the verifier."""
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

        if isinstance(protocol, PairProtocol):
            done = await score_pairs(opened, scoring, protocol, ready, max_failures=allowed, progress=progress)
        elif on_demand is None:
            done = await score_samples(opened, scoring, ready, max_failures=allowed, progress=progress)
        else:
            once = not isinstance(protocol, RecordedProtocol)  # the records of equal texts may differ
            limits: dict[str, Any] = {"max_failures": allowed, "is_part": is_part, "progress": progress}
            done = await score_on_demand(opened, scoring, on_demand, ready, texts=once, **limits)
        opened.write_table()
        done.run = opened.folder
        return done


def check_has_samples(folder: Path, samples: int) -> None:
    """Refuse a run without samples, which `generate` leaves when all its requests fail."""
    if not samples:
        raise RunError(
            f"{folder} has no samples to score: repeat its 'steelyard generate' command; 'steelyard status {folder}' "
            "lists what failed"
        )


def _check_imported(opened: Run, protocol: Protocol, column: str) -> None:
    """Check that the table of a run has prompts, and no column of that name."""
    columns = columns_of(opened.manifest)
    if column in columns:
        raise SettingError(f"the table already has a column {column!r}: choose another name for the scores with --as")
    check_prompts(protocol, columns, opened.folder)


__test__ = {"score": score}  # doctest does not find decorated functions by itself
