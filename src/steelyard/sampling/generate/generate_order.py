"""What `generate` was asked for, read and checked: it can be handed to another process."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from steelyard.answers.auto_kind import Evidence, choose_kind
from steelyard.answers.extract import AUTO, check_kind
from steelyard.foundation.errors import SteelyardNote, SteelyardWarning
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Sampling
from steelyard.sampling.generate.generate import How
from steelyard.sampling.generate.request_batch import Limits
from steelyard.sampling.llm.named_upstreams import Named, Upstream, read_upstreams
from steelyard.sampling.progress import Allowed
from steelyard.tables.questions.prompts import Template, read_template
from steelyard.tables.questions.question_files import fingerprint, read_questions


@dataclass(frozen=True)
class GenerateOrder:
    """Whom to ask, for what and how. It has the names of the variables that hold keys, and no key."""

    upstreams: tuple[Upstream, ...]
    sampling: Sampling
    template: Template
    how: How
    manifest: Manifest


def read_order(
    questions: str | Path,
    *,
    upstream: Named,
    model: Named | None = None,
    n: int = 32,
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int = 2048,
    seed: int = 0,
    prompt: str | Path | None = None,
    answers: str | None = None,
    limit: int | None = None,
    concurrency: int = 64,
    fan_out: bool = False,
    logprobs: bool = True,
    retries: int = 2,
    try_timeout: float = 600.0,
    sample_timeout: float = 3600.0,
    max_failures: str | int = "10%",
    key_env: Named = "OPENAI_API_KEY",
    rename: dict[str, str] | None = None,
) -> tuple[GenerateOrder, pl.DataFrame]:
    """Read the options of `generate`, and the questions; what is wrong is said before anything is made."""
    upstreams = read_upstreams(upstream, model, key_env, n)
    first = Sampling(upstreams[0].model, n, temperature, top_p, max_tokens, seed)
    how = How(
        concurrency, fan_out=fan_out, logprobs=logprobs, limits=Limits(retries, try_timeout, sample_timeout),
        max_failures=max_failures,
    )  # fmt: skip
    found = read_questions(questions, rename=rename, limit=limit)
    template = read_template(found.prompt if prompt is None else prompt)
    kind = _kind(answers, template, found.table)
    if temperature == 0 and n > 1:
        what = f"at temperature 0 the {n} samples of a question will be much the same: sample at 0.7, or -n 1"
        warnings.warn(what, SteelyardWarning, stacklevel=3)
    Allowed.of(max_failures, 1)  # a mistake in it is said before anything is made
    for each in upstreams:
        each.check()
    sources = {each.name: {"model": each.model, "upstream": each.url} for each in upstreams if each.name}
    alone = None if sources else upstreams[0]
    manifest = Manifest(
        fingerprint(found.table), alone.model if alone else "", n, seed, template.text,
        {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens},
        kind, alone.url if alone else "", Path(questions).name, sources=sources,
    )  # fmt: skip
    return GenerateOrder(upstreams, first, template, how, manifest), found.table


def _kind(answers: str | None, template: Template, questions: pl.DataFrame) -> str:
    """The kind of answers of a run: the one that is named, else that of the prompt, else that of the golds."""
    if answers not in (None, AUTO):
        return check_kind(str(answers))
    if template.answers is not None:
        return template.answers
    kind, reason, _ = choose_kind(Evidence(questions["gold"].drop_nulls().to_list() if "gold" in questions else ()))
    if kind != "math":
        warnings.warn(f"answers are read as {kind}: {reason}", SteelyardNote, stacklevel=3)
    return kind
