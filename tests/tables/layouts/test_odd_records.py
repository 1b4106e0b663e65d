"""Whatever stands where a field should be, a file of a tool is read or refused in one line; nothing else is raised."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import SteelyardError
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.file_checks import reading
from tests.tables.layouts.golden import GOLDEN

ODD: list[Any] = [
    None, "", "x", 0, -1, 2.5, float("nan"), True, [], {}, [None], [[]], {"a": 1}, [{}], ["x", 3], 10**30, 10**400,
    [0.5, 10**400],
]  # fmt: skip
FILES = [
    "lm_eval/samples_sums_2026-11-16T04-00-00.000000.jsonl", "inspect_log/sums.json", "verifiers_traces/traces.jsonl",
    "batch/openai_output.jsonl", "batch/vllm_input.jsonl", "chat_completions/list.json",
    "chat_completions/requests.jsonl", "zeroeval/mock-70b.json", "responses_api/requests.jsonl",
    "responses_api/metadata.json", "anthropic_batch/results.jsonl", "anthropic_batch/requests.json",
]  # fmt: skip
TRIES = 30


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Every (container, key) within a few levels."""
    keys: Any = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    here = [(value, key) for key in keys]
    return here + [place for key in keys if depth < 9 for place in _places(value[key], depth + 1)]


@pytest.mark.parametrize("name", FILES)
def test_odd_fields_never_raise_anything_but_our_errors(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    text = (GOLDEN / name).read_text()
    target = tmp_path / Path(name).name
    for _ in range(TRIES):
        value = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
        container, key = rng.choice(_places(value))
        if rng.random() < 0.2 and isinstance(container, dict):
            del container[key]
        else:
            container[key] = rng.choice(ODD)
        whole = name.endswith(".json")
        target.write_text(json.dumps(value) if whole else "".join(json.dumps(row) + "\n" for row in value))
        assert "\n" not in _refusal(target)


def _refusal(path: Path) -> str:
    """The line with which a file is refused, empty if it is read."""
    try:
        with reading(path):
            open_responses(path).collect()
    except SteelyardError as error:
        return str(error)
    return ""
