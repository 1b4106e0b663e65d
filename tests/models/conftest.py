"""Tests that need the [prm] extra (`make test-models`), and one that needs a vLLM beside it (`make test-vllm`)."""

import os
from importlib.util import find_spec

collect_ignore_glob = ["[!c]*.py"] if find_spec("torch") is None else []
collect_ignore = [] if "VLLM_PYTHON" in os.environ else ["test_vllm.py"]
