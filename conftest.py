"""The environment of all tests, and what examples in docstrings may use: a folder of their own, and a server."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

# Servers, proxies, colours, language and time zone of the shell must not decide whether a test passes.
OF_THE_SHELL = re.compile(
    r"STEELYARD_.*|.*_PROXY|NO_COLOR|(FORCE|CLICOLOR)_.*|.*_CA_BUNDLE|SSL_CERT_.*|OPENAI_.*|LC_.*|LANG.*|COLUMNS|PYTHONWARNINGS",
    re.IGNORECASE,
)
for name in [name for name in os.environ if OF_THE_SHELL.fullmatch(name)]:
    del os.environ[name]
os.environ |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
time.tzset()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with SIGINT ignored

ROOT = Path(__file__).parent
collect_ignore = ["tests/without_linux"]  # its import changes the process
for tool, module in {"inspect_ai": "inspect_reducers", "lm_eval": "lm_eval_filter"}.items():
    if find_spec(tool) is None:  # make test-plugins has the tools
        collect_ignore += [f"src/steelyard/plugins/{module}.py", *map(str, (ROOT / "tests" / "plugins").glob("*.py"))]
if find_spec("litellm") is None:  # make test-litellm has it
    collect_ignore += ["tests/plugins/litellm"]
    collect_ignore += [f"src/steelyard/plugins/litellm_{part}.py" for part in ("provider", "upstream")]


@pytest.fixture(autouse=True)
def place_of_an_example(request: pytest.FixtureRequest) -> None:
    """Run an example in an empty folder; start the server if it is the first that asks one."""
    if not isinstance(request.node, pytest.DoctestItem) or request.node.dtest is None:
        return
    monkeypatch = request.getfixturevalue("monkeypatch")
    monkeypatch.chdir(request.getfixturevalue("tmp_path"))
    if "upstream=upstream" in (request.node.dtest.docstring or ""):
        request.node.dtest.globs["upstream"] = request.getfixturevalue("example_upstream")


@pytest.fixture(scope="session")
def example_upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that answers with small numbers."""
    from tests.upstreams import fault_upstream

    with fault_upstream(tmp_path_factory.mktemp("upstream")) as server:
        yield server.url
