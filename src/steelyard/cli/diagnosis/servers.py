"""Checks of a server and a verifier: whether they answer, through which proxy, and what they are able to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from steelyard.cli.diagnosis import BAD, GOOD, NOTE, Finding
from steelyard.foundation.errors import SteelyardError, UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.address import Address, any_proxy, proxy_for
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import RefusedError, TryError, advice
from steelyard.sampling.llm.probe import Prober, probe
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import Protocol, RecordedProtocol, TokenProtocol
from steelyard.sampling.verifiers.runners.where import check_place, connect

TRY = 60.0  # seconds; a server that loads its model first may take a while
SAMPLES = 8
SHOWN = 8


async def server_findings(address: Address, model: str | None) -> AsyncIterator[Finding]:
    """Yield what is found about a server, one thing after another; nothing more after the first red one."""
    async with Client(address, try_timeout=TRY) as client:
        there = await _there(client)
        yield there
        if there.status == BAD:
            return
        if model is None:
            yield Finding("model", NOTE, "not tested, because none was named", "add --model NAME to test one")
            return
        sampling = Sampling(model, n=SAMPLES)
        try:
            able = await probe(client, sampling, patience=TRY)
        except UpstreamError as error:
            fault = error.__context__
            fix = advice(fault, model) if isinstance(fault, TryError) else ""
            message = str(error).removesuffix(f"; {fix}") if fix else str(error)
            yield Finding("model", BAD, message, fix or "check the server's log")
            return
        yield Finding("model", GOOD, f"{model!r} answers")
        for finding in _abilities(able):
            yield finding
        yield await _seeds(client, sampling, able)


async def _there(client: Client) -> Finding:
    """Whether anybody answers, and which models it names."""
    try:
        listed = [client.address.masked(name, 80) for name in _models(await client.request("GET", "/models"))]
    except RefusedError as error:
        if error.status in (404, 405):
            return Finding("server", GOOD, f"{client.address.base} answers, but lists no models")
        fix = advice(error) or "check the server's log"
        return Finding("server", BAD, f"{client.address.base}: {error.reason}", fix)
    except TryError as error:
        more = ": it ends in /v1 for vLLM, llama.cpp and Ollama" * advice(error).endswith("--upstream")
        return Finding("server", BAD, f"{client.address.base}: {error.reason}", advice(error) + more)
    names = ", ".join(listed[:SHOWN]) + (", .." if len(listed) > SHOWN else "")
    return Finding("server", GOOD, f"{client.address.base} answers; its models: {names or 'none listed'}")


def _models(content: Any) -> list[str]:
    try:
        return [str(entry["id"]) for entry in content["data"]]
    except (KeyError, TypeError):
        return []


def _abilities(able: Abilities) -> list[Finding]:
    """What the probe found, as lines."""
    n = Finding("n", GOOD, f"{able.most} samples per request work")
    if able.most < SAMPLES:
        text = "one sample per request" if able.most == 1 else f"at most {able.most} samples per request"
        n = Finding("n", NOTE, text, "nothing to do: generate makes more requests; more slots or vLLM would be faster")
    logprobs = Finding("logprobs", GOOD, "the samples have log-probabilities")
    if not able.logprobs:
        fix = "serve the model with vLLM or llama.cpp to use self_logprob and p-true"
        logprobs = Finding("logprobs", NOTE, "no log-probabilities", fix)
    usage = Finding("usage", GOOD, "tokens are counted")
    if not able.usage:
        text = "tokens are not counted, or those of one choice only"
        usage = Finding("usage", NOTE, text, "nothing to do: they are known where logprobs are")
    return [n, logprobs, usage]


async def _seeds(client: Client, sampling: Sampling, able: Abilities) -> Finding:
    """Whether the same seed gives the same sample, and another seed another one."""
    if not able.seed:
        return Finding("seeds", NOTE, "seeds are refused", "nothing to do, but samples cannot be reproduced")
    try:
        prober = Prober(client, sampling, TRY)
        first, again, *others = [(await prober.ask(able, n=1, first=seed)).good[0].text for seed in (0, 0, 1, 2)]
    except TryError as error:
        return Finding("seeds", BAD, error.reason, "the server fails intermittently: check its log")
    if first != again:
        fix = "nothing to do, but the same command may draw different samples"
        return Finding("seeds", NOTE, "the same seed gave two different samples", fix)
    if set(others) == {first}:
        fix = "if a run shows the same text for every sample, its server ignores temperature or seeds"
        return Finding("seeds", NOTE, "three seeds gave the same sample", fix)
    return Finding("seeds", GOOD, "the same seed gives the same sample, and another seed a different one")


def runs_here(name: str | None, at: str | None) -> bool:
    """Whether a verifier would run in this process, and so needs torch."""
    return name is not None and at is None and isinstance(find_verifier(name)[0], TokenProtocol)


async def verifier_finding(name: str, model: str | None, address: Address | None) -> Finding:
    """What is found about a verifier; `address` is the server it is to run on, `model` its name there or a folder."""
    protocol, verifier = find_verifier(name)
    weights = model or verifier.model
    if isinstance(protocol, RecordedProtocol):
        return Finding("verifier", GOOD, f"{name} reads what 'generate' recorded; it needs log-probabilities")
    if address is None:
        return _weights(name, weights) if isinstance(protocol, TokenProtocol) else _without_server(name)
    return await _served(name, protocol, weights, address)


def _without_server(name: str) -> Finding:
    return Finding(
        "verifier", BAD, f"{name} needs a server; none was named", "add --verifier-upstream http://HOST:PORT/v1"
    )


async def _served(name: str, protocol: Protocol, model: str, address: Address) -> Finding:
    try:
        check_place(name, protocol, at=True, local=False)
        runner = await connect(protocol, model, address)
        await runner.close()
    except SteelyardError as error:
        return Finding("verifier", BAD, str(error), "'steelyard score' without arguments lists what can run where")
    return Finding("verifier", GOOD, f"{name} answers at {address.base}")


def _weights(name: str, model: str) -> Finding:
    """Whether the weights are on this machine; nothing is downloaded to find out."""
    if Path(model).is_dir():
        return Finding("verifier", GOOD, f"{name}: weights in {model}")
    if find_spec("huggingface_hub") is None:
        return Finding("verifier", BAD, f"{name}: its packages are not installed", "pip install 'steelyard[prm]'")
    from huggingface_hub import try_to_load_from_cache

    if isinstance(try_to_load_from_cache(model, "config.json"), str):
        return Finding("verifier", GOOD, f"{name}: {model} is on this machine")
    fix = "the first 'steelyard score' downloads it; if offline, copy it here and pass its folder with --model"
    return Finding("verifier", NOTE, f"{name}: {model} is not on this machine yet", fix)


def proxy_findings(address: Address) -> Iterator[Finding]:
    """Report how a server is reached, if a variable names a proxy."""
    if not any_proxy():
        return
    proxy = proxy_for(address.base)
    route = f"{address.base} is reached {f'through {proxy}' if proxy else 'directly'}"
    if proxy and address.has_secret and address.base.startswith("http:"):
        fix = "use an https:// address for the server, or add its host to NO_PROXY"
        yield Finding("proxy", NOTE, f"{route}, which can read the key because the connection is not encrypted", fix)
    else:
        yield Finding("proxy", GOOD, route)
