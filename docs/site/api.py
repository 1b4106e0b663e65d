"""The reference of the API: every public name under the name that users type, from its signature and docstring."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx

FOLDER = "docs/site/api/"
TOPICS = ("steelyard.errors", "steelyard.evaluation", "steelyard.paper", "steelyard.testing", "steelyard.experimental")
MODULES = ("steelyard", *TOPICS)
FOREIGN = "object, float, tuple, Warning, Exception, DataFrame"  # bases whose members are not explained here


@cache
def public_names() -> dict[str, str]:
    """How users import each public object, by where it is defined; an error by its topic."""
    names: dict[str, str] = {}
    for module in reversed(MODULES):
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            if not isinstance(thing, ModuleType | str):
                names.setdefault(f"{thing.__module__}.{thing.__qualname__}", f"{module}.{name}")
    return names


def documented(module: str) -> list[str]:
    """The full names of a module that its own page explains."""
    return sorted(name for name in public_names().values() if name.rpartition(".")[0] == module)


def page(module: str) -> str:
    """The names of a module in a table, then each with its signature and docstring."""
    names = documented(module)
    table = "".join(f"   {name.rpartition('.')[2]}\n" for name in names)
    parts = [_directive(name) for name in names]
    summary = (import_module(module).__doc__ or "").partition("\n")[0]
    return f"\n{summary}\n\n.. currentmodule:: {module}\n\n.. autosummary::\n\n{table}\n" + "\n".join(parts)


def _directive(name: str) -> str:
    """What explains a name: a class with its inherited members, unless a public base class explains these."""
    module, _, last = name.rpartition(".")
    thing = getattr(import_module(module), last)
    if not inspect.isclass(thing):
        return f".. autofunction:: {name}\n"
    bases = [f"{base.__module__}.{base.__qualname__}" for base in thing.__mro__[1:]]
    public = [public_names()[base] for base in bases if base in public_names()]
    if public:
        return f".. autoclass:: {name}\n\n   Inherits from :class:`{public[0].rpartition('.')[2]} <{public[0]}>`.\n"
    return f".. autoclass:: {name}\n   :inherited-members: {FOREIGN}\n"


def add_names(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Fill the page of a module, which has only a heading."""
    if docname.startswith(FOLDER):
        source[0] += page(source[0].split()[0])


def short_signature(
    _app: Sphinx, _kind: str, _name: str, _thing: object, _options: object, arguments: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Write types of arrays as the source does, and no defaults that Python cannot show."""
    return _short(arguments), _short(returns)


def _short(text: str | None) -> str | None:
    """A part of a signature with short types."""
    if text is None:
        return None
    bare = re.sub(r"~?\b(?:numpy|typing|pathlib|collections\.abc)\.(?=\w)", "", text.replace("<factory>", "..."))
    return re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[((?:[^][]|\[[^][]*\])+)\]\]", r"NDArray[\1]", bare)


def resolve_home(app: Sphinx, env: Any, node: Element, content: Element) -> Element | None:
    """Link a type in a signature, written with the module that defines it, to its public name."""
    public = public_names().get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not public:
        return None
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, content)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", add_names)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("missing-reference", resolve_home)
    return {"parallel_read_safe": True}
