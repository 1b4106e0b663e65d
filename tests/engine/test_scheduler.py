"""Parts are given out one at a time, and those of dead workers again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from steelyard.engine import scheduler
from steelyard.engine.scheduler import DiedError, Failed, Finished, Scheduler
from steelyard.foundation.errors import SettingError, SteelyardWarning
from tests.engine.tasks import Number, parts


class Clerk:
    """A worker that answers when it is asked; `script` says over which parts it dies, and what it starts with."""

    def __init__(self, crew: Office) -> None:
        self.crew, self.gone = crew, False
        self.part: Any = None

    def give(self, part: Any) -> None:
        self.part = part
        self.crew.given.append(part.value)
        under_way = sum(1 for each in self.crew.hired if each.part is not None and not each.gone)
        self.crew.most = max(self.crew.most, under_way)

    def result(self) -> Any:
        if self.part is None:
            if self.crew.refusal == "dies":
                raise DiedError("it died young")
            return self.crew.refusal
        part, self.part = self.part, None
        if self.crew.deadly.get(part.value, 0) > 0:
            self.crew.deadly[part.value] -= 1
            raise DiedError("it died")
        return True, 10 * part.value

    def stop(self) -> None:
        self.gone = True


class Office:
    def __init__(self, deadly: dict[int, int] | None = None, refusal: str | None = None) -> None:
        self.deadly, self.refusal = deadly or {}, refusal
        self.hired: list[Clerk] = []
        self.given: list[int] = []
        self.most = 0

    def start(self) -> Clerk:
        self.hired.append(Clerk(self))
        return self.hired[-1]

    def wait(self, workers: Sequence[Clerk], seconds: float) -> Sequence[Clerk]:
        return workers[:1]


def test_every_part_is_done_once_by_no_more_workers_than_allowed_who_are_all_dismissed() -> None:
    office = Office()
    ended = list(Scheduler(office, parts(20), 3).run())
    assert sorted(each.summary for each in ended if isinstance(each, Finished)) == [10 * i for i in range(20)]
    assert sorted(office.given) == list(range(20))
    assert len(office.hired) == 3
    assert office.most <= 3
    assert all(clerk.gone for clerk in office.hired)


def test_no_more_workers_are_hired_than_there_are_parts() -> None:
    office = Office()
    assert len(list(Scheduler(office, parts(2), 50).run())) == 2
    assert len(office.hired) == 2


def test_a_part_whose_worker_died_is_given_to_another_and_one_that_kills_three_is_named() -> None:
    office = Office(deadly={1: 2, 4: 99})
    ended = {each.part.value: each for each in Scheduler(office, parts(6), 2).run()}
    assert len(ended) == 6
    assert isinstance(ended[1], Finished)
    assert isinstance(ended[4], Failed)
    assert "3 workers in a row died while they processed it" in ended[4].reason
    assert office.given.count(1) == office.given.count(4) == 3


def test_a_worker_that_may_not_work_ends_everything_and_one_that_dies_young_too() -> None:
    office = Office(refusal="another version")
    with pytest.raises(SettingError, match="another version"):
        list(Scheduler(office, parts(3), 2).run())
    assert not office.given
    assert all(clerk.gone for clerk in office.hired)
    with pytest.raises(SettingError, match="3 workers died while they started"):
        list(Scheduler(Office(refusal="dies"), parts(3), 1).run())


def test_workers_that_never_start_are_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "LIMIT", -1.0)
    office = Office()
    monkeypatch.setattr(office, "wait", lambda workers, seconds: [])
    with pytest.raises(SettingError, match="no worker started within"):
        list(Scheduler(office, [Number(1)], 1).run())


def test_that_nobody_works_yet_is_said_once_with_what_a_worker_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "WARNING", -1.0)
    office, asked = Office(), []

    def wait(workers: Sequence[Clerk], seconds: float) -> Sequence[Clerk]:
        asked.append(seconds)
        return workers[:1] if len(asked) > 3 else []

    monkeypatch.setattr(office, "wait", wait)
    match = r"no worker started within -1 s \(each takes 1 GPU\): waiting for room"
    with pytest.warns(SteelyardWarning, match=match) as said:
        assert len(list(Scheduler(office, parts(2), 1, need="each takes 1 GPU").run())) == 2
    assert len(said) == 1


def test_closing_the_iterator_dismisses_everyone() -> None:
    office = Office()
    going = Scheduler(office, parts(9), 2).run()
    next(going)
    going.close()
    assert all(clerk.gone for clerk in office.hired)
    assert len(office.given) < 9


def test_fewer_workers_than_must_start_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(Office):
        """One worker starts, and the others are waited for."""

        def wait(self, workers: Sequence[Clerk], seconds: float) -> Sequence[Clerk]:
            return [worker for worker in workers if worker is self.hired[0]]

    assert len(list(Scheduler(Small(), parts(5), 4, least=1).run())) == 5
    going = Scheduler(Small(), parts(5), 4, least=2).run()
    next(going)
    monkeypatch.setattr(scheduler, "LIMIT", -1.0)
    with pytest.raises(SettingError, match="1 of at least 2 workers have started"):
        list(going)
