"""What `generate` was asked for, read and checked: it can be handed to another process."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import polars as pl

from steelyard.answers.auto_kind import Evidence, choose_kind
from steelyard.answers.extract import AUTO, check_kind
from steelyard.foundation.errors import SteelyardNote, SteelyardWarning
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Sampling
from steelyard.sampling.generate.generate import How
from steelyard.sampling.generate.generate_options import GenerateOptions, with_defaults
from steelyard.sampling.generate.request_batch import Limits
from steelyard.sampling.llm.named_upstreams import Upstream, read_upstreams
from steelyard.sampling.progress import Allowed
from steelyard.tables.prompts import Template, read_template
from steelyard.tables.question_files import fingerprint, read_questions


@dataclass(frozen=True)
class GenerateOrder:
    """Whom to ask, for what and how. It has the names of the variables that hold keys, and no key."""

    upstreams: tuple[Upstream, ...]
    sampling: Sampling
    template: Template
    how: How
    manifest: Manifest


def read_order(questions: str | Path, **options: Unpack[GenerateOptions]) -> tuple[GenerateOrder, pl.DataFrame]:
    """Read the options of `generate`, and the questions; what is wrong is said before anything is made."""
    asked = with_defaults(options)
    n, temperature, max_failures = asked["n"], asked["temperature"], asked["max_failures"]
    upstreams = read_upstreams(asked["upstream"], asked["model"], asked["key_env"], n)
    first = Sampling(upstreams[0].model, n, temperature, asked["top_p"], asked["max_tokens"], asked["seed"])
    limits = Limits(asked["retries"], asked["try_timeout"], asked["sample_timeout"])
    how = How(
        asked["concurrency"], fan_out=asked["fan_out"], logprobs=asked["logprobs"], limits=limits,
        max_failures=max_failures,
    )  # fmt: skip
    found = read_questions(questions, rename=asked["rename"], limit=asked["limit"])
    template = read_template(found.prompt if asked["prompt"] is None else asked["prompt"])
    kind = _kind(asked["answers"], template, found.table)
    if temperature == 0 and n > 1:
        what = f"at temperature 0 the {n} samples of a question will be much the same: sample at 0.7, or -n 1"
        warnings.warn(what, SteelyardWarning, stacklevel=3)
    Allowed.of(max_failures, 1)  # a mistake in it is said before anything is made
    for each in upstreams:
        each.check()
    sources = {each.name: {"model": each.model, "upstream": each.url} for each in upstreams if each.name}
    alone = None if sources else upstreams[0]
    manifest = Manifest(
        fingerprint(found.table), alone.model if alone else "", n, first.seed, template.text,
        {"temperature": temperature, "top_p": first.top_p, "max_tokens": first.max_tokens},
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
