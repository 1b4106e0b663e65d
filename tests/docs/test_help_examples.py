"""Every example of every `--help` runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.cli import commands
from tests.docs.example_files import cascade, make_files
from tests.docs.shell import Shell
from tests.upstreams import FaultUpstream

EXAMPLE = re.compile(r"Example(?: \([^)]*\))?: (.+)")
EXAMPLES = {verb: (command.epilog or "").split("\n\n") for verb, command in commands().items()}
SKIPPED = {
    "steelyard demo -o demo": "run by tests/cli/test_cli.py",
    "steelyard leaderboard": "minutes; the same on files is run",
    "steelyard reproduce all --quick -o reproduction": "run by tests/evaluation/paper/test_files.py",
    "steelyard reproduce table1 fig-offset": "minutes; run by make reproduction",
    "steelyard score run --verifier qwen-prm --local": "downloads a model of 7B",
}
GENERATE = "steelyard generate questions.jsonl --upstream http://127.0.0.1:8000/v1 --model my-model -n 4 -o run"
COMMITTEE = "--upstream a=http://127.0.0.1:8000/v1,b=http://127.0.0.1:8001/v1 --model a=my-7b,b=my-70b"
BEFORE = {  # what an example continues
    "steelyard status run": (GENERATE,),
    "steelyard serve": (GENERATE, "steelyard fit run -o plan.json"),
    'steelyard ask "How many?"': (f"steelyard generate questions.jsonl {COMMITTEE} -n 4 -o committee",
                                  "steelyard fit committee -o plan.json"),
}  # fmt: skip


@pytest.mark.parametrize("verb", EXAMPLES)
def test_every_example_is_one_command_on_a_line_of_its_own(verb: str) -> None:
    for line in EXAMPLES[verb]:
        assert EXAMPLE.fullmatch(line), line
    assert any(f"steelyard {verb}" in line for line in EXAMPLES[verb])


def test_every_example_that_is_skipped_exists() -> None:
    listed = {match[1] for lines in EXAMPLES.values() for line in lines if (match := EXAMPLE.fullmatch(line))}
    assert set(SKIPPED) <= listed


@pytest.mark.long
@pytest.mark.parametrize("verb", EXAMPLES)
def test_every_example_runs(verb: str, tmp_path: Path, upstream: FaultUpstream) -> None:
    for number, example in enumerate(EXAMPLES[verb]):
        match = EXAMPLE.fullmatch(example)
        assert match
        command = match[1]
        if command in SKIPPED:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        shell = Shell(folder, upstream.url)
        before = next((lines for start, lines in BEFORE.items() if command.startswith(start)), ())
        for step in (*before, command):
            line = shell.filled(step)
            make_files(folder, line, **({"plan": cascade} if verb == "evaluate" else {}))
            shell.run(line)
