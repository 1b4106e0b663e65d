"""What is said of parts that failed: each reason once, and nothing that is not so."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engine.scheduler import Failed
from steelyard.engine.worker_messages import failure_summary


@dataclass(frozen=True)
class Part:
    name: str
    path: str


def failed(*numbers: int) -> list[Failed[Part]]:
    parts = [Part(f"part-{i}", f"s3://bucket/part-{i}.parquet") for i in numbers]
    return [Failed(part, f"{part.path} is out of reach: set the keys") for part in parts]


def test_a_reason_that_differs_by_the_path_of_the_part_alone_is_told_once_with_the_first_path() -> None:
    told = failure_summary(failed(3, 4, 7), 8)
    assert told == (
        "3 of 8 parts failed (part-3 and 2 more: s3://bucket/part-3.parquet is out of reach: set the keys); "
        "the others are done and kept: fix these, and run the same command again"
    )


def test_where_all_parts_failed_nothing_is_said_of_others() -> None:
    assert failure_summary(failed(0, 1), 2).endswith("); fix these, and run the same command again")
