"""How long work will take: told from its pace, as soon as that is known, and only where it is long."""

from __future__ import annotations

import pytest

from steelyard.cli import progress_display
from steelyard.sampling.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress_display, "time", made)
    monkeypatch.setattr("steelyard.sampling.progress.time", made)
    monkeypatch.setattr(progress_display, "QUIET", 10.0)
    return made


def test_the_time_before_the_first_news_is_no_pace(clock: Clock) -> None:
    end = progress_display.TimeLeft()
    assert end.at(0.1) is None
    clock.now += 10
    assert end.at(0.2) == pytest.approx(80)


def test_long_work_says_its_length_after_the_first_batches_and_goes_on_saying_it(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_display.progress_bar("Scoring run") as progress:
        for second in range(21):
            progress(second / 100)
            clock.now += 1
    assert capsys.readouterr().err.splitlines() == [
        "Scoring run: 3 %, about 1 min 37 s left",
        "Scoring run: 14 %, about 1 min 26 s left",
    ]


def test_work_in_batches_says_its_length_after_the_first_ones_however_long_loading_took(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_display.progress_bar("Scoring run") as progress:
        clock.now += 30
        for response in range(1, 211):
            progress(response / 70_000)
            clock.now += 0.7 * (response % 70 == 0)  # 100 responses/s, 70 at once
            if response == 210:
                clock.now += 0.1
                progress(211 / 70_000)
    assert capsys.readouterr().err.splitlines() == [
        "Scoring run: 0 %",
        "Scoring run: 0 %, about 12 min 11 s left",
    ]


def test_short_work_says_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_display.progress_bar("Scoring run") as progress:
        for second in range(6):
            progress(second / 5)
            clock.now += 1
    assert capsys.readouterr().err == ""


def test_sampling_says_its_length_after_the_first_batches(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    job = Progress(requested=1000, there=0, began=clock.now)
    with progress_display.live("Sampling") as told:
        told(job)
        clock.now += 4
        job.done = 40
        told(job)
    assert capsys.readouterr().err == "Sampling: 40/1,000, 10.0 samples/s, about 1 min 36 s left\n"


def test_the_time_in_which_workers_load_a_model_is_no_pace(clock: Clock) -> None:
    job = Progress(requested=1000, there=0, began=clock.now)
    for seconds, done in ((100, 10), (2, 30), (2, 50)):
        clock.now += seconds
        job.done = done
        job.note_first()
    assert progress_display.sentence(job) == "50/1,000, 10.0 samples/s, about 1 min 35 s left"
