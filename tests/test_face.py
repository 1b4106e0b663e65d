"""The public face: sorted, complete, and never shadowed by a module."""

import inspect
import subprocess
import sys
from pkgutil import iter_modules

import pytest

import steelyard as sy
from steelyard.foundation import errors


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


def test_every_error_is_public() -> None:
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and kind.__module__ == errors.__name__]
    assert errors.VerifierError in kinds
    assert {kind.__name__ for kind in kinds} <= set(dir(sy))


@pytest.mark.parametrize("name", [name for name in dir(sy) if callable(getattr(sy, name))])
def test_every_public_name_is_explained_and_shown_at_work(name: str) -> None:
    """The examples themselves are run with the other doctests; an error needs none."""
    thing = getattr(sy, name)
    told = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert told
    if not (inspect.isclass(thing) and issubclass(thing, sy.SteelyardError | sy.SteelyardWarning)):
        assert ">>> " in told, f"{name} has no example"
