"""Tests that need the [prm] extra or the [local] one (`make test-models`), and a vLLM beside it (`make test-vllm`)."""

import os
from importlib.util import find_spec
from pathlib import Path

WITHOUT_TORCH = ("__init__", "conftest", "test_embedded")
collect_ignore = [] if "VLLM_PYTHON" in os.environ else ["test_vllm.py", "test_vllm_parts.py"]
if find_spec("torch") is None:
    files = (file.name for file in Path(__file__).parent.glob("*.py"))
    collect_ignore += [name for name in files if not name.startswith(WITHOUT_TORCH)]
