"""A real vLLM server on the CPU, started for a test (VLLM_PYTHON names its Python)."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from steelyard.sampling.llm.address import Address

ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "TORCHDYNAMO_DISABLE": "1",
}
FLAGS = "--host 127.0.0.1 --max-model-len 1024 --enforce-eager --dtype float32"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Server:
    """vLLM with one model, up once the block begins."""

    def __init__(self, model: Path, flags: str, port: int | None = None) -> None:
        self.port = free_port() if port is None else port
        self.flags = flags
        module = "vllm.entrypoints.openai.api_server"
        words = [os.environ["VLLM_PYTHON"], "-m", module, "--model", str(model), "--port", str(self.port)]
        self.log = (model.parent / f"{model.name}-{self.port}.log").open("ab")
        self.process = subprocess.Popen(
            [*words, *shlex.split(FLAGS), *shlex.split(flags)],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env=os.environ | ENVIRONMENT,
            cwd=model.parent,
            start_new_session=True,
        )

    def __enter__(self) -> Address:
        begun = time.monotonic()
        while time.monotonic() - begun < 900:
            assert self.process.poll() is None, Path(self.log.name).read_text()[-3000:]
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=60)
            except OSError:
                time.sleep(1)
            else:
                print(f"vLLM is up after {time.monotonic() - begun:.0f} s: {self.flags}")
                return Address(f"http://127.0.0.1:{self.port}/v1")
        raise AssertionError("vLLM did not come up within 900 s")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def asked(self) -> int:
        """How many requests for scores it has answered, as its log says."""
        return Path(self.log.name).read_bytes().count(b'"POST /pooling HTTP/1.1" 200')

    def kill(self) -> None:
        """End it and the processes it has started, without a last word."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
