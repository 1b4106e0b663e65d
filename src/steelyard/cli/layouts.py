"""steelyard layouts: the layouts that are recognised, and what is read from each."""

from __future__ import annotations

from steelyard.cli import show
from steelyard.cli.options import Json

EXAMPLE = "Example: steelyard layouts"


def run(json: Json = False) -> None:
    """List the layouts in which files of responses are recognised, in the order in which they are tried."""
    from steelyard.tables.responses import every_layout

    rows = [(layout.name, layout.title, layout.about) for layout in every_layout()]
    if json:
        show.as_json({"layouts": [dict(zip(("name", "title", "about"), row, strict=True)) for row in rows]})
        return
    show.table("Layouts, in the order in which they are tried", ("name", "what it is", "what is read"), rows, text=True)
    show.say("A file is read by the first that recognises it; --layout NAME chooses another.")
