"""json: the share of equal leaves of two JSON values, for tool calls and structured output.

A leaf is a path and a value: {"a": {"b": 5.0}} has the leaf a.b = 5. The path of a list entry has its position, but
that of an object in a list has the object's `name`, if any: tool calls may come in any order. Such an object also
counts as a whole, as much as all of its leaves: calls that swap their arguments differ, and half of the credit for a
call is for getting all of it right. A text that is not JSON is one leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from steelyard.answers.json_values import NotJSONError, canonical, count_leaves, parse_json_or_fence
from steelyard.answers.similarities.similarity import FeatureSimilarity, feature_codes


class Json(FeatureSimilarity):
    """2 |A & B| / (|A| + |B|) of the multisets of leaves."""

    name = "json"
    summary = "Share of equal leaves of JSON values; tool calls may come in any order."
    formula = "dice"

    def features(self, text: str, prompt: str | None) -> Iterable[int]:  # noqa: ARG002
        """Return the codes of the leaves; none for a text that is not JSON."""
        try:
            value = parse_json_or_fence(text)
        except NotJSONError:
            return ()
        return feature_codes(_numbered(_leaves(value)))


def _numbered(leaves: Iterable[str]) -> Iterator[str]:
    """Number equal leaves, so that their set is a multiset."""
    times: Counter[str] = Counter()
    for leaf in leaves:
        times[leaf] += 1
        yield f"{times[leaf]}{leaf}"


def _leaves(value: Any, path: str = "") -> Iterator[str]:
    """Walk through a value whose depth is bounded."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _leaves(value[key], f"{path}.{canonical(key)}")
    elif isinstance(value, list) and value:
        for position, entry in enumerate(value):
            if isinstance(entry, dict):
                yield from repeat(f"{path}[]={canonical(entry)}", count_leaves(entry))
            yield from _leaves(entry, path + _step(position, entry))
    else:
        yield f"{path}={canonical(value)}"


def _step(position: int, entry: Any) -> str:
    """The part of a path that stands for an entry of a list."""
    if not isinstance(entry, dict):
        return f"[{position}]"
    name = entry.get("name")
    return f"[{canonical(name)}]" if isinstance(name, str) else "[]"
