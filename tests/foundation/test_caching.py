"""What takes long to make is kept, checked, and made again where it is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import vl_convert

from steelyard.evaluation.reports.page import vega
from steelyard.foundation.caching import cache_folder, cached


def test_bytes_are_kept_and_checked(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return b"drawn"

    assert cached(tmp_path, "chart", "svg", make) == cached(tmp_path, "chart", "svg", make) == b"drawn"
    (file,) = tmp_path.iterdir()
    for damaged in (b"", b"x" * 40, file.read_bytes()[:-1], b"X" + file.read_bytes()[1:]):
        file.write_bytes(damaged)
        calls.clear()
        assert cached(tmp_path, "chart", "svg", make) == b"drawn"
        assert calls == [1]
    assert cached(tmp_path, "another", "svg", lambda: b"other") == b"other"


def test_what_another_user_left_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cached(tmp_path, "chart", "svg", lambda: b"planted") == b"planted"
    monkeypatch.setattr("os.getuid", lambda: 12345)
    assert cached(tmp_path, "chart", "svg", lambda: b"drawn") == b"drawn"


def test_what_others_can_write_is_not_believed(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cached(tmp_path, "chart", "svg", lambda: b"drawn")
    finally:
        os.umask(before)
    (file,) = tmp_path.iterdir()
    assert not file.stat().st_mode & 0o022
    assert cached(tmp_path, "chart", "svg", lambda: b"again") == b"drawn"
    file.chmod(0o664)
    assert cached(tmp_path, "chart", "svg", lambda: b"again") == b"again"


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        assert cached(tmp_path / "file" / "folder", "chart", "svg", lambda: b"drawn") == b"drawn"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_folder_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "steelyard"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "steelyard"


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cached(cache_folder(), "chart", "svg", lambda: b"drawn") == b"drawn"


def test_the_scripts_of_a_page_are_put_together_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[str] = []

    def bundle(embed: str) -> str:
        made.append(embed)
        return "scripts"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    vega.cache_clear()
    try:
        first = vega()
        vega.cache_clear()
        assert vega() == first
    finally:
        vega.cache_clear()
    assert "scripts" in first
    assert len(made) == 1
