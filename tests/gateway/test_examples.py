"""The examples of docs/gateway-clients.md run as they stand, each where its client is installed."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.gateways import KEY, Gateway, gateway
from tests.upstreams import FaultUpstream

PAGE = Path(__file__).parents[2] / "docs" / "gateway-clients.md"
EXAMPLES = re.findall(r"<!-- client (\w+) -->\n```(?:python|sh)\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


@pytest.mark.parametrize(("client", "content"), EXAMPLES, ids=[client for client, _ in EXAMPLES])
def test_an_example_prints_the_answer(
    served: Gateway, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch, client: str, content: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{served.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if client == "curl":
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        told = subprocess.run(["sh", "-c", content], capture_output=True, check=True, text=True).stdout
        assert len(json.loads(told)["steelyard"]["ballots"]) == 8
    else:
        pytest.importorskip(client)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(content, str(PAGE), "exec"), {})
        told = out.getvalue()
    assert "boxed" in told
    sent = json.loads(upstream.entries()[-1]["written"])
    assert sent["messages"] == [{"role": "user", "content": "What is 3 + 4?"}]


def test_there_is_an_example_for_every_client() -> None:
    assert {client for client, _ in EXAMPLES} == {"openai", "langchain_openai", "curl"}
