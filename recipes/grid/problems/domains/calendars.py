"""Weekdays, dates, clock times and timetables."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, person
from recipes.grid.problems.work import DAYS, Asked, Number, Work

MONTHS = (("March", 31), ("April", 30), ("May", 31), ("June", 30), ("July", 31), ("August", 31), ("September", 30))


def counted(work: Work, start: str, days: Number) -> str:
    """The weekday so many days after another, whole weeks taken off first."""
    weeks = int(days) // 7 * 7
    if weeks:
        days = work.sub(days, weeks, f"{weeks} days are whole weeks, which leaves {{}}.")
    return work.weekday(start, days, "The weekday is {}.")


def waiting(rng: Random, level: int, work: Work) -> Asked:
    """Days and weeks on from a weekday."""
    who, today = person(rng), rng.choice(DAYS)
    first, weeks, more = amount(rng, level, (2, 30), (3, 40), (12, 80)), rng.randint(2, 9), rng.randint(2, 20)
    what = rng.choice(("a letter", "a parcel", "a book", "a call"))
    text = rng.choice(
        (
            f"Today is {today}. {who.name} gets {what} in {first} days. ",
            f"It is {today}, and in {first} days {who.name} gets {what}. ",
        )
    )
    days: Number = first
    if level == 3:
        text += f"Exactly {weeks} weeks and {more} days after that, {who.he} gets another one. "
        span = work.mul(weeks, 7, f"{weeks} weeks are {{}} days.", slip=(weeks, "*", 5))
        days = work.add(days, span, "With the first wait it is {} days.")
    else:
        text += f"{more} days after that {who.he} gets another one. "
    days = work.add(days, more, "In all it is {} days.", slip=days)
    day = counted(work, today, days)
    text += rng.choice(("On which weekday does the second one come?", "Which weekday is it when the second one comes?"))
    return Asked(text, day, (today, first, more, weeks * (level > 2)))


def dates(rng: Random, level: int, work: Work) -> Asked:
    """From one date to another, over the ends of months."""
    start, who = rng.choice(DAYS), person(rng)
    at = rng.randrange(len(MONTHS) - level + 1)
    (name, length), (last, end_length) = MONTHS[at], MONTHS[at + level - 1]
    day = rng.randint(1, 12) if level == 1 else rng.randint(2, 28)
    end = rng.randint(day + 8, length) if level == 1 else rng.randint(2, end_length)
    text = f"In a certain year {name} {day} is a {start}. "
    if level > 1:
        text += (
            f"{name} has {length} days. "
            if level == 2
            else f"{name} has {length} days and {MONTHS[at + 1][0]} has {MONTHS[at + 1][1]}. "
        )
    text += rng.choice(
        (
            f"{who.name} was born on {last} {end} of that year. ",
            f"{who.name} has a party on {last} {end} of that year. ",
        )
    )
    if level == 1:
        days = work.sub(end, day, f"From {name} {day} to {last} {end} it is {{}} days.", slip=(end, "-", day - 1))
    else:
        days = work.sub(
            length, day, f"To the end of {name} it is {{}} days.", slip=(30 if length == 31 else 31, "-", day)
        )
        if level == 3:
            days = work.add(days, MONTHS[at + 1][1], f"With {MONTHS[at + 1][0]} it is {{}} days.", slip=days)
        days = work.add(days, end, f"To {last} {end} it is {{}} days.", slip=(days, "+", end - 1))
    text += rng.choice(("Which weekday is that?", "What day of the week is that?"))
    return Asked(text, counted(work, start, days), (start, name, day, last, end))


def elapsed(rng: Random, level: int, work: Work) -> Asked:
    """Minutes between two times of one day."""
    who, what = person(rng), rng.choice(("works", "drives", "hikes", "paints"))
    h1, span = rng.randint(6, 11), rng.randint(2, 5 if level == 1 else 9)
    m1, m2 = (0, rng.randint(2, 59)) if level == 1 else (rng.randint(2, 59), rng.randint(2, 59))
    h2, pause, days = h1 + span, rng.randint(5, 45), rng.randint(2, 6)
    often = f" on each of {days} days" if level == 3 else ""
    text = f"{who.name} {what} from {h1}:{m1:02d} to {h2}:{m2:02d}{often} (24-hour clock). "
    hours = work.sub(h2, h1, "From hour to hour it is {} hours.")
    base = work.mul(hours, 60, "That is {} minutes.", slip=(hours, "*", 100))
    time = work.add(base, m2, f"With the last {m2} minutes it is {{}} minutes.") if m2 else base
    if m1:
        time = work.sub(time, m1, f"Starting {m1} minutes past the hour leaves {{}} minutes.", slip=(time, "+", m1))
    if level == 1:
        return Asked(
            text + rng.choice(("For how many minutes is that?", "How many minutes is that?")), time, (h1, m1, h2, m2)
        )
    text += f"Of this, {pause} minutes are a break{' each day' * (level > 2)}. "
    time = work.sub(time, pause, "Without the break it is {} minutes.", slip=time)
    if level == 3:
        time = work.mul(time, days, f"In {days} days it is {{}} minutes.", slip=time)
    text += "How many minutes is that without the break" + ("s in all?" if level == 3 else "?")
    return Asked(text, time, (h1, m1, h2, m2, pause, days * (level > 2)))


def holiday(rng: Random, level: int, work: Work) -> Asked:
    """First and last day both count."""
    who, (name, length) = person(rng), rng.choice(MONTHS[:-1])
    after = MONTHS[[month for month, _ in MONTHS].index(name) + 1][0]
    a = rng.randint(1, 18) if level == 1 else rng.randint(8, 27)
    b = rng.randint(a + 4, length) if level == 1 else rng.randint(3, 28)
    each, off = amount(rng, level, (2, 12), (4, 20), (11, 40)), rng.randint(2, 6)
    end = f"{name if level == 1 else after} {b}"
    text = rng.choice(
        (f"{who.name} stays at a hut from {name} {a} to {end}, ", f"{who.name} rents a boat from {name} {a} to {end}, ")
    )
    text += f"and pays ${each} for each day. The first and the last day both count. "
    if level == 1:
        days = work.sub(b, a, f"From {name} {a} to {end} it is {{}} days on.")
        days = work.add(days, 1, "With the first day there are {} days.", slip=days)
    else:
        text += f"{name} has {length} days. "
        days = work.sub(length, a, f"After {name} {a} the month has {{}} more days.", slip=(61 - length, "-", a))
        days = work.add(days, 1, f"With the first day that is {{}} days in {name}.", slip=days)
        days = work.add(days, b, f"With {after} it is {{}} days.")
    if level == 3:
        text += f"{off} of the days are free. "
        days = work.sub(days, off, "So {} days must be paid.", slip=days)
    text += f"How many dollars does {who.he} pay?"
    return Asked(text, work.mul(days, each, "They cost {} dollars."), (name, a, b, each, off * (level > 2)))


def timetable(rng: Random, level: int, work: Work) -> Asked:
    """A bus every few minutes, the first and the last one too."""
    every, start, hours = (
        rng.choice((5, 6, 10, 12, 15, 20, 30)),
        rng.randint(5, 10),
        amount(rng, level, (2, 9), (3, 12), (4, 12)),
    )
    seats, days = amount(rng, level, (9, 10), (11, 60), (21, 60)), rng.randint(2, 7)
    text = rng.choice(("A bus leaves", "A boat leaves", "A train leaves"))
    text += f" every {every} minutes. "
    text += f"The first one leaves at {start}:00 and the last one at {start + hours}:00 (24-hour clock). "
    thing = text.split()[1] + ("es" if text.split()[1] == "bus" else "s")
    text += aside(rng, f"A ticket costs ${rng.randint(2, 9)}.", f"The trip takes {rng.randint(15, 50)} minutes.")
    span = work.sub(start + hours, start, "From first to last it is {} hours.")
    minutes = work.mul(span, 60, "That is {} minutes.", slip=(span, "*", 100) if level == 1 else None)
    gaps = work.div(minutes, every, "There are {} waits between.")
    count = work.add(gaps, 1, f"With the first one there are {{}} {thing}.", slip=gaps)
    if level == 1:
        return Asked(text + f"How many {thing} leave?", count, (every, start, hours))
    total = work.mul(count, seats, "They have {} seats.", slip=seats if level == 2 else None)
    text += f"Each has {seats} seats. "
    if level == 2:
        return Asked(text + "How many seats do they have together?", total, (every, start, hours, seats))
    text += f"How many seats are there in {days} such days?"
    return Asked(
        text,
        work.mul(total, days, f"In {days} days that is {{}} seats.", slip=total),
        (every, start, hours, seats, days),
    )


TEMPLATES = (waiting, dates, elapsed, holiday, timetable)
