"""Is everything there that a run needs? The machine, the server and the verifier, looked at in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from steelyard.cli.diagnosis import Finding, cluster, machine
from steelyard.cli.diagnosis.servers import proxy_findings, runs_here, server_findings, verifier_finding
from steelyard.foundation.errors import SettingError
from steelyard.runs.lock import check_no_store
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.llm.address import KEY_ENV, NO_KEY
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstreams import (
    WRITE,
    Named,
    Upstream,
    check_upstream,
    model_name,
    names_of,
    read_upstreams,
    served,
)


async def adoctor(
    *,
    upstream: Named | None = None,
    model: Named | None = None,
    verifier: str | None = None,
    verifier_upstream: str | None = None,
    verifier_model: str | None = None,
    output: str | Path = ".",
    key_env: Named = KEY_ENV,
    engine: str | None = None,
) -> list[Finding]:
    """The async version of `doctor`.

    >>> import asyncio, steelyard as sy
    >>> [found.name for found in asyncio.run(sy.adoctor())][:3]
    ['steelyard', 'disk', 'key']
    """
    check_no_store(output)
    several = upstream is not None and bool(names_of(upstream))
    upstreams = read_upstreams(upstream, model, key_env, n=1) if several and upstream is not None else ()
    usual = key_env if isinstance(key_env, str) and not (several and "=" in key_env) else NO_KEY
    for server in upstreams:
        server.check()
    for place in (None if several else upstream, verifier_upstream):
        if place is not None:
            check_upstream(str(place), usual)
    torch_needed = verifier is not None and runs_here(verifier, verifier_upstream)
    findings = [*machine.look(Path(output), key_env=None if several else usual, torch_needed=torch_needed)]
    for server in upstreams:
        findings += [replace(finding, upstream=server.name) async for finding in _section(server)]
    if upstream is not None and not several:
        findings += [
            finding async for finding in _server_findings(str(upstream), _one_model(str(upstream), model), usual)
        ]
    if verifier is not None:
        with served(verifier_upstream, usual) if verifier_upstream else nullcontext() as place_of_it:
            findings += proxy_findings(place_of_it) if place_of_it else ()
            findings.append(await verifier_finding(verifier, verifier_model, place_of_it))
    return findings + (cluster.look(engine, Path(output)) if engine is not None else [])


async def _section(upstream: Upstream) -> AsyncIterator[Finding]:
    """What is found about one of several upstreams: its key, then the server and its model."""
    if upstream.url != LOCAL:
        yield machine.key(upstream.key_env)
    async for finding in _server_findings(upstream.url, upstream.model, upstream.key_env):
        yield finding


async def _server_findings(upstream: str, model: str | None, key_env: str) -> AsyncIterator[Finding]:
    with served(upstream, key_env) as address:
        for finding in proxy_findings(address):
            yield finding
        async for finding in server_findings(address, model):
            yield finding


def _one_model(upstream: str, model: Named | None) -> str | None:
    """The model of an upstream without a name; the embedded LLM is only one, and any other may be left out."""
    if not isinstance(model, str | None):
        raise SettingError(f"named models need named upstreams: {WRITE}")
    return model_name(upstream, model) if upstream == LOCAL else model


@waits_for(adoctor)
def doctor() -> None:
    """Check this machine and, if they are named, a server and a verifier; return one finding per check.

    A finding has a `name`, a `status` ("ok", "note" or "red"), what was `found` and, where it is not well, a `fix`.
    Several servers have names, as in `upstream="a=URL,b=URL"`; what is found about each has its name as `upstream`.
    `engine` is ray, ray:ADDRESS or processes:2: every node is looked at, and whether all share the folder `output`.

    >>> import steelyard as sy
    >>> found = sy.doctor()[0]
    >>> found.name, found.status
    ('steelyard', 'ok')
    """


__test__ = {"doctor": doctor}  # a decorated function is not looked into otherwise
