"""What `generate` and `score` suggest next works on what was just made."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.running import Done, steelyard
from tests.runs.runs_small import small_run
from tests.sampling.jobs.generating import generate
from tests.upstreams import FaultUpstream


def follow(done: Done) -> tuple[list[str], Done]:
    """The command that is suggested, and what comes of it."""
    assert done.code == 0, done.err
    (line,) = (line for line in done.out.splitlines() if line.startswith("Next: "))
    words = shlex.split(line.removeprefix("Next: ").partition(", or ")[0])
    assert words.pop(0) == "steelyard"
    return words, steelyard(*words)


@pytest.mark.parametrize(
    ("questions", "verb", "changes"),
    [
        (4, "vote", {}),
        (12, "fit", {}),
        (80, "evaluate", {}),
        (80, "vote", {"response": "The answer is \\boxed{-7}."}),  # never correct: nothing can be learned
        (80, "vote", {"logprob": None}),  # nothing can be scored
    ],
)
def test_what_score_suggests_works(
    questions: int, verb: str, changes: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = small_run(tmp_path / "a run", questions=questions, samples=4, **changes)
    words, after = follow(steelyard("score", run, "--verifier", "logprob", "--max-failures", "100%"))
    assert words[0] == verb
    assert after.code == 0, after.err


def test_the_path_of_a_newcomer_ends_with_verdicts(
    upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, scored = follow(generate(upstream, tmp_path, "good", "-n", 4))
    assert words[-2:] == ["--verifier", "logprob"]
    words, voted = follow(scored)
    assert words[0] == "vote"
    assert voted.code == 0, voted.err
    assert (tmp_path / "verdicts.parquet").exists()


def test_the_json_of_fit_holds_what_is_said_first(tmp_path: Path) -> None:
    steelyard("simulate", "--questions", 60, "-n", 4, "-o", tmp_path / "t.parquet")
    said = steelyard("fit", tmp_path / "t.parquet").out
    found = json.loads(steelyard("fit", tmp_path / "t.parquet", "--json").out)
    assert said.startswith(found["explained"])
    assert said.index("Fitted calibrated on") > len(found["explained"])
