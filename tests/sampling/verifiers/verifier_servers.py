"""The fault verifier as tests use it: started, asked for its ledger, stopped."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.measuring import unmeasured
from tests.upstreams import tell, written

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class FaultVerifier:
    url: str
    ledger: Path

    def asked(self) -> list[dict[str, Any]]:
        """The requests so far that ask for scores, the probe's among them."""
        return [entry for entry in written(self.ledger) if not entry["path"].endswith(("/models", "/version"))]

    def allow(self, requests: float = math.inf) -> None:
        """Have so many requests answered from now on, and the others held back: who asks does not finish.

        Told so it has read all that those who are gone by now have sent.
        """
        for _ in range(2):
            tell(self.url, "/allow", json.dumps({"requests": requests}))


@contextmanager
def fault_verifier(folder: Path, served: str = "good", delay: float = 0.0) -> Iterator[FaultVerifier]:
    ledger = folder / "verifier.jsonl"
    command = [sys.executable, "-m", "tests.sampling.verifiers.fault_verifier", str(ledger), str(delay)]
    environment = unmeasured() | {"SERVED": served}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    try:
        assert process.stdout is not None
        yield FaultVerifier(f"http://127.0.0.1:{int(process.stdout.readline())}", ledger)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()
