"""steelyard similarities: the ways to compare free-text responses."""

from __future__ import annotations

from steelyard.cli import console
from steelyard.cli.options import Json
from steelyard.cli.text_tables import print_table
from steelyard.foundation.errors import SettingError

EXAMPLE = "Example: steelyard similarities"


def run(json: Json = False) -> None:
    """List all similarities of free-text responses, including those of other packages."""
    from steelyard.answers.similarities.similarity import registry

    rows = [(name, registry().origin(name), _summary(name)) for name in registry().names]
    if json:
        console.as_json({"similarities": [dict(zip(("name", "package", "summary"), row, strict=True)) for row in rows]})
        return
    print_table("Similarities", ("name", "package", "what it compares"), rows, text=True)


def _summary(name: str) -> str:
    """One line; for a broken similarity of another package, what is wrong with it."""
    from steelyard.answers.similarities.similarity import registry

    try:
        return registry().get(name).summary
    except SettingError as error:
        return str(error)
