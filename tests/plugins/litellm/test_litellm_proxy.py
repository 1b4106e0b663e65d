"""The provider in a real process of LiteLLM's proxy, with the configuration of docs/plugins.md."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.fault_upstream.asked import text_of
from tests.plugins.litellm.conftest import KEY
from tests.upstreams import ROOT, FaultUpstream
from tests.waiting import PATIENCE, until

PAGE = (ROOT / "docs" / "plugins.md").read_text()
MASTER = "sk-master-of-the-proxy-9"
PROMPT = "3 + 4?"


def example(name: str) -> str:
    """The file of this name in the docs."""
    block = re.search(rf"`{re.escape(name)}`[^\n]*\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert block, name
    return block[1]


@pytest.fixture(scope="module")
def proxy(upstream: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the proxy."""
    folder = tmp_path_factory.mktemp("proxy")
    settings = {"model": "openai/good", "api_base": upstream.url, "api_key": KEY}
    handler, replaced = re.subn(r'"openai/[\w.-]+"', repr(settings), example("vote.py"))
    assert replaced == 1
    (folder / "vote.py").write_text(handler)
    (folder / "config.yaml").write_text(example("config.yaml"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [str(Path(sys.executable).with_name("litellm")), "--config", str(folder / "config.yaml")]
    environment = os.environ | {"LITELLM_MASTER_KEY": MASTER, "NO_DOCS": "True", "LITELLM_TELEMETRY": "False"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        until(lambda: process.poll() is not None or listens(port))
        assert process.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    try:
        return send(port, "GET", "/health/liveliness")[0] == 200
    except OSError:
        return False


def send(port: int, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {MASTER}"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    reply = connection.getresponse()
    status, content = reply.status, reply.read()
    connection.close()
    return status, content


def chat(port: int, **more: Any) -> tuple[int, bytes]:
    body = {"model": "vote", "messages": [{"role": "user", "content": PROMPT}], "seed": 0, **more}
    return send(port, "POST", "/v1/chat/completions", body)


def test_a_reply_has_the_vote_and_the_usage_of_all_samples(proxy: int) -> None:
    status, content = chat(proxy)
    assert status == 200, content
    reply = json.loads(content)
    written = sum(len(text_of(PROMPT, seed).split()) for seed in range(8))
    assert reply["steelyard"]["samples"]["drawn"] == 8
    assert rf"\boxed{{{reply['steelyard']['answer']}}}" in reply["choices"][0]["message"]["content"]
    assert (reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"]) == (56, written)


def test_a_stream_has_the_vote_and_the_usage(proxy: int) -> None:
    unstreamed = json.loads(chat(proxy)[1])
    status, content = chat(proxy, stream=True, stream_options={"include_usage": True})
    assert status == 200
    lines = [line.removeprefix("data: ") for line in content.decode().splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    texts = [chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"]]
    assert "".join(texts) == unstreamed["choices"][0]["message"]["content"]
    assert [chunk["steelyard"] for chunk in chunks if "steelyard" in chunk] == [unstreamed["steelyard"]]
    assert [chunk["usage"]["total_tokens"] for chunk in chunks if chunk.get("usage")] == [
        unstreamed["usage"]["total_tokens"]
    ]


def test_a_request_has_settings_of_its_own(proxy: int) -> None:
    assert json.loads(chat(proxy, steelyard={"n": 3})[1])["steelyard"]["samples"]["drawn"] == 3


def test_a_client_cannot_choose_the_upstream(proxy: int, upstream: FaultUpstream) -> None:
    before = len(upstream.entries())
    for field in ({"upstream": "openai/other"}, {"plan": "/etc/passwd"}, {"steelyard": {"n": 1000}}):
        status, content = chat(proxy, **field)
        assert status == 400, content
    assert len(upstream.entries()) == before
