"""The fault upstream as tests use it: started, asked for its ledger, stopped."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.measuring import unmeasured

ROOT = Path(__file__).parent.parent
CANARY = "sk-canary-3f9a1c77e2"


def written(ledger: Path) -> list[dict[str, Any]]:
    """The entries of a ledger; its last line may be half written yet."""
    *lines, _ = ledger.read_text().split("\n") if ledger.exists() else [""]
    return [json.loads(line) for line in lines]


def tell(url: str, path: str, words: str) -> None:
    """Tell a server of the tests something."""
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", path, words.encode())
    assert connection.getresponse().status == 200
    connection.close()


@dataclass(frozen=True)
class FaultUpstream:
    """A running server and the file it writes down every request in."""

    url: str
    ledger: Path

    def entries(self, event: str = "arrived") -> list[dict[str, Any]]:
        return [entry for entry in written(self.ledger) if entry["event"] == event]

    def asked(self, model: str, *, probes: bool = False) -> list[dict[str, Any]]:
        """The requests for a model; without those of the probe."""
        from steelyard.sampling.llm.probe import QUESTION

        return [
            entry
            for entry in self.entries()
            if entry["model"] == model and (probes or not entry["prompt"].startswith(QUESTION))
        ]

    def release(self, word: str) -> None:
        """Have everything answered, now and later, that `fault:held?WORD` holds back."""
        tell(self.url, "/v1/release", word)

    def allow(self, requests: float = math.inf) -> None:
        """Have so many requests answered from now on, and the others held back: who asks does not finish."""
        tell(self.url, "/v1/allow", str(requests))

    def samples(self, model: str) -> Counter[tuple[str, int]]:
        """How often each (prompt, seed) was asked for."""
        return Counter(
            (entry["prompt"], entry["seed"] + j) for entry in self.asked(model) for j in range(entry["n"] or 1)
        )


@contextmanager
def fault_upstream(folder: Path, *, delay: float = 0.0) -> Iterator[FaultUpstream]:
    """Start the fault upstream in a process of its own."""
    ledger = folder / "ledger.jsonl"
    command = [sys.executable, "-m", "tests.fault_upstream", str(ledger), "--delay", str(delay)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=unmeasured())
    try:
        assert process.stdout is not None
        yield FaultUpstream(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", ledger)
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def command(*words: object) -> tuple[list[str], dict[str, str]]:
    """`steelyard WORDS` as a process: the command line and its environment."""
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": source, "OPENAI_API_KEY": CANARY}
    return [sys.executable, "-m", "steelyard", *map(str, words)], environment
