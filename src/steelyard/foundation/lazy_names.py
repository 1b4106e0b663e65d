"""Public names that are declared in a stub file and imported when they are first used: importing stays quick."""

import gc
import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

DECLARATION = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)
SPINNING = "OPENBLAS_THREAD_TIMEOUT"  # idle threads of OpenBLAS, which numpy loads, wait busily for 2 ** it cycles
SHORT = "20"


def attach_stub(module: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module, as its stub declares them.

    Every line of the stub is `from MODULE import NAME as NAME`, which type checkers read as well; where MODULE is the
    module itself, NAME is one of its submodules.
    """
    homes = {name: home for home, name in DECLARATION.findall(Path(file).with_suffix(".pyi").read_text())}
    names = sorted(homes)

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        value = quick_import(f"{home}.{name}") if home == module else getattr(quick_import(home), name)
        setattr(sys.modules[module], name, value)
        return value

    return get, lambda: list(names), names


def quick_import(name: str) -> ModuleType:
    """Import a module in less CPU time.

    The garbage collector is off meanwhile: modules are not garbage, and it would search them several times. What was
    imported counts as old afterwards, as if the collector had searched it. If numpy is imported, idle threads of its
    linear algebra soon sleep, unless the user has set when: by default they wait busily for long.
    """
    if name in sys.modules:
        return import_module(name)  # which waits if another thread is about it
    was_on, sets = gc.isenabled(), "numpy" not in sys.modules and SPINNING not in os.environ
    try:
        gc.disable()
        if sets:
            os.environ[SPINNING] = SHORT
        return import_module(name)
    finally:
        if sets:
            os.environ.pop(SPINNING, None)
        if not gc.get_freeze_count():
            gc.freeze()  # everything becomes permanent,
            gc.unfreeze()  # and from there old
        if was_on:
            gc.enable()
