"""Run examples/steelyard.ipynb and store its outputs: `python -m docs.notebook`, or to another file with its name.

What depends on the machine or the moment (versions, times, addresses in memory) is not stored.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "examples" / "steelyard.ipynb"
SECONDS = 600  # per cell, on a busy machine
PICTURE, TABLE, TEXT = "image/svg+xml", "text/html", "text/plain"


def run_notebook(path: Path) -> Any:
    """Return a notebook with the outputs of all its cells, from a new kernel; an error of a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", record_timing=False).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for output in outputs(notebook):
        data = output.get("data", {})
        if PICTURE in data:
            data.pop(TEXT, None)  # the repr of a chart
    return notebook


def outputs(notebook: Any) -> list[Any]:
    """The outputs of all cells, in order."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def texts(notebook: Any) -> list[str]:
    """What the cells print and the tables that they show, in order; no pictures."""
    plain = [output for output in outputs(notebook) if PICTURE not in output.get("data", {})]
    return [output.get("text") or output["data"].get(TABLE) or output["data"][TEXT] for output in plain]


def main(target: Path) -> None:
    """Run the notebook and write it."""
    import nbformat

    nbformat.write(run_notebook(NOTEBOOK), target)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK)
