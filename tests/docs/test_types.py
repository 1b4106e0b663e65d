"""What the pages show in Python passes a strict type checker."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("methods.md", "methods-reference.md", "python.md"))]
UNLABELLED = """import steelyard as sy
pool = sy.read("responses.parquet")
sy.accuracy(sy.MajorityVote().predict(pool), pool)
"""


def test_the_python_of_the_pages_passes_mypy_strict_which_tells_labelled_pools_from_others(tmp_path: Path) -> None:
    """The checker finds the one mistake made here on purpose, and so no type on the pages is just Any."""
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text())
        assert blocks, page
        for i, block in enumerate(blocks):
            (tmp_path / f"{page.stem.lower()}_{i}.py").write_text(block)
    (tmp_path / "unlabelled.py").write_text(UNLABELLED)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, done.stdout + done.stderr
    assert 'unlabelled.py:3: error: Argument 2 to "accuracy" has incompatible type "Pool"' in errors[0]
