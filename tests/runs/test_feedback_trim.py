"""A journal of feedback within its limit: the oldest requests without a label go first, and nothing labelled does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import SteelyardError
from steelyard.runs.feedback_folder import FeedbackFolder
from steelyard.runs.feedback_journal import records, trim
from steelyard.runs.journal_lines import encode
from tests.runs.test_feedback_folder import LABEL, REQUEST, SETTINGS, opened

SIZE = len(encode(REQUEST))


def named(record: dict[str, Any], number: int) -> dict[str, Any]:
    return record | {"question": f"{number:032x}"}


def kept(folder: Path) -> list[tuple[str, int]]:
    return [(each["kind"], int(each["question"], 16)) for each in records(folder)]


def test_the_oldest_without_a_label_go_and_places_are_those_of_the_shorter_journal(tmp_path: Path) -> None:
    """Of the labels of a request the last one stays; what came last may lack its line end."""
    made = [*(named(REQUEST, i) for i in range(10)), named(LABEL, 1), named(LABEL, 1) | {"verdict": False}]
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(map(encode, made))[:-1])
    places = trim(journal, 5 * SIZE, busy={f"{2:032x}"})
    left = kept(tmp_path)
    assert [number for kind, number in left if kind == "request"] == [1, 2, 8, 9]
    assert left[-1] == ("label", 1)
    assert list(records(tmp_path))[-1]["verdict"] is False
    content = journal.read_bytes()
    assert content.endswith(b"\n")
    for name, place in places.items():
        line = content[place:].split(b"\n")[0]
        assert json.loads(line[line.index(b"{") :])["question"] == name


def test_what_is_labelled_stays_however_long_it_is(tmp_path: Path) -> None:
    made = [each for i in range(4) for each in (named(REQUEST, i), named(LABEL, i))]
    (tmp_path / "journal.jsonl").write_bytes(b"".join(map(encode, made)))
    trim(tmp_path / "journal.jsonl", 1)
    assert list(records(tmp_path)) == made


def test_a_journal_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = b"".join(encode(named(REQUEST, i)) for i in range(4))
    (tmp_path / "journal.jsonl").write_bytes(before)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(SteelyardError):
        trim(tmp_path / "journal.jsonl", SIZE)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [before]


def test_a_journal_is_trimmed_when_it_is_opened_and_while_it_is_written(tmp_path: Path) -> None:
    async def run() -> None:
        open_ = FeedbackFolder(tmp_path / "kept", SETTINGS, lambda *_: None, max_bytes=20 * SIZE)
        moved: dict[str, int] = {}
        for i in range(0, 50, 5):
            writing = [open_.add(named(REQUEST, j)) for j in range(i, i + 5)]
            if open_.is_long:
                await open_.trim((), moved.update)
            await asyncio.gather(*writing)
        assert moved
        last = [await open_.add(named(REQUEST, 50)), await open_.add(named(LABEL, 50))]
        assert (await open_.read(lambda: last[0]))["question"] == f"{50:032x}"
        open_.close()

    asyncio.run(run())
    assert (tmp_path / "kept" / "journal.jsonl").stat().st_size < 40 * SIZE
    assert kept(tmp_path / "kept")[-2:] == [("request", 50), ("label", 50)]
    again = FeedbackFolder(tmp_path / "kept", SETTINGS, lambda *_: None, max_bytes=4 * SIZE)
    again.close()
    assert ("label", 50) in kept(tmp_path / "kept")
    assert (tmp_path / "kept" / "journal.jsonl").stat().st_size <= 4 * SIZE
    open_, seen = opened(tmp_path / "kept")
    open_.close()
    assert len(seen) == len(kept(tmp_path / "kept"))
