"""The notebook in examples/ runs, and prints what is stored in it; its charts are stored as pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.notebook import NOTEBOOK, PICTURE, outputs, texts
from tests.docs.test_docs import ROOT

LARGEST = 500_000  # bytes
NUMBER = re.compile(r"\d+\.\d+")


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def test_the_stored_notebook_is_small_and_has_an_output_for_every_cell() -> None:
    cells = [cell for cell in read(NOTEBOOK).cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in cells)
    assert sum(PICTURE in output.get("data", {}) for output in outputs(read(NOTEBOOK))) >= 6
    assert not [output for output in outputs(read(NOTEBOOK)) if output.output_type == "error"]
    assert NOTEBOOK.stat().st_size < LARGEST


@pytest.mark.long
def test_the_notebook_runs_and_prints_the_stored_text(tmp_path: Path) -> None:
    target = tmp_path / "run.ipynb"
    folders = {name: str(tmp_path) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    command = [sys.executable, "-m", "docs.notebook", str(target)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | folders, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again, before = read(target), read(NOTEBOOK)
    for new, old in zip(texts(again), texts(before), strict=True):
        assert NUMBER.sub("#", new) == NUMBER.sub("#", old)
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (new, old)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.5)  # percentages; another maths library may flip a verdict
    kinds = [[sorted(output.get("data", {})) for output in outputs(notebook)] for notebook in (again, before)]
    assert kinds[0] == kinds[1]
