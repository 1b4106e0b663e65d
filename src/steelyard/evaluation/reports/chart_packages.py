"""The packages that draw charts. They are large, and an extra."""

from importlib.util import find_spec

from steelyard.foundation.errors import SettingError

PACKAGES = {"altair": "altair", "vl_convert": "vl-convert-python"}  # module: package
INSTALL = "pip install 'steelyard[report]'"


def missing_packages() -> list[str]:
    """The names of the packages that charts need and that are not installed."""
    return [package for module, package in PACKAGES.items() if find_spec(module) is None]


def check_charts() -> None:
    """Raise an error that says what to install, if charts cannot be drawn."""
    missing = missing_packages()
    if missing:
        raise SettingError(f"charts need {' and '.join(missing)}: {INSTALL}")
