"""json: the share of equal leaves of two JSON values, for tool calls and structured output.

A leaf is a path and a value: {"a": {"b": 5.0}} has the leaf a.b = 5. The path of a list entry has its position, but
that of an object in a list has the object's `name`, if any: tool calls may come in any order. Such an object also
counts as a whole, as much as all of its leaves: calls that swap their arguments differ, and half of the credit for a
call is for getting all of it right. A text that is not JSON is one leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import Any

from steelyard.answers.json_values import NotJSONError, canonical, count_leaves, parse_json_or_fence
from steelyard.answers.similarities.similarity import MAX_SCANNED, FeatureSimilarity, feature_code


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
        times: Counter[str] = Counter()
        codes = []
        for leaf in islice(_leaves(value), MAX_SCANNED):
            codes.append(feature_code(f"{times[leaf]}{leaf}"))  # the second of two equal leaves is another one
            times[leaf] += 1
        return codes


def _leaves(value: Any) -> Iterator[str]:
    """Walk through a value whose depth is bounded."""
    waiting = [("", value)]
    while waiting:
        path, inner = waiting.pop()
        if isinstance(inner, dict) and inner:
            waiting += [(f"{path}.{canonical(key)}", inner[key]) for key in reversed(inner)]
        elif isinstance(inner, list) and inner:
            waiting += [(path + _step(i, entry), entry) for i, entry in reversed(list(enumerate(inner)))]
            for entry in inner:
                if isinstance(entry, dict):
                    yield from repeat(f"{path}[]={canonical(entry)}", count_leaves(entry))
        else:
            yield f"{path}={canonical(inner)}"


def _step(position: int, entry: Any) -> str:
    """The part of a path that stands for an entry of a list."""
    if not isinstance(entry, dict):
        return f"[{position}]"
    name = entry.get("name")
    return f"[{canonical(name)}]" if isinstance(name, str) else "[]"
