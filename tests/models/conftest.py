"""Tests that need the [prm] extra or the [local] one (`make test-models`), and a vLLM beside it (`make test-vllm`)."""

import os
from importlib.util import find_spec

collect_ignore_glob = ["[!ct]*.py", "test_[!e]*.py"] if find_spec("torch") is None else []
collect_ignore = [] if "VLLM_PYTHON" in os.environ else ["test_vllm.py"]
