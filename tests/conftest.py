"""Profiles of the property tests, and the pools most tests use."""

# isort: off
from tests import nudging  # noqa: F401  # before steelyard, whose loops are compiled with what it changes
# isort: on

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import steelyard as sy
from tests.building import labelled
from tests.upstreams import CANARY, FaultUpstream, fault_upstream
from tests.waiting import PATIENCE

settings.register_profile(
    "quick", max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("all", settings.get_profile("quick"), max_examples=40)
settings.register_profile("long", settings.get_profile("quick"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Numba's cache knows the file a loop stands in, not the files of the loops it calls: forget what is older than any.
KERNELS = Path(sy.__file__).parent / "voting" / "kernels"
NEWEST = max(file.stat().st_mtime for file in KERNELS.glob("*.py"))
for index in KERNELS.glob("__pycache__/*.nbi"):
    with suppress(FileNotFoundError):  # another worker was quicker
        if index.stat().st_mtime < NEWEST:
            index.unlink()


@pytest.fixture(scope="session", autouse=True)
def quiet_logs() -> Iterator[None]:
    """No line of progress, however long a busy machine takes; the tests of progress ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("steelyard.cli.progress_display.QUIET", float("inf"))
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_library() -> Iterator[None]:
    """What the library waits for at most is no subject of most tests: they pass on a machine that is stopped meanwhile.

    A test of such a limit sets its own.
    """
    limits = {
        "answers.equivalence.DEADLINE": 60.0,
        "answers.equivalence.START": PATIENCE,
        "gateway.limits.admission.LONGEST": PATIENCE,
        "gateway.vote.vote_counter.ALGEBRA": PATIENCE,
        "gateway.limits.admission.CLOSING": PATIENCE,
        "gateway.serving.CLOSING": PATIENCE,
        "gateway.serving.PATIENCE": PATIENCE,
        "gateway.http.vote_stream.HEARTBEAT": PATIENCE,
        "sampling.generate.generate.GRACE": PATIENCE,
        "sampling.llm.connections.CONNECT": PATIENCE,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in limits.items():
            patch.setattr(f"steelyard.{name}", seconds)
        yield


@pytest.fixture(scope="session")
def cal() -> sy.LabelledPool:
    return labelled(sy.simulate(120, 16, seed=1))


@pytest.fixture(scope="session")
def test() -> sy.LabelledPool:
    return labelled(sy.simulate(150, 16, seed=2))


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultUpstream]:
    """A server whose faults are chosen by the model's name."""
    with fault_upstream(tmp_path_factory.mktemp("upstream")) as server:
        yield server


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are tested by themselves; elsewhere nobody waits for them."""
    monkeypatch.setattr("steelyard.sampling.llm.retry.FIRST", 0.02)
    monkeypatch.setattr("steelyard.sampling.llm.retry.LONGEST", 0.05)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The canary as the user's key."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One real Chromium for all tests of a file."""
    if CHROMIUM is None:
        pytest.skip("no chromium binary is installed, so the page cannot be opened")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        opened = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=1000 * PATIENCE)
        yield opened
        opened.close()
