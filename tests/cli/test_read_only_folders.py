"""A folder that cannot be written to: every verb that writes says so in one line, and a run in it can still be read."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running import steelyard
from tests.upstreams import FaultUpstream

QUESTIONS = Path(__file__).parents[2] / "examples" / "questions.jsonl"
WRITING = {
    "simulate": ["simulate", "-o", "OUT/s.parquet"],
    "fit": ["fit", "table.parquet", "-o", "OUT/plan.json"],
    "report": ["report", "table.parquet", "-o", "OUT/report.html"],
    "partition": ["partition", "table.parquet", "--parts", "2", "-o", "OUT/parts"],
    "vote": ["vote", "table.parquet", "--method", "majority", "-o", "OUT/v.csv"],
    "answers": ["answers", "table.parquet", "-o", "OUT/a.csv"],
    "import": ["import", "table.parquet", "-o", "OUT/i.parquet"],
    "demo": ["demo", "-o", "OUT/demo"],
    "generate": ["generate", str(QUESTIONS), "-o", "OUT/run", "--upstream", "URL", "--model", "m"],
    "serve": ["serve", "--upstream", "URL", "--model", "m", "--port", "0", "--feedback", "OUT/feedback"],
}


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder read-only: by its mode, or for root, whom no mode stops, by a mount."""
    folder.chmod(0o555)
    mounted = False
    if os.access(folder, os.W_OK):
        mount = shutil.which("mount")
        commands = [["--bind", str(folder), str(folder)], ["-o", "remount,bind,ro", str(folder)]] if mount else []
        done = [
            subprocess.run(["mount", *options], capture_output=True, check=False).returncode for options in commands
        ]
        mounted = done[:1] == [0]
        if done != [0, 0]:
            if mounted:
                subprocess.run(["umount", folder], check=True)
            pytest.skip("this user can write to every folder, and may not mount")
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
        folder.chmod(0o755)


@pytest.mark.parametrize("verb", WRITING)
def test_a_verb_that_cannot_write_its_output_says_so(verb: str, upstream: FaultUpstream, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "table.parquet"
    out.mkdir()
    assert steelyard("simulate", "--questions", "40", "-o", str(table)).code == 0
    words = {"table.parquet": str(table), "URL": upstream.url}
    line = [words.get(word, word.replace("OUT", str(out))) for word in WRITING[verb]]
    with read_only(out):
        done = steelyard(*line)
    errors = [text for text in done.err.splitlines() if text.startswith("error:")]
    assert (done.code, len(errors)) == (2, 1), done.err
    assert str(out) in errors[0]
    assert "Traceback" not in done.err
    assert list(out.iterdir()) == []
    assert not upstream.asked("m"), "nothing is sent before it is known where to store it"


def test_a_run_in_a_read_only_folder_is_shown_and_voted_on_but_not_continued(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    made = ["generate", str(QUESTIONS), "-o", str(run), "-n", "2", "--upstream", upstream.url, "--model", "m"]
    assert steelyard(*made).code == 0
    with read_only(run):
        status = steelyard("status", str(run), "--json")
        voted = steelyard("vote", str(run), "--method", "majority", "-o", str(tmp_path / "v.csv"))
        continued = steelyard(*made, "-n", "4")
    assert status.code == 0, status.err
    assert voted.code == 0, voted.err
    assert continued.code == 2
    assert continued.err.count("error:") == 1
