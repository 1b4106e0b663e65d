"""column: a signature of each response that the user brings in a column, such as the outputs of code on test inputs.

Lists are compared by the share of equal entries at equal positions: 2 m / (n + n') for m equal entries. Other values
are equal or not. The texts are values of the column, lists as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.answers.json_values import NotJSONError, canonical, parse_json
from steelyard.answers.similarities.similarity import FeatureSimilarity, feature_codes


class Column(FeatureSimilarity):
    """2 |A & B| / (|A| + |B|) of the sets of positions and entries."""

    name = "column"
    summary = "Share of equal entries of lists in a column of your own, such as outputs of tests; else equality."
    formula = "dice"

    def features(self, text: str, prompt: str | None) -> Iterable[int]:  # noqa: ARG002
        """Return the codes of positions and entries; none for a value that is no list, which is compared as text."""
        try:
            entries = parse_json(text)
        except NotJSONError:
            return ()
        if not isinstance(entries, list):
            return ()
        return feature_codes(f"{position}:{canonical(entry)}" for position, entry in enumerate(entries))
