"""What `ask` settles before it sends a request; an estimate of its cost makes the same checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import SettingError
from steelyard.runs.parameters import Sampling
from steelyard.sampling.ask.ask import SCORE, planned, rule_applies
from steelyard.sampling.ask.ask_cascade import cascade_for
from steelyard.sampling.ask.ask_verifier import Verifying, verifying
from steelyard.sampling.ask.planned_samples import SAMPLES, samples_to_draw
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.named_upstreams import Named, Upstream, read_upstreams
from steelyard.tables.plan_reading import answers_to_question
from steelyard.tables.prompts import read_template
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

TOKENS, LOCAL_TOKENS = 2048, 512


@dataclass(frozen=True)
class Prepared:
    """One question, checked: whom to ask for how many samples, how to read and score them, and how to vote."""

    prompt: str
    upstreams: tuple[Upstream, ...]  # those that are asked
    names: tuple[str, ...]  # of all upstreams, asked or not; none for one without a name
    samplings: Mapping[str, Sampling]  # by upstream
    kind: str  # of answers
    reading: Verifying | None
    voter: Method | None
    score: str
    cascade: Cascade | None

    @property
    def model(self) -> str:
        """The names of the upstreams, or the model of the only one."""
        return ", ".join(self.names) or self.upstreams[0].model

    @property
    def samples(self) -> dict[str, int]:
        """How many samples each upstream may be asked for."""
        return {name: sampling.n for name, sampling in self.samplings.items()}

    @property
    def may_stop_early(self) -> bool:
        """Whether the plan may end the sampling before all samples are drawn."""
        return self.cascade is not None or (self.reading is None and rule_applies(self.voter))


def prepare(
    question: str,
    *,
    upstream: Named,
    model: Named | None = None,
    n: int | None = None,
    plan: str | Path | None = None,
    prompt: str | Path = "math",
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int | None = None,
    seed: int = 0,
    key_env: Named = "OPENAI_API_KEY",
    verifier: str | None = None,
    verifier_upstream: str | None = None,
    verifier_model: str | None = None,
    local: bool = False,
    frugal: str | bool | None = None,
) -> Prepared:
    """Check the options of `ask`; nothing is sent."""
    if not question.strip():
        raise SettingError("the question is empty: write it in quotes")
    template = read_template(prompt)
    upstreams = read_upstreams(upstream, model, key_env, SAMPLES if n is None else n)
    names = tuple(server.name for server in upstreams if server.name)
    loaded = None if plan is None else load(plan)
    kind = answers_to_question(question, template, loaded)
    samples = samples_to_draw(loaded, names, n)
    reading = verifying(
        verifier, upstreams=upstreams, at=verifier_upstream, local=local, model=verifier_model, plan=plan,
        frugal=frugal, answers=kind,
    )  # fmt: skip
    by = reading.name if reading else None
    responder: dict[str, Any] = {"model": ", ".join(names) or upstreams[0].model, "sources": names, "verifier": by}
    voter, score = None, by or SCORE
    if plan is not None:
        voter, score = planned(Path(plan), n=max(samples.values(), default=SAMPLES), **responder)
    cascade = cascade_for(voter, names, n)
    if reading and voter:
        reading.check_plan(voter, str(plan))
    selected = tuple(server for server in upstreams if server.name in samples)
    samplings = {
        server.name: Sampling(
            server.model, samples[server.name], temperature, top_p, longest_sample(server.url, max_tokens), seed
        )
        for server in selected
    }
    return Prepared(template.fill(question), selected, names, samplings, kind, reading, voter, score, cascade)


def longest_sample(url: str, max_tokens: int | None) -> int:
    """The most tokens of a sample, by default fewer for the embedded LLM, which is slow."""
    usual = LOCAL_TOKENS if url == LOCAL else TOKENS
    return usual if max_tokens is None else max_tokens
