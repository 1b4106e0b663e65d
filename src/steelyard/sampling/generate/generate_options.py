"""The options of `generate`, each named and typed once. Every function that passes them on takes `**options`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar, cast, get_type_hints

from steelyard.runs.parameters import Sampling
from steelyard.sampling.generate.generate import How
from steelyard.sampling.generate.request_batch import Limits
from steelyard.sampling.llm.named_upstreams import Named

Function = TypeVar("Function", bound=Callable[..., Any])


class GenerateOptions(TypedDict, total=False):
    """Keyword arguments; defaults are those of Sampling, How and Limits, or None."""

    upstream: Required[Named]
    model: Named | None
    n: int
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
    retries: int
    try_timeout: float
    sample_timeout: float
    max_failures: str | int
    key_env: Named
    rename: dict[str, str] | None


DEFAULTS = {field.name: field.default for kind in (Limits, How, Sampling) for field in fields(kind)}
DEFAULTS |= {"upstream": Parameter.empty, "model": None, "key_env": "OPENAI_API_KEY"}
PARAMETERS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=annotation)
    for name, annotation in get_type_hints(GenerateOptions).items()
]


def with_defaults(options: GenerateOptions) -> GenerateOptions:
    """All options; one that is missing or unknown is a TypeError, as in any call.

    >>> with_defaults({"upstream": "local"})["n"]
    32
    """
    bound = Signature(PARAMETERS).bind(**options)
    bound.apply_defaults()
    return cast(GenerateOptions, bound.arguments)


def show_options(function: Function) -> Function:
    """Give a function of `**options` a signature that lists them, for `help` and notebooks."""
    own = signature(function)
    named = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    named = sorted([*PARAMETERS, *named], key=lambda parameter: parameter.kind)
    vars(function)["__signature__"] = own.replace(parameters=named)
    return function
