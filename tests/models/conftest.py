"""Tests that need the [prm] extra: `make test-models`. Without torch there is nothing to collect here."""

from importlib.util import find_spec

collect_ignore_glob = ["[!c]*.py"] if find_spec("torch") is None else []
