"""The journal: every cut of the last record is mended, every flip is seen, and one fsync serves all who wait."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.runs.journal import Journal
from steelyard.runs.journal_lines import Lines, encode
from steelyard.runs.run_state import CACHE_SIZE, LONGEST_CACHED, Texts, head_of

RECORDS: list[dict[str, Any]] = [
    {"kind": "sample", "question": f"q{i}", "sample": i, "response": text, "tokens": i}
    for i, text in enumerate(["", "two\nlines", "ünïcödé \u2028 \x00", '{"kind":"sample"}', 'a "quote" \\ and\r\n'])
]
WHOLE = b"".join(map(encode, RECORDS))
LAST = len(WHOLE) - len(encode(RECORDS[-1]))


def _journal(path: Path, content: bytes = b"") -> tuple[list[dict[str, Any]], Lines]:
    (path / "journal.jsonl").write_bytes(content)
    lines = Lines(path / "journal.jsonl")
    return [json.loads(body) for _, body in lines], lines


def test_a_journal_cut_anywhere_in_its_last_record_keeps_the_others_and_goes_on(tmp_path: Path) -> None:
    for cut in range(LAST, len(WHOLE) + 1):
        found, lines = _journal(tmp_path, WHOLE[:cut])
        whole = cut >= len(WHOLE) - 1  # the record is there, with or without its line end
        assert found == (RECORDS if whole else RECORDS[:-1])
        assert lines.torn == (0 if whole else cut - LAST)
        journal = Journal(lines)
        journal.append([encode(RECORDS[0])])
        journal.close()
        again, lines = _journal(tmp_path, (tmp_path / "journal.jsonl").read_bytes())
        assert (again, lines.torn) == ([*found, RECORDS[0]], 0)


@given(position=st.integers(0, LAST - 1), bit=st.integers(0, 7))
def test_any_flip_before_the_last_record_is_refused_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    content = bytearray(WHOLE)
    content[position] ^= 1 << bit
    number = WHOLE[:position].count(b"\n") + 1
    with pytest.raises(sy.errors.RunError, match=f"line {number} is damaged .*sed -i {number}d"):
        _journal(tmp_path_factory.mktemp("flip"), bytes(content))


def test_a_flip_in_the_last_record_never_gives_another_record(tmp_path: Path) -> None:
    for position in range(LAST, len(WHOLE) - 1):
        for bit in range(8):
            content = bytearray(WHOLE)
            content[position] ^= 1 << bit
            with pytest.raises(sy.errors.RunError, match=f"line {len(RECORDS)} is damaged"):
                _journal(tmp_path, bytes(content))


def test_a_damaged_last_line_end_costs_nothing(tmp_path: Path) -> None:
    found, lines = _journal(tmp_path, WHOLE[:-1] + b"\x0b")
    assert (found, lines.torn) == (RECORDS, 1)
    Journal(lines).close()
    assert (tmp_path / "journal.jsonl").read_bytes() == WHOLE


def test_the_command_in_the_message_takes_the_damage_out(tmp_path: Path) -> None:
    content = bytearray(WHOLE)
    content[len(encode(RECORDS[0])) + 30] ^= 4
    (folder := tmp_path / "my run").mkdir()
    with pytest.raises(sy.errors.RunError) as refused:
        _journal(folder, bytes(content))
    command = str(refused.value).partition("with '")[2].partition("' and run")[0]
    assert os.system(command) == 0
    found, _ = _journal(folder, (folder / "journal.jsonl").read_bytes())
    assert found == [RECORDS[0], *RECORDS[2:]]


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf" + WHOLE, WHOLE.replace(b"\n", b"\r\n"), b"\n" + WHOLE, b"hello\n", b'{"kind":"note"}\n', b"\0\n"],
    ids=["byte order mark", "carriage returns", "empty line", "text", "plain json", "zero"],
)
def test_what_no_journal_holds_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(sy.errors.RunError, match="line 1 is damaged"):
        _journal(tmp_path, content)


def test_a_tail_of_zeros_left_by_a_power_cut_is_torn(tmp_path: Path) -> None:
    found, lines = _journal(tmp_path, WHOLE + bytes(4096))
    assert (found, lines.torn) == (RECORDS, 4096)


def test_a_record_of_ten_megabytes_comes_back(tmp_path: Path) -> None:
    record = {"kind": "sample", "question": "q", "sample": 0, "response": "long " * 2_000_000}
    assert _journal(tmp_path, encode(record) + WHOLE)[0] == [record, *RECORDS]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters()), JSON), st.text(st.characters()), st.integers(0, 99_999))
def test_every_record_comes_back_as_it_was(more: dict[str, Any], question: str, number: int) -> None:
    record = {"extra": more, "sample": number, "kind": "sample", "question": question}
    line = encode(record)
    assert line.count(b"\n") == 1
    body = line[line.index(b"{") : -1]
    assert json.loads(body) == record
    assert head_of(body) == ("sample", "", (question, number))


def test_half_a_surrogate_pair_comes_back_and_not_a_number_becomes_null() -> None:
    line = encode({"kind": "sample", "question": "\ud800", "sample": 0, "steps": [float("nan"), 0.5, float("inf")]})
    record = json.loads(line[line.index(b"{") :])
    assert (record["question"], record["steps"]) == ("\ud800", [None, 0.5, None])


def test_those_who_wait_share_a_commit_and_each_is_safe_when_told(tmp_path: Path) -> None:
    journal = Journal(_journal(tmp_path)[1])

    async def add(record: dict[str, Any]) -> None:
        line = encode(record)
        await journal.add(line)
        assert line in (tmp_path / "journal.jsonl").read_bytes()

    async def add_all() -> None:
        await asyncio.gather(*(add({"kind": "note", "i": i}) for i in range(500)))

    asyncio.run(add_all())
    assert journal.commits < 50
    journal.close()
    assert len(_journal(tmp_path, (tmp_path / "journal.jsonl").read_bytes())[0]) == 500


def test_a_task_that_is_cancelled_while_it_waits_harms_no_other(tmp_path: Path) -> None:
    journal = Journal(_journal(tmp_path)[1])

    async def add_and_cancel() -> None:
        tasks = [asyncio.create_task(journal.add(encode({"kind": "note", "i": i}))) for i in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[1::2] == [None] * 10

    asyncio.run(add_and_cancel())
    journal.close()
    kept = {record["i"] for record in _journal(tmp_path, (tmp_path / "journal.jsonl").read_bytes())[0]}
    assert kept >= set(range(1, 20, 2))


def test_two_event_loops_in_two_threads_write_one_journal(tmp_path: Path) -> None:
    journal = Journal(_journal(tmp_path)[1])

    async def add_all(who: int) -> None:
        await asyncio.gather(*(journal.add(encode({"kind": "note", "i": (who, i)})) for i in range(100)))

    threads = [threading.Thread(target=lambda who=who: asyncio.run(add_all(who))) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    assert len(_journal(tmp_path, (tmp_path / "journal.jsonl").read_bytes())[0]) == 200


def test_a_closed_journal_says_so(tmp_path: Path) -> None:
    journal = Journal(_journal(tmp_path)[1])
    journal.close()
    with pytest.raises(sy.errors.RunError, match="is closed"):
        journal.append([b"x\n"])
    with pytest.raises(sy.errors.RunError, match="is closed"):
        asyncio.run(journal.add(b"x\n"))


def test_the_names_remembered_between_records_are_bounded_in_number_and_length() -> None:
    texts = Texts()
    for i in range(3 * CACHE_SIZE):
        assert texts[f"q{i}".encode()] == f"q{i}"
        assert len(texts) <= CACHE_SIZE
    long = "q" * (LONGEST_CACHED + 1)
    assert texts[long.encode()] == long
    assert long.encode() not in texts
    assert texts[b"q1"] is texts[b"q1"]
    assert texts[None] == ""
