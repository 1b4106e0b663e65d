"""The public face: sorted, complete, and never shadowed by a module."""

import subprocess
import sys
from pkgutil import iter_modules

import pytest

import steelyard as sy


def test_the_public_names_are_sorted_and_all_there() -> None:
    names = dir(sy)
    assert sorted(names) == names
    assert len(names) > 50
    for name in names:
        assert getattr(sy, name) is not None


def test_no_public_name_is_a_module_that_an_import_would_put_in_its_place() -> None:
    rooms = {module.name for module in iter_modules(sy.__path__)}
    assert rooms & set(dir(sy)) == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'vot'"):
        sy.vot  # type: ignore[attr-defined]  # noqa: B018


def test_importing_steelyard_imports_nothing_heavy() -> None:
    heavy = "numba", "polars", "numpy", "rich"
    code = f"import steelyard, steelyard.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
