"""The sources of a run: one per named upstream, with its model and its address.

A source is identified by its name. A new source is added to the run, a source that a command omits is left as it is,
and a source with another model is refused. The address may change, because servers move.
"""

from __future__ import annotations

from typing import Any

from steelyard.runs.sample_numbers import MAX_SOURCES

Sources = dict[str, dict[str, str]]
FIELDS = {"model", "upstream"}


def check_sources(sources: Any) -> None:
    """Raise a ValueError for sources that no command would write."""
    for name, source in sources.items():
        texts = isinstance(source, dict) and set(source) == FIELDS and all(isinstance(v, str) for v in source.values())
        if not name.strip() or not texts:
            raise ValueError(f"sources.{name:.40} is {source!r:.40}")
    if len(sources) > MAX_SOURCES:
        raise ValueError(f"it has {len(sources)} sources")


def source_changes(current: Sources, requested: Sources) -> list[str]:
    """Describe which `requested` sources are incompatible with the `current` ones, one sentence each.

    >>> source_changes({"a": {"model": "m", "upstream": ""}}, {"a": {"model": "k", "upstream": ""}})
    ["the model of a was 'm', now 'k'"]
    """
    if bool(current) != bool(requested):
        return [f"the upstreams were {_describe(current)}, now {_describe(requested)}"]
    by_folded_name = {name.casefold(): name for name in current}
    changes = []
    for name, source in requested.items():
        existing = by_folded_name.get(name.casefold())
        if existing is not None and existing != name:
            changes.append(f"the upstream {name} was called {existing}")
        elif existing and current[name]["model"] != source["model"]:
            changes.append(f"the model of {name} was {current[name]['model']!r}, now {source['model']!r}")
    return changes


def merge_sources(current: Sources, requested: Sources) -> Sources:
    """Return the sources of a resumed run: the current ones in their order, then the new ones."""
    return current | {name: source for name, source in requested.items() if name not in current}


def _describe(sources: Sources) -> str:
    return f"named {', '.join(sources)}" if sources else "a single one without a name"
