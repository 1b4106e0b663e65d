"""Names that are imported when they are first used, and the collector that waits meanwhile."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard
from steelyard.foundation.lazy_names import DECLARATION, SHORT, SPINNING, quick_import

SOURCE = Path(steelyard.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))


@pytest.fixture(params=[True, False])
def was_on(request: pytest.FixtureRequest) -> Iterator[bool]:
    (gc.enable if request.param else gc.disable)()
    yield request.param
    gc.enable()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "loaded_quickly.py"
    sys.modules.pop("loaded_quickly", None)


def test_the_collector_is_off_during_an_import_alone(was_on: bool, module: Path) -> None:
    module.write_text("import gc\nduring = gc.isenabled()\n")
    assert not quick_import("loaded_quickly").during
    assert gc.isenabled() is was_on


def test_the_collector_is_as_before_if_an_import_fails(was_on: bool, module: Path) -> None:
    module.write_text("raise RuntimeError('broken')\n")
    with pytest.raises(RuntimeError, match="broken"):
        quick_import("loaded_quickly")
    assert gc.isenabled() is was_on


@pytest.mark.parametrize(("own", "loaded"), [(None, False), ("26", False), (None, True)])
def test_idle_threads_of_numpy_wait_shortly_unless_the_user_has_set_how_long(
    own: str | None, loaded: bool, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SPINNING, raising=False)
    if own:
        monkeypatch.setenv(SPINNING, own)
    if not loaded:
        monkeypatch.delitem(sys.modules, "numpy")
    module.write_text(f"import os\nduring = os.environ.get({SPINNING!r})\n")
    assert quick_import("loaded_quickly").during == (own if own or loaded else SHORT)
    assert os.environ.get(SPINNING) == own


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: str(stub.parent.relative_to(SOURCE)))
def test_no_name_is_hidden_by_a_module_of_the_same_name(stub: Path) -> None:
    """Importing a module sets it as an attribute of its folder, and `__getattr__` would not be asked any more."""
    package = ".".join(("steelyard", *stub.parent.relative_to(SOURCE).parts))
    declared = {name for home, name in DECLARATION.findall(stub.read_text()) if home != package}
    assert declared
    assert not declared & {path.stem for path in stub.parent.iterdir()}
