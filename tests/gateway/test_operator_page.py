"""docs/gateway.md and the README have examples that run; docs/gateway-reference.md lists everything."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.gateway.application import application
from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.access import Access
from steelyard.gateway.metrics import Counter, Histogram, Metrics, PolledMetric
from steelyard.gateway.server_state import State
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.request_vote import Voter
from steelyard.gateway.vote.scoring import OwnLogprob
from steelyard.gateway.vote.vote_settings import KNOWN
from tests.gateway.gateways import KEY, Gateway, gateway
from tests.upstreams import FaultUpstream

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gateway.md"
REFERENCE = ROOT / "docs" / "gateway-reference.md"
EXAMPLE = re.compile(r"<!-- client (\w+) -->\n```(?:python|sh)\n(.*?)```", re.DOTALL)
EXAMPLES = [(page.name, *found) for page in (PAGE, ROOT / "README.md") for found in EXAMPLE.findall(page.read_text())]


def ran(client: str, content: str, url: str) -> str:
    """What an example prints, asked of a server at another address."""
    assert "http://127.0.0.1:8000" in content
    content = content.replace("http://127.0.0.1:8000", url)
    if client == "curl":
        if not shutil.which("curl"):
            pytest.skip("there is no curl")
        return subprocess.run(["sh", "-c", content], capture_output=True, check=True, text=True).stdout
    pytest.importorskip(client)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(content, "example", "exec"), {})
    return out.getvalue()


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Gateway]]:
    """A server with a key, as the page has it, and one without, as the README has it."""
    kept = tmp_path_factory.mktemp("kept") / "folder"
    with (
        gateway(upstream.url, method=None, feedback=kept) as locked,
        gateway(upstream.url, method=None, environment={"STEELYARD_KEY": ""}) as open_,
    ):
        yield {"gateway.md": locked, "README.md": open_}


@pytest.mark.parametrize(("page", "client", "content"), EXAMPLES, ids=[f"{each[0]}-{each[1]}" for each in EXAMPLES])
def test_an_example_runs_as_it_stands(
    served: dict[str, Gateway], monkeypatch: pytest.MonkeyPatch, page: str, client: str, content: str
) -> None:
    monkeypatch.setenv("STEELYARD_KEY", KEY)
    told = ran(client, content, served[page].url)
    assert "boxed" in told or "None" in told


def test_every_page_has_an_example_for_curl_and_for_the_openai_client() -> None:
    assert {each[:2] for each in EXAMPLES} == {(p, c) for p in ("gateway.md", "README.md") for c in ("curl", "openai")}


def test_every_route_is_in_the_table() -> None:
    source = Source("", "m", cast(Any, None), n=1, limit=1)
    state = State("steelyard/vote", Voter(None, OwnLogprob()), [source], 8, Caps())
    state.counter.close()
    routes = application(state, Access((), "127.0.0.1")).router.routes()
    shown = {(route.method, route.resource.canonical) for route in routes if route.resource and route.method != "HEAD"}
    table = REFERENCE.read_text().partition("## Routes\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(GET|POST) (/\S*?)`", table))
    assert shown <= named


def test_every_limit_is_in_the_table_with_its_default() -> None:
    table = REFERENCE.read_text().partition("## Limits\n")[2].partition("\n## ")[0]
    told = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE))
    assert told == {
        each.name: "none"
        if each.default is None
        else f"{each.default:g}"
        if each.type == "float"
        else str(each.default)
        for each in fields(Caps)
    }


def test_every_metric_and_every_setting_is_on_the_page() -> None:
    page = REFERENCE.read_text()
    for each in vars(Metrics()).values():
        assert isinstance(each, Counter | Histogram | PolledMetric)
        assert f"`{each.name}`" in page, each.name
    settings = page.partition("| in `steelyard` of a request |")[2].partition("\n\n")[0]
    for name in KNOWN:
        assert f"\n| `{name}` |" in settings, name


def test_every_field_of_the_reply_is_on_the_page(served: dict[str, Gateway]) -> None:
    asked = {"n": 4, "ballots": True}
    told = (
        served["gateway.md"].chat("fields?", model="steelyard/vote", temperature=0, steelyard=asked).json["steelyard"]
    )
    table = REFERENCE.read_text().partition("## The reply\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line)))
    assert set(told) <= named
    assert named - set(told) == {"threshold", "verifier", "failures"}  # only where there is something to say
