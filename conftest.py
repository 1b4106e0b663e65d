"""What the examples in docstrings may use: a folder of their own, and `upstream`, the address of a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


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
