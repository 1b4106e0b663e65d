"""A lock that cannot be written says why, and leaves nothing locked."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import RunError
from steelyard.runs.lock import RunLock


@pytest.mark.parametrize("call", ["open", "pwrite"])
def test_a_full_disk_is_named_with_what_to_do_and_the_run_stays_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(f"steelyard.runs.lock.os.{call}", full)
        with pytest.raises(RunError, match=r"lock: No space left on device; make room .*df -i"):
            RunLock(tmp_path)
    RunLock(tmp_path).release()
