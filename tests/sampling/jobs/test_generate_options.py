"""The options of generate: one list behind the command line, Python's signatures and the workers of an engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.cli import commands
from steelyard.engine.generate import generate_parts
from steelyard.sampling.generate.generate_order import PARAMETERS, GenerateOptions

NAMED_UPSTREAMS = {"upstream", "model", "key_env"}  # read by the command line itself


@pytest.mark.parametrize("function", [sy.generate, sy.agenerate])
def test_the_signature_lists_every_option_with_its_type_and_default(function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    assert [shown[each.name] for each in PARAMETERS] == PARAMETERS
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in shown.values())
    assert shown["seed"].annotation is int
    assert shown["upstream"].default is inspect.Parameter.empty


def test_the_command_line_has_every_option_with_the_same_default() -> None:
    flags = {param.name: param.default for param in commands()["generate"].params}
    for each in PARAMETERS:
        assert each.name in flags
        assert each.name in NAMED_UPSTREAMS or flags[each.name] == each.default, each.name


@pytest.mark.parametrize(
    ("options", "message"),
    [({}, "missing a required argument: 'upstream'"), ({"upstream": "local", "nn": 8}, "unexpected keyword.*'nn'")],
)
@pytest.mark.parametrize("function", [sy.generate, generate_parts])
def test_a_missing_or_unknown_option_is_a_type_error_and_makes_no_run(
    tmp_path: Path, function: Callable[..., Any], options: GenerateOptions, message: str
) -> None:
    engine = {"engine": "processes:2"} if function is generate_parts else {}
    with pytest.raises(TypeError, match=message):
        function(tmp_path / "questions.jsonl", tmp_path / "run", **engine, **options)
    assert not list(tmp_path.iterdir())
