"""A comment or docstring that names a source file names one that exists."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "steelyard"
CITED = re.compile(r"(?<![\w./*{}])(?:[\w-]+/)*[a-z_]\w*\.py\b")
FOLDERS = sorted(folder for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())


def texts(path: Path) -> str:
    """The comments and strings of a source file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return "\n".join(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_source_file_that_is_named_in_a_comment_exists(folder: Path) -> None:
    missing = [
        f"{path.relative_to(SOURCE)} names {name}"
        for path in folder.rglob("*.py")
        for name in CITED.findall(texts(path))
        if not any((base / name).is_file() for base in (SOURCE, PACKAGE, folder, path.parent))
    ]
    assert not missing
