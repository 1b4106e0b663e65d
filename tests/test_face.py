"""The public face: sorted, complete, and never shadowed by a module."""

import subprocess
import sys
from importlib import import_module

import pytest

import steelyard as sy


def test_the_public_names_are_sorted_and_all_there() -> None:
    assert sorted(sy.__all__) == sy.__all__
    assert dir(sy) == sy.__all__
    for name in sy.__all__:
        assert getattr(sy, name) is not None


@pytest.mark.parametrize("name", ["tally", "simulate"])
def test_importing_a_module_does_not_replace_the_function_of_its_name(name: str) -> None:
    module = import_module(f"steelyard.{name}")
    assert getattr(sy, name) is getattr(module, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'vot'"):
        sy.vot  # noqa: B018


def test_importing_steelyard_imports_nothing_heavy() -> None:
    heavy = "numba", "polars", "numpy", "rich"
    code = f"import steelyard, steelyard.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
