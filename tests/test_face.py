"""The public names: sorted, complete, imported on first use, and never shadowed by a module."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

import steelyard as sy
from steelyard.foundation import errors

ROOT = Path(__file__).parents[1]
TOPICS = [sy.errors, sy.evaluation, sy.experimental, sy.paper, sy.testing]
NAMES = [(module, name) for module in (sy, *TOPICS) for name in dir(module)]


@pytest.mark.parametrize("module", [sy, *TOPICS], ids=lambda module: module.__name__)
def test_the_public_names_are_sorted_and_all_there(module: ModuleType) -> None:
    assert sorted(dir(module)) == dir(module) == module.__all__
    for name in dir(module):
        assert getattr(module, name) is not None


def test_a_name_has_one_home_but_the_errors_that_are_caught_most() -> None:
    shared = {name for module, name in NAMES if module in TOPICS} & set(dir(sy))
    assert all(issubclass(getattr(sy, name), Exception) for name in shared)
    by_topic = [name for module, name in NAMES if module in TOPICS]
    assert len(by_topic) == len(set(by_topic))


@pytest.mark.parametrize("module", [sy, sy.evaluation, sy.testing], ids=lambda module: module.__name__)
def test_no_public_name_is_a_module_that_an_import_would_put_in_its_place(module: ModuleType) -> None:
    inside = {each.name for each in iter_modules(module.__path__)} - {topic.__name__.split(".")[-1] for topic in TOPICS}
    assert inside & set(dir(module)) == set()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'steelyard' has no attribute 'vot'"):
        sy.vot  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'steelyard\.evaluation' has no attribute 'curve'"):
        sy.evaluation.curve  # type: ignore[attr-defined]  # noqa: B018


def test_importing_steelyard_imports_nothing_heavy() -> None:
    heavy = "numba", "polars", "numpy", "rich"
    topics = ", ".join(topic.__name__ for topic in TOPICS)
    code = f"import steelyard, steelyard.cli, {topics}, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_topic_needs_no_import_of_its_own() -> None:
    code = "import steelyard as sy; print(sy.evaluation.curves.__name__, sy.errors.LabelError.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "curves LabelError"


def test_a_name_stays_itself_when_the_modules_of_its_topic_are_imported() -> None:
    for each in iter_modules(sy.evaluation.__path__):
        import_module(f"steelyard.evaluation.{each.name}")
    for name in dir(sy.evaluation):
        assert not inspect.ismodule(getattr(sy.evaluation, name)), name


def test_every_error_is_public() -> None:
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and kind.__module__ == errors.__name__]
    assert errors.VerifierError in kinds
    assert {kind.__name__ for kind in kinds} == set(dir(sy.errors))


@pytest.mark.parametrize("module", [sy, *TOPICS], ids=lambda module: module.__name__)
def test_the_page_lists_every_public_name_and_no_other(module: ModuleType) -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    section = page.split(f"### `{module.__name__}`")[1].split("###")[0]
    listed = [name for names in re.findall(r"^\| `(.*?)` \|", section, re.MULTILINE) for name in names.split("`, `")]
    assert sorted(listed) == [name for name in dir(module) if name != "__version__"]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda value: getattr(value, "__name__", value))
def test_every_public_name_is_explained_and_shown_at_work(module: ModuleType, name: str) -> None:
    """The examples themselves are run with the other doctests; an error needs none."""
    thing = getattr(module, name)
    if not callable(thing):
        assert inspect.ismodule(thing) or name == "__version__"
        return
    doc = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert doc
    if not (inspect.isclass(thing) and issubclass(thing, sy.SteelyardError | sy.SteelyardWarning)):
        assert ">>> " in doc, f"{name} has no example"
