"""One upstream, or several by name: what --upstream, --model and --key-env say of each.

    http://127.0.0.1:8000/v1                      one without a name
    a=http://127.0.0.1:8000/v1,b=local            two: `a=` before any "://" is a name, later it is part of an address

A model is given by name too, or one for all; without one, the name of an upstream is that of its model. A key that is
given by name goes to that upstream alone, and those that are not named get none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.runs.sample_numbers import MAX_SAMPLES_PER_SOURCE, MAX_SOURCES
from steelyard.sampling.llm.address import NO_KEY, read_address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstream import check_upstream, model_name

Named = str | Mapping[str, str]
LONGEST = 100  # characters of a name
WRITE = "write NAME=URL,NAME=URL, as in a=http://127.0.0.1:8000/v1,b=http://127.0.0.1:8001/v1"
_NEXT = re.compile(r",(?=[^,=]*=)")
_UNNAMED = re.compile(r",\s*(?:https?://|local\s*(?:,|$))")


@dataclass(frozen=True)
class Upstream:
    """A server, the model to ask it for, and the variable that holds its key."""

    name: str  # empty: it is the only one, and has none
    url: str
    model: str
    key_env: str

    def check(self) -> None:
        """Say what is wrong with its address or its key before anything is made."""
        try:
            check_upstream(self.url, self.key_env)
        except SettingError as error:
            raise SettingError(f"{self.name}: {error}") if self.name else error from None

    @property
    def base(self) -> str:
        """Its address, spelled in one way."""
        try:
            return LOCAL if self.url == LOCAL else read_address(self.url, NO_KEY).base
        except SettingError as error:
            raise SettingError(f"{self.name}: {error}") if self.name else error from None


def read_upstreams(upstream: Named, model: Named | None, key_env: Named, n: int) -> tuple[Upstream, ...]:
    """Read the upstreams in the order of their names; n is the number of samples that each is asked for.

    >>> one, two = read_upstreams("b=http://h/v1,a=http://k/x=1/v1", "b=big,a=small", "b=KEY", n=4)
    >>> (one.name, one.url, one.model, one.key_env), two.key_env
    (('a', 'http://k/x=1/v1', 'small', 'no key'), 'KEY')
    >>> read_upstreams("http://h/v1?a=b", "m", "KEY", n=4)[0].name
    ''
    """
    urls = _addresses(upstream)
    if not urls:
        if not all(isinstance(given, str | None) for given in (upstream, model, key_env)):
            raise SettingError(f"models and keys by name are for upstreams by name: {WRITE}")
        return (Upstream("", str(upstream), model_name(str(upstream), model), str(key_env)),)  # type: ignore[arg-type]
    _check_names(urls)
    if n > MAX_SAMPLES_PER_SOURCE:
        raise SettingError(
            f"cannot draw {n} samples per question of each upstream: -n is at most {MAX_SAMPLES_PER_SOURCE:,}"
        )
    models, keys = _models(model, urls), _keys(key_env, urls)
    found = tuple(Upstream(name, urls[name], model_name(urls[name], models[name]), keys[name]) for name in sorted(urls))
    _check_different(found)
    return found


def names_of(upstream: Named) -> tuple[str, ...]:
    """The names of several upstreams in their order; none for one without a name."""
    return tuple(sorted(_addresses(upstream)))


def addresses_of(upstream: Named) -> list[str]:
    """The addresses that are asked: those of several by name, or the only one."""
    return list(_addresses(upstream).values()) or [str(upstream)]


def _addresses(upstream: Named) -> dict[str, str]:
    """The addresses by name; none for one without a name."""
    if not isinstance(upstream, str):
        return {str(name).strip(): str(url).strip() for name, url in upstream.items()}
    parts = [part.strip() for part in _NEXT.split(upstream.strip().rstrip(","))]
    named = [part for part in parts if "=" in part and "://" not in part.partition("=")[0]]
    if _UNNAMED.search(upstream) or 0 < len(named) < len(parts):
        raise SettingError(f"several upstreams need a name each: {WRITE}")
    return _by_name(named, "--upstream")


def _by_name(parts: list[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        name, _, value = (text.strip() for text in part.partition("="))
        if name in found:
            raise SettingError(f"{option} has the name {name!r:.{LONGEST}} twice: give every upstream its own")
        found[name] = value
    return found


def _check_names(urls: dict[str, str]) -> None:
    """Refuse names that no table could tell apart, and names without an address."""
    if len(urls) > MAX_SOURCES:
        raise SettingError(f"there are {len(urls)} upstreams: a run has at most {MAX_SOURCES}")
    alike: dict[str, str] = {}
    for name, url in urls.items():
        if not name:
            raise SettingError(f"an upstream has an empty name: {WRITE}")
        if len(name) > LONGEST or not name.isprintable() or any(mark in name for mark in ",="):
            raise SettingError(
                f"{name!r:.60} cannot name an upstream: take up to {LONGEST} printable characters, without ',' and '='"
            )
        first = alike.setdefault(name.casefold(), name)
        if first != name:
            raise SettingError(f"the upstreams {first!r} and {name!r} are alike but for case: give them other names")
        if not url:
            raise SettingError(f"the upstream {name!r} has no address: {WRITE}")


def _models(model: Named | None, urls: dict[str, str]) -> dict[str, str | None]:
    """The model of each upstream; without one, what the upstream is called. The embedded LLM has its own."""
    usual = {name: None if url == LOCAL else name for name, url in urls.items()}
    if model is None:
        return usual
    if isinstance(model, str):
        parts = _NEXT.split(model.strip().rstrip(","))
        if len(parts) == 1 and "=" not in model:
            return {name: None if url == LOCAL else model for name, url in urls.items()}
        model = _by_name(parts, "--model")
    for name in model:
        if name not in urls:
            raise SettingError(f"there is a model for {name!r:.60} and no such upstream: {did_you_mean(name, urls)}")
    return usual | dict(model)


def _keys(key_env: Named, urls: dict[str, str]) -> dict[str, str]:
    """The variable of each upstream's key. What is given may be a key by mistake, and is not shown."""
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
    for each in upstreams:
        first = seen.setdefault((each.base, each.model), each.name)
        if first != each.name:
            raise SettingError(
                f"the upstreams {first!r} and {each.name!r} are the same model at the same address: leave one away, or "
                "name another model with --model NAME=MODEL,NAME=MODEL"
            )
