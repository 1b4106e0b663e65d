"""Question sets and verifiers by their names on the hub: the real clients against a hub of our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.models import tiny
from tests.models.hub import hub

SUBJECTS = (
    "algebra", "counting_and_probability", "geometry", "intermediate_algebra", "number_theory", "prealgebra",
    "precalculus",
)  # fmt: skip
QUESTIONS = """
import json, sys
from steelyard.foundation.errors import SteelyardError
from steelyard.tables.question_files import read_questions
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = read_questions(name).table.to_dicts()
    except SteelyardError as error:
        found[name] = str(error)
print("FOUND", json.dumps(found))
"""


def write(folder: Path, file: str, *rows: dict[str, Any]) -> None:
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows))


def card(folder: Path, configurations: dict[str, dict[str, str]]) -> None:
    """The head of a dataset's page, which says where each configuration's splits are."""
    lines = ["---", "configs:"]
    for name, splits in configurations.items():
        lines += [f"- config_name: {name}", "  data_files:"]
        lines += [line for split, file in splits.items() for line in (f"  - split: {split}", f"    path: {file}")]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]))


def published(root: Path) -> dict[str, Path]:
    """The four question sets, a row or two of each, laid out as they are published."""
    gsm8k, math, math_500, mmlu = (root / name for name in ("gsm8k", "math", "math-500", "mmlu-pro"))
    write(gsm8k, "test.jsonl", {"question": "2 + 2?", "answer": "It is\n#### 4"})
    write(gsm8k, "train.jsonl", {"question": "3 + 3?", "answer": "It is\n#### 6"})
    card(gsm8k, {"main": {"train": "train.jsonl", "test": "test.jsonl"}, "socratic": {"test": "test.jsonl"}})
    for subject in SUBJECTS:
        row = {"problem": f"P of {subject}", "level": "Level 1", "type": subject, "solution": "so \\boxed{3}"}
        write(math, f"{subject}.jsonl", row)
    card(math, {subject: {"test": f"{subject}.jsonl"} for subject in SUBJECTS})
    row = {
        "problem": "P",
        "solution": "S",
        "answer": "\\frac{1}{2}",
        "subject": "Algebra",
        "unique_id": "test/a/1.json",
    }
    write(math_500, "test.jsonl", row)
    choice = {"question_id": 70, "question": "Q", "options": ["x", "y"], "answer": "B", "category": "law"}
    write(mmlu, "data/test-00000-of-00001.jsonl", choice)
    card(mmlu, {"default": {"test": "data/test-*"}})
    names = ("openai/gsm8k", "EleutherAI/hendrycks_math", "HuggingFaceH4/MATH-500", "TIGER-Lab/MMLU-Pro")
    return {f"datasets/{name}": folder for name, folder in zip(names, (gsm8k, math, math_500, mmlu), strict=True)}


def environment(address: str, home: Path) -> dict[str, str]:
    here = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**here, "HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}


def run(code: str, *args: str, env: dict[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", code, *args], check=False, env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.rpartition("FOUND ")[2])


def test_question_sets_are_loaded_by_name(tmp_path: Path) -> None:
    names = ("gsm8k", "openai/gsm8k:train", "math", "math-500", "mmlu-pro", "no/such")
    with hub(published(tmp_path)) as (address, _):
        found = run(QUESTIONS, *names, env=environment(address, tmp_path / "home"))
    assert [(row["prompt"], row["gold"]) for row in found["gsm8k"]] == [("2 + 2?", "4")]
    assert [(row["prompt"], row["gold"]) for row in found["openai/gsm8k:train"]] == [("3 + 3?", "6")]
    assert [(row["domain"], row["gold"]) for row in found["math"]] == [(subject, "3") for subject in SUBJECTS]
    assert found["math-500"] == [
        {"question": "test/a/1.json", "prompt": "P", "gold": "\\frac{1}{2}", "domain": "Algebra"}
    ]
    assert found["mmlu-pro"] == [
        {"question": "70", "prompt": "Q\n\nOptions:\nA. x\nB. y", "gold": "B", "domain": "law"}
    ]
    assert found["no/such"].startswith("no/such cannot be loaded from the hub: ")


def test_a_verifier_is_fetched_by_name_without_its_code(tmp_path: Path) -> None:
    name = "Qwen/Qwen2.5-Math-PRM-7B"
    folder = tiny.qwen_prm(tmp_path / "qwen")
    code = f"""
import json, pathlib
from steelyard.sampling.verifiers.tokens import model_folder
folder = model_folder({name!r})
print("FOUND", json.dumps(sorted(str(file) for file in folder.iterdir())))
"""
    env = {}
    with hub({name: folder}) as (address, asked):
        env = environment(address, tmp_path / "home")
        found = [Path(file) for file in run(code, env=env)]
    assert {file.name for file in found} == {
        file.name for file in folder.iterdir() if file.suffix in (".json", ".safetensors", ".jinja")
    }
    assert all(file.read_bytes() == (folder / file.name).read_bytes() for file in found)
    assert not any(path.endswith(".py") for path in asked)
    assert [Path(file) for file in run(code, env=env)] == found  # the hub is gone: once is enough
