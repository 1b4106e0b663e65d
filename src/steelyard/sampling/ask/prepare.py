"""Checks the options of `ask` before a request is sent: its plan, upstreams and numbers of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO, kind_of
from steelyard.foundation.errors import PlanError, SettingError
from steelyard.runs.parameters import Sampling
from steelyard.sampling.ask.ask_cascade import cascade_for, warn
from steelyard.sampling.ask.ask_verifier import Verifying, verifying
from steelyard.sampling.ask.sample_votes import COPY, SCORE, rule_applies
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstreams import Named, Upstream, read_upstreams
from steelyard.sampling.online.similar_texts import check_comparable
from steelyard.tables.plan_reading import answers_to_question
from steelyard.tables.prompts import read_template
from steelyard.voting.methods import load, method_class
from steelyard.voting.methods.base.calibration_checks import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.source_vote import SourceVote
from steelyard.voting.stopping.cascade import Cascade

TOKENS, LOCAL_TOKENS = 2048, 512
SAMPLES = 8  # of every upstream, by default
DEFAULT_PROMPT = "math"  # for free text the question alone


@dataclass(frozen=True)
class Prepared:
    """The checked options: which upstreams to ask for how many samples, how to read and score them, and how to vote."""

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
    prompt: str | Path | None = None,
    answers: str = AUTO,
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int | None = None,
    seed: int = 0,
    key_env: Named = "OPENAI_API_KEY",
    verifier: str | None = None,
    verifier_upstream: str | None = None,
    verifier_model: str | None = None,
    criteria: str | None = None,
    local: bool = False,
    frugal: str | bool | None = None,
) -> Prepared:
    """Check the options of `ask`; nothing is sent."""
    if not question.strip():
        raise SettingError("the question is empty: write it in quotes")
    template = read_template(prompt or DEFAULT_PROMPT)
    upstreams = read_upstreams(upstream, model, key_env, SAMPLES if n is None else n)
    names = tuple(server.name for server in upstreams if server.name)
    loaded = None if plan is None else load(plan)
    kind = answers_to_question(question, template, loaded, answers)
    if kind_of(kind).similarity is not None:
        check_comparable(kind_of(kind))
        template = template if prompt else read_template("plain")
    samples = samples_to_draw(loaded, names, n)
    reading = verifying(
        verifier, upstreams=upstreams, at=verifier_upstream, local=local, model=verifier_model, plan=plan,
        frugal=frugal, answers=kind, criteria=criteria,
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
    """The token limit of a sample; the default is lower for the embedded LLM, which is slow."""
    if max_tokens is not None:
        return max_tokens
    return LOCAL_TOKENS if url == LOCAL else TOKENS


def samples_to_draw(voter: Method | None, names: Sequence[str], n: int | None = None) -> dict[str, int]:
    """Return the samples to draw of each upstream: n of each or, without n, as many as the plan says.

    Upstreams that the plan does not ask are left out. `names` is empty for one upstream without a name.
    """
    upstreams = tuple(names) or ("",)
    cascade = voter.cascade_ if voter else None
    if cascade:
        return {name: cascade.samples_of(name) for name in cascade.sources if name in upstreams}  # in its order
    counts = voter.samples_ if voter else None
    if counts and "" not in counts:
        return _of_sources(counts, upstreams, n)
    if n is None and voter and not counts and voter.stopping_ and rule_applies(voter):
        counts = {"": voter.stopping_.cap}
    if n is None and counts:
        return planned_counts(counts, upstreams)
    return dict.fromkeys(upstreams, SAMPLES if n is None else n)


def planned_counts(counts: Mapping[str, int], upstreams: Sequence[str]) -> dict[str, int]:
    """Return the samples of each upstream that a plan asks; those of a plan for one LLM are shared by all.

    >>> planned_counts({"gpt": 4}, ["gpt", "phi"]), planned_counts({"": 5}, ["gpt", "phi"])
    ({'gpt': 4}, {'gpt': 3, 'phi': 3})
    """
    if "" in counts:
        return dict.fromkeys(upstreams, -(-counts[""] // len(upstreams)))
    return {name: counts[name] for name in upstreams if name in counts}


def _of_sources(counts: Mapping[str, int], upstreams: Sequence[str], n: int | None) -> dict[str, int]:
    """Return the samples of a plan with a number per source; every source must have an upstream."""
    if missing := [name for name in counts if name not in upstreams]:
        raise PlanError(
            f"the plan draws samples of {', '.join(counts)}, and no upstream is named {', '.join(missing)}: name the "
            f"upstreams as it does, --upstream {missing[0]}=URL,.."
        )
    if skipped := [name for name in upstreams if name not in counts]:
        warn(f"the plan draws no samples of {', '.join(skipped)}, so they are not asked")
    if n is None:
        return planned_counts(counts, upstreams)
    if set(counts.values()) != {n}:
        planned = ", ".join(f"{name} {count}" for name, count in counts.items())
        warn(f"the plan was made for other numbers of samples ({planned}) than -n {n}: leave -n out to follow it")
    return {name: n for name in upstreams if name in counts}


def planned(
    path: Path, *, n: int, model: str, sources: Sequence[str] = (), verifier: str | None = None
) -> tuple[Method, str]:
    """Read a plan and its score; refuse a plan for a score that is not available while sampling.

    `verifier` is the one that scores the samples, if any. `sources` are the names of several upstreams. A plan for
    sources needs them; any other weighs all samples alike.
    """
    voter = load(path)
    fitted = voter.fitted_on_
    score = fitted.score if fitted else None
    if voter.oracle:
        raise PlanError(f"{path} is for {voter.name}, an oracle that reads the correct answers: use another plan")
    cascade = voter.cascade_
    names = list(voter.weights_) if isinstance(voter, SourceVote) else list(cascade.sources if cascade else ())
    if any(names) and not sources:
        raise PlanError(f"{path} weighs {listed(names)}: name the upstreams as it does, --upstream {names[0]}=URL,..")
    if cascade:
        return voter, SCORE  # it uses answers alone, and sets the numbers of samples itself
    if by_score(voter) and (score is None or score.partition(":")[0] not in (SCORE, COPY, verifier)):
        raise PlanError(
            f"{path} weighs by the score {score!r}, which is not available while asking: fit a plan with --score "
            f"{SCORE}, name the verifier with --verifier, or use generate, score and vote"
        )
    upstreams = max(1, len(sources))
    counted = voter.samples_ is None and not rule_applies(voter)  # else the plan says how many samples to draw
    if fitted and voter.learns and not voter.weighs_sources and counted and fitted.n != n * upstreams:
        warn(
            f"the plan was fitted at {fitted.n} samples per question, but this vote uses {n * upstreams}: "
            f"ask with -n {max(1, fitted.n // upstreams)}"
        )
    if fitted and voter.learns and fitted.llm not in (None, model):
        warn(f"the plan was fitted on responses of {fitted.llm}, but these are from {model}: its weights may be wrong")
    return voter, score if by_score(voter) and score else SCORE


def by_score(voter: Method) -> bool:
    """Whether a plan needs scores; a committee does if it has learned weights of the scores of its sources."""
    return voter.scored or (voter.weighs_sources and voter.reads_scores())


def unplanned(scored: bool, several: bool = False) -> Method:
    """The method without a plan: responses are weighted by their scores if there are any, else each counts once.

    The scores of several LLMs are not comparable, so there each counts once.
    """
    return method_class("vanilla" if scored and not several else "majority")()
