"""The blocks of docs/integrations.md run as printed; verl's function is called as verl calls it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.fault_upstream.asked import text_of
from tests.gateway.gateways import KEY, gateway
from tests.upstreams import ROOT, FaultUpstream

PAGE = ROOT / "docs" / "integrations.md"
BLOCKS: dict[str, list[str]] = {}
for tool, content in re.findall(r"<!-- integration (\w+) -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
    BLOCKS.setdefault(tool, []).append(content)


def run(block: str) -> tuple[dict[str, Any], str]:
    """What a block defines, and what it prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block, str(PAGE), "exec"), names)
    return names, out.getvalue().strip()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def serve(monkeypatch: pytest.MonkeyPatch, url: str, model: str = "") -> None:
    for name, value in {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": KEY, "MODEL": model}.items():
        monkeypatch.setenv(name, value)


def test_dspy_asks_the_gateway(upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    with gateway(upstream.url, model="fault:structured") as served:
        serve(monkeypatch, f"{served.url}/v1")
        _, printed = run(BLOCKS["dspy"][0])
    assert printed == "7"
    assert upstream.asked("fault:structured")[-1]["n"] == 8


def test_a_module_of_dspy_votes_on_its_completions(upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, upstream.url, "fault:structured")
    assert run(BLOCKS["dspy"][1])[1] == "7 0.75"


def test_a_runnable_of_langchain_votes_on_its_generations(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, upstream.url, "good")
    names, _ = run(BLOCKS["langchain_openai"][0])
    texts = [text_of("What is 3 + 4?", seed) for seed in range(8)]
    verdict = names["verdict"]
    assert verdict["responses"] == 8
    assert sum(rf"\boxed{{{verdict['answer']}}}" in text for text in texts) == verdict["votes"]


def test_verdicts_become_a_training_file_of_verl() -> None:
    rows = [("a", "1/2 ?", r"\boxed{1/2}"), ("a", "1/2 ?", r"\boxed{0.5}"), ("a", "1/2 ?", r"\boxed{3}")]
    unclear = [("b", "2 + 2?", rf"\boxed{{{number}}}") for number in (1, 2, 3)]
    pl.DataFrame([*rows, *unclear], ["question", "prompt", "response"], orient="row").write_parquet("responses.parquet")
    run(BLOCKS["verl"][0])
    (row,) = pl.read_parquet("train.parquet").to_dicts()
    assert row == {
        "data_source": "steelyard",
        "prompt": [{"role": "user", "content": "1/2 ?"}],
        "reward_model": {"style": "rule", "ground_truth": "1/2"},
    }


@pytest.mark.parametrize(("response", "reward"), [("It is 0.5.", 1.0), ("It is 2.", 0.0), ("I do not know.", 0.0)])
def test_the_reward_of_verl_compares_answers(response: str, reward: float) -> None:
    compute_score = run(BLOCKS["verl"][1])[0]["compute_score"]
    score = compute_score(
        data_source="steelyard", solution_str=response, ground_truth="1/2", extra_info={"num_turns": None}
    )
    assert score == reward


def test_every_block_is_run_by_a_test() -> None:
    assert {tool: len(blocks) for tool, blocks in BLOCKS.items()} == {
        "dspy": 2, "langchain_openai": 1, "trl": 1, "verl": 2,
    }  # fmt: skip
