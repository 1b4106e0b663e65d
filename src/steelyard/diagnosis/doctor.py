"""Is everything there that a run needs? The machine, the server and the verifier, looked at in turn."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from steelyard.diagnosis import machine, server
from steelyard.diagnosis.finding import Finding
from steelyard.diagnosis.verifier import look, runs_here
from steelyard.jobs.interrupts import waits_for
from steelyard.llm.embedded import LOCAL
from steelyard.llm.upstream import check_upstream, model_name, served


async def adoctor(
    *,
    upstream: str | None = None,
    model: str | None = None,
    verifier: str | None = None,
    verifier_upstream: str | None = None,
    at: str | None = None,
    verifier_model: str | None = None,
    output: str | Path = ".",
    key_env: str = "OPENAI_API_KEY",
) -> list[Finding]:
    """Do as `doctor` does, in async code.

    >>> import asyncio, steelyard as sy
    >>> [found.name for found in asyncio.run(sy.adoctor())][:3]
    ['steelyard', 'disk', 'key']
    """
    at = at if verifier_upstream is None else verifier_upstream  # `at` is what it was called before
    for place in (upstream, at):
        if place is not None:
            check_upstream(place, key_env)
    torch_needed = verifier is not None and runs_here(verifier, at)
    findings = [*machine.look(Path(output), key_env=key_env, torch_needed=torch_needed)]
    if upstream is not None:
        named = model_name(upstream, model) if upstream == LOCAL else model
        with served(upstream, key_env) as address:
            findings += [finding async for finding in server.look(address, named)]
    if verifier is not None:
        with served(at, key_env) if at else nullcontext() as place_of_it:
            findings.append(await look(verifier, verifier_model, place_of_it))
    return findings


@waits_for(adoctor)
def doctor() -> None:
    """Look at this machine and, where they are named, at a server and a verifier: one finding for each thing.

    A finding has a `name`, a `status` ("ok", "note" or "red"), what was `found` and, where it is not well, a `fix`.

    >>> import steelyard as sy
    >>> found = sy.doctor()[0]
    >>> found.name, found.status
    ('steelyard', 'ok')
    """


__test__ = {"doctor": doctor}  # a decorated function is not looked into otherwise
