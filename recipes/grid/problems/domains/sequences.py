"""Rows, posts, pages, doublings and patterns; most mistakes are off by one."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, person
from recipes.grid.problems.work import Asked, Number, Work


def rows(rng: Random, level: int, work: Work) -> Asked:
    """Every row has some seats more than the one before."""
    first, more = amount(rng, level, (3, 20), (5, 30), (11, 40)), amount(rng, level, (2, 6), (2, 8), (3, 9))
    n = amount(rng, level, (4, 12), (5, 15), (10, 24))
    text = rng.choice(("In a theatre", "In a hall", "In a stadium"))
    text += f" the first row has {first} seats, and every row has {more} seats more than the row before. "
    text += aside(rng, f"A ticket costs ${rng.randint(5, 30)}.", f"The place was built {rng.randint(5, 80)} years ago.")
    steps = work.sub(n, 1, f"To row {n} there are {{}} steps.", slip=n)
    extra = work.mul(steps, more, "That adds {} seats.")
    last = work.add(first, extra, f"Row {n} has {{}} seats.", slip=extra)
    if level == 1 or (level == 2 and rng.random() < 0.3):
        return Asked(text + f"How many seats does row {n} have?", last, (first, more, n, "row"))
    text += f"How many seats do the first {n} rows have together?"
    pair = work.add(first, last, "First and last row have {} seats together.")
    many = work.mul(pair, n, f"Times {n} that is {{}}.", slip=(last, "*", n))
    return Asked(text, work.div(many, 2, "Half of it is {} seats.", slip=many), (first, more, n, "sum"))


def posts(rng: Random, level: int, work: Work) -> Asked:
    """Posts at both ends of a road."""
    what, gap = rng.choice(("tree", "lamp", "post", "flag")), rng.randint(2, 12 if level == 1 else 25)
    gaps, price, old = (
        amount(rng, level, (4, 40), (8, 40), (15, 60)),
        amount(rng, level, (2, 9), (3, 15), (11, 29)),
        rng.randint(2, 7),
    )
    sides = level > 1 or rng.random() < 0.5
    text = f"Along {'both sides' if sides else 'one side'} of a road of {gap * gaps} metres "
    text += f"there is to be a {what} every {gap} metres. "
    text += f"{'On each side there' if sides else 'There'} is a {what} at the start and one at the end. "
    spaces = work.div(gap * gaps, gap, "The road has {} gaps.")
    count = work.add(spaces, 1, f"With both ends that makes {{}} {what}s on a side.", slip=spaces)
    numbers: tuple[int, ...] = (gap, gaps, sides)
    if sides:
        count = work.mul(count, 2, f"Both sides need {{}} {what}s.", slip=count)
    if level == 3:
        text += f"{old} of the {what}s are already there. "
        count = work.sub(count, old, f"So {{}} {what}s are missing.", slip=count)
        numbers += (old,)
    if level > 1:
        text += f"A {what} costs ${price}. How many dollars do the {'missing ' if level == 3 else ''}{what}s cost?"
        return Asked(text, work.mul(count, price, "They cost {} dollars."), (*numbers, price))
    return Asked(text + f"How many {what}s are needed?", count, numbers)


def pages(rng: Random, level: int, work: Work) -> Asked:
    """From page to page, the ends counted or not."""
    who, a, n = (
        person(rng),
        amount(rng, level, (3, 60), (12, 150), (50, 300)),
        amount(rng, level, (5, 40), (11, 60), (25, 99)),
    )
    b, each = a + n, amount(rng, level, (2, 9), (2, 9), (3, 15))
    closed = rng.random() < 0.5
    how = (
        f"from page {a} to page {b}, both included"
        if closed
        else f"the pages that lie between page {a} and page {b}, without these two"
    )
    text = (
        rng.choice((f"On Sunday {who.name} reads {how}. ", f"{who.name} reads a book on Sunday, {how}. "))
        if level > 1
        else f"{who.name} reads {how}. "
    )
    step = work.sub(b, a, f"From {a} to {b} it is {{}} pages on.")
    if closed:
        count = work.add(step, 1, f"Both ends count, so {who.he} reads {{}} pages.", slip=step)
    else:
        count = work.sub(step, 1, f"The ends do not count, so {who.he} reads {{}} pages.", slip=(step, "+", 1))
    if level == 1:
        text += f"{who.He} needs {each} minutes for a page. How many minutes does {who.he} read?"
        return Asked(text, work.mul(count, each, "That takes {} minutes."), (a, b, each, closed))
    more = rng.randint(5, 40)
    text += f"On Monday {who.he} reads {more} pages more than that. "
    next_day = work.add(count, more, "On Monday it is {} pages.", slip=more)
    both = work.add(count, next_day, "Both days together give {} pages.", slip=next_day)
    if level == 2:
        return Asked(text + f"How many pages does {who.he} read on both days together?", both, (a, b, more, closed))
    text += f"{who.He} needs {each} minutes for a page. How many minutes does {who.he} read on both days together?"
    return Asked(text, work.mul(both, each, "That takes {} minutes."), (a, b, more, each, closed))


def pond(rng: Random, level: int, work: Work) -> Asked:
    """Multiply and take away, round after round."""
    what, k = rng.choice(("fish", "plants", "ducks", "frogs")), rng.randint(2, 3 if level > 1 else 5)
    start = amount(rng, level, (4, 40), (5, 30), (6, 20))
    away = rng.randint(2, start * (k - 1) - 1)
    word = ("doubles", "triples", "becomes four times as large", "becomes five times as large")[k - 2]
    text = f"A pond has {start} {what}. Every year their number {word}, and then {away} of them are taken out. "
    text += aside(rng, f"The pond is {rng.randint(2, 9)} metres deep.")
    value: Number = start
    for year in range(level):
        value = work.mul(
            value,
            k,
            f"In year {year + 1} the number grows to {{}}.",
            slip=(value - away, "*", k) if year == 0 else None,
        )
        value = work.sub(value, away, f"After taking out {away} there are {{}} {what}.", slip=value)
    years = f"{level} years" if level > 1 else "one year"
    text += rng.choice(
        (f"How many {what} are there after {years}?", f"How many {what} does the pond have after {years}?")
    )
    return Asked(text, value, (start, k, away, level))


def beads(rng: Random, level: int, work: Work) -> Asked:
    """A pattern of colours that repeats."""
    one, two = rng.sample(("red", "blue", "green", "white", "black"), 2)
    r, b = amount(rng, level, (2, 7), (2, 6), (3, 9)), rng.randint(2, 7)
    times, rest = amount(rng, level, (3, 15), (4, 15), (11, 24)), 0 if level == 1 else rng.randint(2, r)
    n, cents = times * (r + b) + rest, rng.randint(2, 9)
    text = (
        f"On a string, {r} {one} beads and then {b} {two} beads follow in turn, again and again. It begins with {one}. "
    )
    text += rng.choice((f"The string has {n} beads. ", f"There are {n} beads on it. "))
    period = work.add(r, b, "The pattern has {} beads.", slip=r if level == 1 else None)
    if level == 1:
        full = work.div(n, period, "It fits {} times.")
        return Asked(
            text + f"How many beads are {one}?",
            work.mul(full, r, f"So {{}} beads are {one}.", slip=(full, "*", b)),
            (r, b, n),
        )
    used = work.mul(times, period, f"The pattern fits {times} times and uses {{}} beads.")
    left = work.sub(n, used, f"At the end {{}} more {one} beads follow.")
    full = work.mul(times, r, f"The full patterns have {{}} {one} beads.", slip=(times, "*", b))
    red = work.add(full, left, f"With the end that is {{}} {one} beads.", slip=full)
    if level == 2:
        return Asked(text + f"How many beads are {one}?", red, (r, b, n))
    text += f"A {one} bead costs {cents} cents. How many cents do the {one} beads cost?"
    return Asked(text, work.mul(red, cents, "They cost {} cents."), (r, b, n, cents))


TEMPLATES = (rows, posts, pages, pond, beads)
