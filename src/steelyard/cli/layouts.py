"""steelyard layouts: the layouts that are recognised, and what is read from each."""

from __future__ import annotations

from steelyard.cli import console
from steelyard.cli.options import Json
from steelyard.cli.text_tables import print_table

EXAMPLE = "Example: steelyard layouts"


def run(json: Json = False) -> None:
    """List the recognised layouts of response files, in the order in which they are tried."""
    from steelyard.tables.responses import every_layout

    rows = [(layout.name, layout.title, layout.description) for layout in every_layout()]
    if json:
        console.as_json({"layouts": [dict(zip(("name", "title", "about"), row, strict=True)) for row in rows]})
        return
    print_table(
        "Layouts, in the order in which they are tried", ("name", "what it is", "what is read"), rows, text=True
    )
    console.say("A file is read by the first that recognises it; --layout NAME chooses another.")
