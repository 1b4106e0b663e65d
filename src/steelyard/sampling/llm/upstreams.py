"""The servers of a command, by --upstream, --model and --key-env: one, or several by name.

    http://127.0.0.1:8000/v1                      one without a name
    a=http://127.0.0.1:8000/v1,b=local            two: `a=` before any "://" is a name, later it is part of an address

A model is given by name too, or one for all; without one, the name of an upstream is that of its model. A key that is
given by name goes to that upstream alone, and the others get none. `local` is the embedded LLM, which is started for as
long as it is needed; any other server must be running.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.runs.parameters import MAX_SAMPLES_PER_SOURCE, MAX_SOURCES
from steelyard.sampling.llm.address import NO_KEY, Address, read_address
from steelyard.sampling.llm.embedded import (
    LOCAL,
    MODEL,
    SLOTS,
    find_weights,
    serve_local,
)

Named = str | Mapping[str, str]
LONGEST = 100  # characters of a name
WRITE = "write NAME=URL,NAME=URL, as in a=http://127.0.0.1:8000/v1,b=http://127.0.0.1:8001/v1"
_NEXT = re.compile(r",(?=[^,=]*=)")
_UNNAMED = re.compile(r",\s*(?:https?://|local\s*(?:,|$))")
Serve = Callable[[str, str], AbstractContextManager[Address]]  # upstream, name of the key's variable -> address


@dataclass(frozen=True)
class Upstream:
    """A server, the name of its model, and the variable with its key."""

    name: str  # empty for the only one
    url: str
    model: str
    key_env: str

    def check(self) -> None:
        """Refuse a bad address or key before anything is created."""
        try:
            check_upstream(self.url, self.key_env)
        except SettingError as error:
            raise SettingError(f"{self.name}: {error}") if self.name else error from None

    @property
    def base(self) -> str:
        """Its address in canonical form."""
        try:
            return LOCAL if self.url == LOCAL else read_address(self.url, NO_KEY).base
        except SettingError as error:
            raise SettingError(f"{self.name}: {error}") if self.name else error from None


def read_upstreams(upstream: Named, model: Named | None, key_env: Named, n: int) -> tuple[Upstream, ...]:
    """Read the upstreams in the order of their names; n is the number of samples of each.

    >>> one, two = read_upstreams("b=http://h/v1,a=http://k/x=1/v1", "b=big,a=small", "b=KEY", n=4)
    >>> (one.name, one.url, one.model, one.key_env), two.key_env
    (('a', 'http://k/x=1/v1', 'small', 'no key'), 'KEY')
    >>> read_upstreams("http://h/v1?a=b", "m", "KEY", n=4)[0].name
    ''
    """
    urls = _addresses(upstream)
    if not urls:
        if not all(isinstance(value, str | None) for value in (upstream, model, key_env)):
            raise SettingError(f"named models and keys need named upstreams: {WRITE}")
        return (Upstream("", str(upstream), model_name(str(upstream), model), str(key_env)),)  # type: ignore[arg-type]
    _check_names(urls)
    if n > MAX_SAMPLES_PER_SOURCE:
        raise SettingError(
            f"cannot draw {n} samples per question of each upstream: -n is at most {MAX_SAMPLES_PER_SOURCE:,}"
        )
    models, keys = _models(model, urls), _keys(key_env, urls)
    servers = tuple(
        Upstream(name, urls[name], model_name(urls[name], models[name]), keys[name]) for name in sorted(urls)
    )
    _check_different(servers)
    return servers


def names_of(upstream: Named) -> tuple[str, ...]:
    """The sorted names of several upstreams; empty for one without a name."""
    return tuple(sorted(_addresses(upstream)))


def addresses_of(upstream: Named) -> list[str]:
    """The addresses of the upstreams: those of several by name, or the only one."""
    return list(_addresses(upstream).values()) or [str(upstream)]


def _addresses(upstream: Named) -> dict[str, str]:
    """The addresses by name; empty for one without a name."""
    if not isinstance(upstream, str):
        return {str(name).strip(): str(url).strip() for name, url in upstream.items()}
    parts = [part.strip() for part in _NEXT.split(upstream.strip().rstrip(","))]
    named = [part for part in parts if "=" in part and "://" not in part.partition("=")[0]]
    if _UNNAMED.search(upstream) or 0 < len(named) < len(parts):
        raise SettingError(f"several upstreams need a name each: {WRITE}")
    return _by_name(named, "--upstream")


def _by_name(parts: list[str], option: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in parts:
        name, _, value = (text.strip() for text in part.partition("="))
        if name in values:
            raise SettingError(f"{option} has the name {name!r:.{LONGEST}} twice: give every upstream its own")
        values[name] = value
    return values


def _check_names(urls: dict[str, str]) -> None:
    """Refuse names that a table could not tell apart, and names without an address."""
    if len(urls) > MAX_SOURCES:
        raise SettingError(f"there are {len(urls)} upstreams: a run has at most {MAX_SOURCES}")
    names: dict[str, str] = {}
    for name, url in urls.items():
        if not name:
            raise SettingError(f"an upstream has an empty name: {WRITE}")
        if len(name) > LONGEST or not name.isprintable() or any(mark in name for mark in ",="):
            raise SettingError(
                f"{name!r:.60} is not an upstream name: use up to {LONGEST} printable characters, without ',' or '='"
            )
        first = names.setdefault(name.casefold(), name)
        if first != name:
            raise SettingError(f"the upstreams {first!r} and {name!r} are alike but for case: give them other names")
        if not url:
            raise SettingError(f"the upstream {name!r} has no address: {WRITE}")


def _models(model: Named | None, urls: dict[str, str]) -> dict[str, str | None]:
    """The model of each upstream, by default its name. The embedded LLM has its own."""
    defaults = {name: None if url == LOCAL else name for name, url in urls.items()}
    if model is None:
        return defaults
    if isinstance(model, str):
        parts = _NEXT.split(model.strip().rstrip(","))
        if len(parts) == 1 and "=" not in model:
            return {name: None if url == LOCAL else model for name, url in urls.items()}
        model = _by_name(parts, "--model")
    for name in model:
        if name not in urls:
            raise SettingError(f"there is a model for {name!r:.60} and no such upstream: {did_you_mean(name, urls)}")
    return defaults | dict(model)


def _keys(key_env: Named, urls: dict[str, str]) -> dict[str, str]:
    """The variable of each upstream's key. Errors do not show the value, which may be a key by mistake."""
    if isinstance(key_env, str):
        if "=" not in key_env:
            return dict.fromkeys(urls, key_env)
        key_env = _by_name(_NEXT.split(key_env.strip().rstrip(",")), "--key-env")
    if not set(key_env) <= set(urls):
        raise SettingError(
            "--key-env names a variable for no upstream: write NAME=VARIABLE,NAME=VARIABLE with the names of --upstream"
        )
    return dict.fromkeys(urls, NO_KEY) | dict(key_env)


def _check_different(upstreams: tuple[Upstream, ...]) -> None:
    """Refuse one model at one address under two names: its samples would count twice."""
    seen: dict[tuple[str, str], str] = {}
    for server in upstreams:
        first = seen.setdefault((server.base, server.model), server.name)
        if first != server.name:
            raise SettingError(
                f"the upstreams {first!r} and {server.name!r} are the same model at the same address: omit one, or "
                "name another model with --model NAME=MODEL,NAME=MODEL"
            )


def model_name(upstream: str, model: str | None) -> str:
    """The name of the model; required for a server, while the embedded LLM has only one.

    >>> model_name("local", None)
    'SmolLM2-135M-Instruct'
    """
    if upstream == LOCAL:
        if model not in (None, MODEL):
            raise SettingError(f"the embedded LLM is {MODEL}, not {model!r}: omit --model")
        return MODEL
    if model is None:
        raise SettingError(
            f"name the model with --model; 'steelyard doctor --upstream {upstream}' lists the models of the server"
        )
    return model


def check_upstream(upstream: str, key_env: str) -> None:
    """Refuse a bad address or key, or an embedded LLM that is not installed, before anything is created."""
    if upstream == LOCAL:
        find_weights()
    else:
        read_address(upstream, key_env)


def at_once(upstream: str, n: int, limit: int) -> int:
    """How many requests for n samples may be under way: for the embedded LLM no more than keep its slots busy.

    More would only wait there, past their deadline, and be worked on after they were abandoned.

    >>> at_once("http://127.0.0.1:8000/v1", 32, 64), at_once("local", 32, 64), at_once("local", 1, 64)
    (64, 2, 9)
    """
    return min(limit, 1 + -(-SLOTS // n)) if upstream == LOCAL else limit


@contextmanager
def served(upstream: str, key_env: str, progress: Callable[[float], None] | None = None) -> Iterator[Address]:
    """Yield the address of the server; the embedded LLM runs as long as the block, and gets no key.

    `progress` is called with the seconds since the start of the embedded LLM, until it listens.
    """
    if upstream != LOCAL:
        yield read_address(upstream, key_env)
        return
    with serve_local(progress) as (url, _):
        yield Address(url)


@asynccontextmanager
async def started(serve: Serve, upstream: str, key_env: str) -> AsyncIterator[Address]:
    """Yield the address of the server. The embedded LLM starts in a thread, as that takes seconds.

    A job that is cancelled meanwhile waits for the start, which cannot be interrupted, and then stops the server.
    """
    with ExitStack() as stack:
        server = serve(upstream, key_env)
        if upstream != LOCAL:
            yield stack.enter_context(server)
            return
        starting = asyncio.get_running_loop().run_in_executor(None, stack.enter_context, server)
        cancelled: asyncio.CancelledError | None = None
        while not starting.done():
            try:
                await asyncio.wait({starting})
            except asyncio.CancelledError as error:
                cancelled = error
        address = starting.result()
        if cancelled:
            raise cancelled
        yield address
