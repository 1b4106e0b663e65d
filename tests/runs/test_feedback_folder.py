"""A folder of feedback on the disk: what is whole is read, what is torn is dropped, what is strange is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steelyard.foundation.errors import RunError
from steelyard.runs.feedback_folder import FeedbackFolder
from steelyard.runs.feedback_journal import confidence_in, records
from steelyard.runs.feedback_settings import FeedbackSettings
from steelyard.runs.feedback_table import labelled_table
from steelyard.runs.journal_lines import encode
from tests.running import steelyard

SETTINGS = FeedbackSettings("self_logprob", "math")
SAMPLES = [{"sample": i, "llm": "m", "score": 0.5, "answer": i % 2, "tokens": None} for i in range(3)]
REQUEST: dict[str, Any] = {
    "kind": "request", "question": "a" * 32, "policy": "answer", "answers": ["7", "8"], "verdict": 0, "confidence": 0.6,
    "abstained": False, "samples": SAMPLES,
}  # fmt: skip
LABEL: dict[str, Any] = {"kind": "label", "question": "a" * 32, "correct": [True, False], "verdict": True}


def opened(folder: Path) -> tuple[FeedbackFolder, list[tuple[int, Any]]]:
    seen: list[tuple[int, Any]] = []
    return FeedbackFolder(folder, SETTINGS, lambda *one: seen.append(one)), seen


def written(folder: Path, *made: dict[str, Any]) -> list[int]:
    async def work() -> list[int]:
        open_, _ = opened(folder)
        places = await asyncio.gather(*(open_.add(record) for record in made))
        assert [await open_.read(lambda place=place: place) for place in places] == list(made)  # type: ignore[misc]
        open_.close()
        return places

    return asyncio.run(work())


def test_records_are_found_at_the_places_they_were_given_and_again_by_the_next_process(tmp_path: Path) -> None:
    places = written(tmp_path / "kept", REQUEST, LABEL) + written(tmp_path / "kept", LABEL)
    open_, seen = opened(tmp_path / "kept")
    open_.close()
    assert seen == list(zip(places, (REQUEST, LABEL, LABEL), strict=True))


def test_a_journal_that_is_cut_at_any_byte_keeps_what_was_whole(tmp_path: Path) -> None:
    written(tmp_path / "kept", REQUEST, LABEL)
    journal = tmp_path / "kept" / "journal.jsonl"
    content = journal.read_bytes()
    whole = len(encode(REQUEST))
    for end in range(whole, len(content)):
        journal.write_bytes(content[:end])
        assert len(list(records(tmp_path / "kept"))) == 1 + (end == len(content) - 1)


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": 2}, {"verdict": "7"}, {"answers": [7]}, {"confidence": 1.5}, {"confidence": "0.6"}, {"question": 3},
        {"kind": "gossip"}, {"samples": [SAMPLES[0] | {"answer": 5}]}, {"samples": [SAMPLES[0] | {"score": 2}]},
        {"samples": [{"sample": 0}]}, {"samples": 3}, {"prompt": ["x"]}, {"owner": 1},
    ],
)  # fmt: skip
def test_a_record_that_no_server_writes_is_named_by_its_line(tmp_path: Path, change: dict[str, Any]) -> None:
    written(tmp_path / "kept", REQUEST)
    with (tmp_path / "kept" / "journal.jsonl").open("ab") as file:
        file.write(encode(REQUEST | change))
    with pytest.raises(RunError, match=r"line 2 is not a feedback record .*sed -i 2d"):
        list(records(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("change", "confidence"),
    [
        ({"share": 1.0}, 0.6), ({"share": 1.0, "confidence": None}, None), ({"method": "calibrated"}, 0.6),
        ({"method": "majority"}, None), ({}, None),
    ],
)  # fmt: skip
def test_what_older_servers_called_a_confidence_counts_only_where_it_was_a_probability(
    tmp_path: Path, change: dict[str, Any], confidence: float | None
) -> None:
    written(tmp_path / "kept", REQUEST | change)
    (record,) = records(tmp_path / "kept")
    assert confidence_in(record) == confidence


def test_a_journal_that_has_lost_labels_does_not_replace_the_table(tmp_path: Path) -> None:
    written(tmp_path / "kept", REQUEST, LABEL)
    labelled_table(tmp_path / "kept")
    (tmp_path / "kept" / "journal.jsonl").write_bytes(encode(REQUEST))
    with pytest.raises(RunError, match="contains less than"):
        labelled_table(tmp_path / "kept")


def test_a_verb_for_runs_says_what_the_folder_is(tmp_path: Path) -> None:
    written(tmp_path / "kept", REQUEST, LABEL)
    said = steelyard("status", tmp_path / "kept")
    assert (said.code, "contains feedback and is not a run" in said.err) == (2, True)
