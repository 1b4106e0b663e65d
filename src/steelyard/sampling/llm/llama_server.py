"""The process that serves the embedded LLM: started by embedded.py, it exits when its parent does."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

POLL = 1.0  # seconds between two checks of the parent


def serve(settings: dict[str, Any]) -> Any:
    """Start llama.cpp's server on a free port of 127.0.0.1; it runs in threads of its own."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["tokens"]
    for part in (params.cpuparams, params.cpuparams_batch):
        part.n_threads = settings["threads"]
    params.n_gpu_layers = 0
    params.cache_ram_mib = 0  # prompts would be cached, up to 8 GB
    params.warmup = False
    params.fit_params = False
    params.ui = False
    params.endpoint_slots = False
    params.offline = True
    params.verbosity = 0
    return xllamacpp.Server(params)


def die_with(parent: int) -> None:
    """Exit when standard input closes, or when the parent changes (a fork may hold the pipe open)."""
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], POLL)
        if ready and not os.read(0, 4096):
            break
    os._exit(0)


def main() -> None:
    """Serve until the parent exits; print the address to standard output, and the output of libraries to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings = json.loads(sys.argv[1])
    watch = threading.Thread(target=die_with, args=(settings["parent"],))
    watch.start()
    try:
        server = serve(settings)
        print(json.dumps(server.listening_address), file=out, flush=True)
        watch.join()
    except BaseException as error:  # noqa: BLE001 - any error is reported to the parent, and the process exits
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
