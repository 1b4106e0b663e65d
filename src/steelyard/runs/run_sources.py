"""The sources of a run: one per upstream, by the name the user gave it, with its model and its address.

A source is told by its name. One that is new is added to a run, one that a command leaves out stays as it is, and one
that would be another model is refused. Its address may change: a server moves.
"""

from __future__ import annotations

from typing import Any

from steelyard.runs.sample_numbers import MOST_SOURCES

Sources = dict[str, dict[str, str]]
KEPT = {"model", "upstream"}


def check_sources(sources: Any) -> None:
    """Raise a ValueError for sources that no command writes."""
    for name, source in sources.items():
        texts = isinstance(source, dict) and set(source) == KEPT and all(isinstance(v, str) for v in source.values())
        if not name.strip() or not texts:
            raise ValueError(f"sources.{name:.40} is {source!r:.40}")
    if len(sources) > MOST_SOURCES:
        raise ValueError(f"it has {len(sources)} sources")


def source_changes(here: Sources, wanted: Sources) -> list[str]:
    """What keeps the samples of `wanted` out of a run with the sources `here`, one sentence each.

    >>> source_changes({"a": {"model": "m", "upstream": ""}}, {"a": {"model": "k", "upstream": ""}})
    ["the model of a was 'm', now 'k'"]
    """
    if bool(here) != bool(wanted):
        return [f"the upstreams were {_told(here)}, now {_told(wanted)}"]
    plain = {name.casefold(): name for name in here}
    found = []
    for name, source in wanted.items():
        known = plain.get(name.casefold())
        if known is not None and known != name:
            found.append(f"the upstream {name} was called {known}")
        elif known and here[name]["model"] != source["model"]:
            found.append(f"the model of {name} was {here[name]['model']!r}, now {source['model']!r}")
    return found


def joined(here: Sources, wanted: Sources) -> Sources:
    """The sources of a run that goes on: those that are there in their places, and the new ones after them."""
    return here | {name: source for name, source in wanted.items() if name not in here}


def _told(sources: Sources) -> str:
    return f"named {', '.join(sources)}" if sources else "one without a name"
