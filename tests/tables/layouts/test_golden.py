"""Every golden sample goes from the tool's file to verdicts, and every layout of a tool has one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.tables.recognition import LAYOUTS
from steelyard.tables.sources.opening import open_source
from tests.running import steelyard
from tests.tables.layouts.golden import GOLDEN

TOOLS = {
    "lm_eval/samples_sums_2*.jsonl": ("lm-eval", ["5", "42", "5", "4"]),
    "inspect_log/sums.eval": ("inspect-log", ["5", "42", "5"]),
    "inspect_log/sums.json": ("inspect-log", ["5", "42", "5"]),
    "lighteval/details_sums_2*.parquet": ("lighteval", ["5", "42", "5", "4"]),
    "verifiers_traces/traces.jsonl": ("verifiers-traces", ["5", "42", "5", "4"]),
    "zeroeval/*.json": ("zeroeval", ["5", "42", "4"]),
    "batch/openai_*.jsonl": ("batch", ["5", "42", "5", None, None]),
    "batch/vllm_*.jsonl": ("batch", ["5", "42", "5"]),
    "anthropic_batch/re*": ("anthropic-batch", ["5", "42", "5"]),
    "responses_api/requests.jsonl": ("responses-api", ["5", "42", "5"]),
    "responses_api/metadata.json": ("responses-api", ["5", "42", "5"]),
    "chat_completions/list.json": ("chat-completions", ["5", "42", "5"]),
    "chat_completions/requests.jsonl": ("chat-completions", ["5", "42", "5"]),
}
UNLABELLED = ("batch", "anthropic-batch", "chat-completions", "responses-api")
LABELLED = [name for name, (layout, _) in TOOLS.items() if layout not in UNLABELLED]


def test_every_folder_of_golden_samples_belongs_to_a_layout() -> None:
    folders = {path.name.replace("_", "-") for path in GOLDEN.iterdir() if path.is_dir()}
    assert {layout for layout, _ in TOOLS.values()} <= folders <= set(LAYOUTS.names)


@pytest.mark.parametrize("name", TOOLS)
def test_it_is_recognised_by_its_own_layout_only(name: str) -> None:
    file = open_source(str(GOLDEN / name))
    tools = [layout for each in LAYOUTS.names if not (layout := LAYOUTS.get(each)()).turn]
    assert [layout.name for layout in tools if layout.recognises(file)] == [TOOLS[name][0]]


@pytest.mark.parametrize("name", TOOLS)
def test_vote_gives_the_verdicts(name: str, tmp_path: Path) -> None:
    done = steelyard("vote", GOLDEN / name, "-o", tmp_path / "verdicts.parquet")
    assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "verdicts.parquet")["answer"].to_list() == TOOLS[name][1]
    assert LAYOUTS.get(TOOLS[name][0]).title in done.out + done.err


@pytest.mark.parametrize("name", LABELLED)
def test_evaluate_measures_it(name: str) -> None:
    done = steelyard("evaluate", GOLDEN / name, "--method", "majority", "--score", "none")
    assert done.code == 0, done.err
    assert "majority" in done.out


@pytest.mark.parametrize("name", LABELLED)
def test_it_has_labels(name: str) -> None:
    assert isinstance(sy.read(str(GOLDEN / name), score="none"), sy.LabelledPool)


@pytest.mark.parametrize("layout", sorted({layout for layout, _ in TOOLS.values()}))
def test_a_layout_that_is_forced_on_another_table_refuses_it_in_one_line(layout: str, tmp_path: Path) -> None:
    (tmp_path / "table.jsonl").write_text('{"question": "a", "answer": "5"}\n')
    done = steelyard("vote", tmp_path / "table.jsonl", "--layout", layout)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
