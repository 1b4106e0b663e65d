"""What a hostile server can make `steelyard generate` keep in memory, with 64 requests under way at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory import measured
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import FaultUpstream, command

MOST = 300  # MB above what the same command takes with a good server
LIMIT = 6 * 2**30  # bytes of address space: what leaks ends there, and not with the machine

PROGRAM = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, {LIMIT}))
from steelyard.cli import main
from steelyard.runs.run import Run
if "--no-table" in sys.argv:
    sys.argv.remove("--no-table")
    Run.write_table = lambda self: None
main()
"""


def peak(
    upstream: FaultUpstream, folder: Path, model: str, retries: int = 1, bad: int = 68, *more: str
) -> tuple[str, int, str]:
    """Exit code, high-water mark in MB and what was said."""
    folder.mkdir()
    words, environment = command(
        "generate", ask_for(folder, 68, bad=bad), "--upstream", upstream.url, "--model", model, "-n", 1,
        "--concurrency", 64, "--retries", retries, "--max-failures", "100%", "--try-timeout", 600, "-o", folder / "run",
        *more,
    )  # fmt: skip
    done = measured(PROGRAM, *words[3:], env=environment)
    return str(done.code), done.peak, done.out + done.err


@pytest.fixture(scope="module")
def good(upstream: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> int:
    """What the command takes with a good server, in MB."""
    code, used, said = peak(upstream, tmp_path_factory.mktemp("good") / "run", "good")
    assert code == "0", said
    return used


@pytest.mark.long
@pytest.mark.parametrize("kind", ["endless", "many@lists"])
def test_no_body_takes_more_than_300_mb_with_64_under_way(
    upstream: FaultUpstream, tmp_path: Path, good: int, kind: str
) -> None:
    check(upstream, tmp_path, good, kind, retries=1)


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    ["huge@31", "huge@64", "keys", "crowd@2000000", "many@objects", "many@texts", "many@numbers",
     "many@emoji", "deep@1000000", "digits", "zipped", "long-text@30", "long-name", "slow@0.002"],
)  # fmt: skip
def test_no_other_body_does_either(upstream: FaultUpstream, tmp_path: Path, good: int, kind: str) -> None:
    check(upstream, tmp_path, good, kind, retries=0)


@pytest.mark.long
def test_long_samples_on_their_way_to_the_disk_do_not_either(
    upstream: FaultUpstream, tmp_path: Path, good: int
) -> None:
    """68 samples of a million characters; the table, which holds them all, is another matter."""
    code, used, said = peak(upstream, tmp_path / "long", "fault:long-text@1?BAD", 0, 68, "--no-table")
    assert code == "0", said
    assert used - good < MOST


def check(upstream: FaultUpstream, tmp_path: Path, good: int, kind: str, retries: int) -> None:
    bad = 6 if kind == "keys" else 68  # each takes a second to read, and they are read one after another
    code, used, said = peak(upstream, tmp_path / "faulty", f"fault:{kind}?BAD", retries, bad)
    print(f"{kind}: {used - good} MB above {good} MB")
    assert code == "0", said
    assert used - good < MOST
