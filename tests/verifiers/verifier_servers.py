"""The fault verifier as tests use it: started, asked for its ledger, stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.upstreams import written

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class FaultVerifier:
    url: str
    ledger: Path

    def asked(self) -> list[dict[str, Any]]:
        """The requests so far that ask for scores, the probe's among them."""
        return [entry for entry in written(self.ledger) if not entry["path"].endswith(("/models", "/version"))]


@contextmanager
def fault_verifier(folder: Path, served: str = "good", delay: float = 0.0) -> Iterator[FaultVerifier]:
    ledger = folder / "verifier.jsonl"
    command = [sys.executable, "-m", "tests.verifiers.fault_verifier", str(ledger), str(delay)]
    environment = os.environ | {"SERVED": served}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    try:
        assert process.stdout is not None
        yield FaultVerifier(f"http://127.0.0.1:{int(process.stdout.readline())}", ledger)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()
