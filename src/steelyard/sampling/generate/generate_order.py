"""The options of `generate`, each named and typed once, and the order they become, which another process can take."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, Signature, signature
from operator import itemgetter
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar, Unpack, cast, get_type_hints

import polars as pl

from steelyard.answers.auto_kind import choose_kind
from steelyard.answers.extract import AUTO, check_kind
from steelyard.answers.kind_choice import Evidence
from steelyard.foundation.errors import PlanError, SettingError, SteelyardNote, SteelyardWarning, need_numbers
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Sampling
from steelyard.sampling.ask.prepare import planned_counts
from steelyard.sampling.llm.pace import START
from steelyard.sampling.llm.upstreams import Named, Upstream, read_upstreams
from steelyard.sampling.progress import Allowed
from steelyard.tables.prompts import Template, read_template
from steelyard.tables.question_files import fingerprint, read_questions
from steelyard.voting.methods import load

Function = TypeVar("Function", bound=Callable[..., Any])
LEAST = 0.01  # seconds of the shortest timeout


@dataclass(frozen=True)
class Limits:
    """Retries per request, and the timeouts in seconds of one try and of a sample with all its tries."""

    retries: int = 2
    try_timeout: float = 600.0
    sample_timeout: float = 3600.0

    def __post_init__(self) -> None:
        """Refuse invalid limits before any request is sent."""
        need_numbers(retries=self.retries, try_timeout=self.try_timeout, sample_timeout=self.sample_timeout)
        if self.retries < 0:
            raise SettingError(f"cannot retry {self.retries} times: --retries must be at least 0")
        for name, seconds in (("try", self.try_timeout), ("sample", self.sample_timeout)):
            if not seconds >= LEAST:  # catches NaN too
                raise SettingError(f"cannot wait {seconds} s for a {name}: --{name}-timeout must be at least {LEAST}")


@dataclass(frozen=True)
class How:
    """How requests are sent. Nothing here changes the samples."""

    concurrency: int = 64
    start: int = START
    fan_out: bool = False
    logprobs: bool = True
    limits: Limits = field(default_factory=Limits)
    max_failures: str | int = "10%"

    def __post_init__(self) -> None:
        """Refuse a concurrency below 1."""
        need_numbers(concurrency=self.concurrency)
        smallest = min(self.concurrency, self.start)
        if smallest < 1:
            raise SettingError(f"--concurrency must be at least 1, not {smallest}")


class GenerateOptions(TypedDict, total=False):
    """Keyword arguments, passed on as `**options`; defaults are those of Sampling, How and Limits, or None."""

    upstream: Required[Named]
    model: Named | None
    n: int | None
    plan: str | Path | None
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    prompt: str | Path | None
    answers: str | None
    limit: int | None
    concurrency: int
    fan_out: bool
    logprobs: bool
    top_logprobs: int
    retries: int
    try_timeout: float
    sample_timeout: float
    max_failures: str | int
    key_env: Named
    rename: dict[str, str] | None


DEFAULTS = {field.name: field.default for kind in (Limits, How, Sampling) for field in fields(kind)}
SAMPLES = Sampling.n  # per question, without -n and without a plan
DEFAULTS |= {"upstream": Parameter.empty, "model": None, "n": None, "key_env": "OPENAI_API_KEY"}
PARAMETERS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=annotation)
    for name, annotation in get_type_hints(GenerateOptions).items()
]


def with_defaults(options: GenerateOptions) -> GenerateOptions:
    """All options; one that is missing or unknown is a TypeError, as in any call.

    >>> with_defaults({"upstream": "local"})["retries"]
    2
    """
    bound = Signature(PARAMETERS).bind(**options)
    bound.apply_defaults()
    return cast(GenerateOptions, bound.arguments)


def show_options(function: Function) -> Function:
    """Give a function of `**options` a signature that lists them, for `help` and notebooks."""
    own = signature(function)
    named = [parameter for parameter in own.parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD]
    named = sorted([*PARAMETERS, *named], key=lambda parameter: parameter.kind)
    vars(function)["__signature__"] = own.replace(parameters=named)
    return function


@dataclass(frozen=True)
class GenerateOrder:
    """Which upstreams to ask, for what and how. It contains the names of the variables with the keys, but no key."""

    upstreams: tuple[Upstream, ...]
    sampling: Sampling
    template: Template
    how: How
    manifest: Manifest


def read_order(questions: str | Path, **options: Unpack[GenerateOptions]) -> tuple[GenerateOrder, pl.DataFrame]:
    """Read and check the options of `generate`, and the questions, before anything is created."""
    values = with_defaults(options)
    temperature, max_failures = values["temperature"], values["max_failures"]
    upstreams = read_upstreams(values["upstream"], values["model"], values["key_env"], values["n"] or SAMPLES)
    n = SAMPLES if values["n"] is None else values["n"]
    if values["plan"] is not None:
        n = planned_n(values["plan"], values["n"], tuple(one.name for one in upstreams if one.name))
    first = Sampling(upstreams[0].model, n, temperature, values["top_p"], values["max_tokens"], values["seed"])
    first = replace(first, top_logprobs=values["top_logprobs"])
    if first.top_logprobs and not values["logprobs"]:
        raise SettingError("--top-logprobs needs log-probabilities: leave out --no-logprobs")
    limits = Limits(values["retries"], values["try_timeout"], values["sample_timeout"])
    how = How(
        values["concurrency"], fan_out=values["fan_out"], logprobs=values["logprobs"], limits=limits,
        max_failures=max_failures,
    )  # fmt: skip
    question_set = read_questions(questions, rename=values["rename"], limit=values["limit"])
    template = read_template(question_set.prompt if values["prompt"] is None else values["prompt"])
    kind = _kind(values["answers"], template, question_set.table)
    if temperature == 0 and n > 1:
        text = f"at temperature 0 the {n} samples of a question will be nearly identical: use 0.7, or -n 1"
        warnings.warn(text, SteelyardWarning, stacklevel=3)
    Allowed.of(max_failures, 1)  # refuse a mistake before anything is created
    for server in upstreams:
        server.check()
    sources = {one.name: {"model": one.model, "upstream": one.url} for one in upstreams if one.name}
    alone = None if sources else upstreams[0]
    manifest = Manifest(
        fingerprint(question_set.table), alone.model if alone else "", n, first.seed, template.text,
        {"temperature": temperature, "top_p": first.top_p, "max_tokens": first.max_tokens}
        | ({"top_logprobs": first.top_logprobs} if first.top_logprobs else {}),
        kind, alone.url if alone else "", Path(questions).name, sources=sources,
    )  # fmt: skip
    return GenerateOrder(upstreams, first, template, how, manifest), question_set.table


def planned_n(plan: str | Path, n: int | None, names: tuple[str, ...]) -> int:
    """The number of samples per question and upstream that a plan was made for.

    That is what `plan-budget` bought, the cap of the stopping rule, or the number that the method was fitted at.
    """
    method = load(plan)
    if n is not None:
        raise SettingError(f"-n and --plan both set the number of samples: leave out -n to draw as many as {plan} says")
    if method.cascade_:
        raise PlanError(
            f"{plan} is a cascade, which decides after every sample whether to ask the next LLM: 'steelyard ask' and "
            "'steelyard serve' follow it; to sample all of its LLMs, use -n instead of --plan"
        )
    made_for = method.stopping_.cap if method.stopping_ else method.fitted_on_.n if method.fitted_on_ else None
    if not (method.samples_ or made_for):
        raise PlanError(f"{plan} does not say how many samples it was made for: use -n instead")
    bought = method.samples_ or {"": made_for or 0}
    counts = planned_counts(bought, names or ("",))
    if unknown := [name for name in names or ("",) if name not in counts]:
        raise PlanError(
            f"{plan} draws samples of {', '.join(bought)}, not of {', '.join(unknown) or 'an unnamed upstream'}: "
            f"name the upstreams as it does, --upstream {next(iter(bought))}=URL"
        )
    if len(set(counts.values())) > 1:
        fewest = sorted(counts.items(), key=itemgetter(1))
        raise PlanError(
            f"{plan} draws different numbers of samples, and one command draws the same from all: generate into one "
            f"run one LLM at a time, the fewest first ({', '.join(f'{name} {count}' for name, count in fewest)})"
        )
    return next(iter(counts.values()))


def _kind(answers: str | None, template: Template, questions: pl.DataFrame) -> str:
    """The kind of answers of a run: the explicit one, else that of the prompt, else that of the gold answers."""
    if answers not in (None, AUTO):
        return check_kind(str(answers))
    if template.answers is not None:
        return template.answers
    choice = choose_kind(Evidence(questions["gold"].drop_nulls().to_list() if "gold" in questions else ()))
    if choice.kind != "math":
        warnings.warn(f"answers are read as {choice.kind}: {choice.reason}", SteelyardNote, stacklevel=3)
    return choice.kind
