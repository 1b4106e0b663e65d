"""Parts of a whole, of the rest, and back to the whole."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import lcm
from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import FRUIT, aside, people, person
from recipes.grid.problems.work import Asked, Number, Work


def part(rng: Random, largest: int, most: Fraction = Fraction(1)) -> Fraction:
    """A proper fraction below `most` with a denominator up to `largest`."""
    return rng.choice([Fraction(a, b) for b in range(2, largest + 1) for a in range(1, b) if Fraction(a, b) < most])


def rest(rng: Random, level: int, work: Work) -> Asked:
    """Each takes a fraction of what the others left."""
    work.decimals = False
    fruit, takers = rng.choice(FRUIT), people(rng, max(2, level))
    while True:
        cuts = [part(rng, 6 if level == 1 else 8) for _ in takers]
        total = amount(rng, level, (6, 96), (20, 120), (40, 400))
        left = [Fraction(total)]
        for cut in cuts:
            left.append(left[-1] * (1 - cut))
        if all(x.denominator == 1 and x - y > 1 for x, y in pairwise(left)) and left[-1].denominator == 1 < left[-1]:
            break
    text = rng.choice((f"There are {total} {fruit}s in a box. ", f"A box holds {total} {fruit}s. "))
    value: Number = total
    for i, (who, cut) in enumerate(zip(takers, cuts, strict=True)):
        text += (
            f"{who.name} takes {cut} of {'them' if i == 0 else 'the rest'}. "
            if i < 2
            else f"Then {who.name} takes {cut} of what is left. "
        )
        taken = work.mul(value, cut, f"{who.name} takes {{}} {fruit}s.", slip=(total, "*", cut) if i else None)
        if level == 1 and i == 1:
            return Asked(text + f"How many {fruit}s does {who.name} take?", taken, (total, *cuts, "taken"))
        value = work.sub(
            value, taken, f"Then {{}} {fruit}s are left.", slip=taken if i == 0 and cut != Fraction(1, 2) else None
        )
    return Asked(text + f"How many {fruit}s are left?", value, (total, *cuts))


def ribbon(rng: Random, level: int, work: Work) -> Asked:
    """Fractions of one whole are added up, the rest is measured."""
    work.decimals = False
    users = people(rng, 3 if level == 3 else 2)
    cuts: list[Fraction] = []
    for _ in users:
        cuts.append(part(rng, 6 if level < 3 else 8, Fraction(9, 10) - sum(cuts) if level < 3 else Fraction(2, 5)))
        if sum(cuts) > Fraction(7, 10) and len(cuts) < len(users):
            cuts[-1] = Fraction(1, 6)
    if sum(cuts) >= 1:
        cuts = [cut / 2 for cut in cuts]
    length = lcm(*(cut.denominator for cut in cuts)) * amount(rng, level, (1, 25), (2, 25), (2, 9))
    thing = rng.choice(("ribbon", "rope", "wire", "chain"))
    text = f"Of a {thing} of {length} cm, " + ", ".join(
        f"{who.name} uses {cut}" for who, cut in zip(users[:-1], cuts, strict=False)
    )
    text += f" and {users[-1].name} uses {cuts[-1]} of the whole {thing}. "
    text += aside(rng, f"The {thing} cost ${rng.randint(2, 20)}.")
    used: Number = cuts[0]
    for cut in cuts[1:]:
        top, low = Fraction(used).numerator + cut.numerator, Fraction(used).denominator + cut.denominator
        used = work.add(used, cut, "Used so far is {} of it.", slip=(used, "+", cut, Fraction(top, low)))
    if level == 1:
        text += rng.choice((f"How many cm of the {thing} are used?", f"How many cm of {thing} do they use together?"))
        return Asked(text, work.mul(length, used, "They use {} cm."), (length, *cuts, "used"))
    free = work.sub(1, used, "So {} of it is left.", slip=used)
    left = work.mul(length, free, "That is {} cm.")
    text += f"How many cm of the {thing} are left?"
    return Asked(text, left, (length, *cuts))


def book(rng: Random, level: int, work: Work) -> Asked:
    """From the part that is left back to the whole."""
    work.decimals = False
    who, read = person(rng), part(rng, 9)
    unit, days = amount(rng, level, (2, 50), (5, 60), (8, 60)), rng.randint(2, 6)
    unit = unit * days if level == 3 else unit
    whole, left = unit * read.denominator, unit * (read.denominator - read.numerator)
    text = rng.choice(
        (f"{who.name} has read {read} of a book. ", f"After some days {who.name} has read {read} of a book. ")
    )
    text += f"There are {left} pages left. "
    share = work.sub(1, read, "The pages left are {} of the book.", slip=read if read != Fraction(1, 2) else None)
    pages = work.div(left, share, "So the book has {} pages.", slip=(left, "*", share))
    if level == 1:
        return Asked(text + "How many pages does the book have?", pages, (read, left))
    done = work.sub(pages, left, f"{who.name} has read {{}} pages.")
    if level == 2:
        return Asked(text + f"How many pages has {who.he} read?", done, (read, left))
    text += f"{who.He} read the same number of pages on each of {days} days. How many pages a day did {who.he} read?"
    daily = work.div(done, days, "That is {} pages a day.", slip=(pages, "/", days))
    return Asked(text, daily, (read, left, days, whole))


def baking(rng: Random, level: int, work: Work) -> Asked:
    """Cups per cake, many cakes, what is left."""
    work.decimals = False
    who, cake = person(rng), rng.choice(("cake", "pie", "loaf"))
    cakes = "loaves" if cake == "loaf" else cake + "s"
    cups = [part(rng, 6 if level == 1 else 4) + (rng.randint(0, 1) if level > 1 else 0) for _ in range(min(level, 2))]
    n = amount(rng, level, (2, 12), (3, 15), (6, 24))
    stock = int(n * sum(cups)) + rng.randint(1, 9)
    text = (
        f"For one {cake} {who.name} needs {cups[0]} cups of flour"
        if cups[0] > 1
        else f"For one {cake} {who.name} needs {cups[0]} of a cup of flour"
    )
    each: Number = cups[0]
    if level > 1:
        text += f" and {cups[1]} {'cups' if cups[1] > 1 else 'of a cup'} of sugar. "
        text += f"{who.He} has {stock} cups of both together. "
        each = work.add(each, cups[1], f"The number of cups for one {cake} is {{}}.", slip=each)
    else:
        text += f". {who.He} has {stock} cups. "
    text += rng.choice((f"{who.He} bakes {n} {cakes}. ", f"{who.He} makes {n} {cakes} for a party. "))
    used = work.mul(n, each, f"The number of cups for {n} {cakes} is {{}}.", slip=each if level == 1 else None)
    left = work.sub(stock, used, "The number of cups left is {}.", slip=used)
    if level < 3:
        return Asked(
            text + f"How many cups {'of flour ' if level == 1 else ''}are left, as a fraction or whole number?",
            left,
            (n, *cups, stock),
        )
    k = rng.randint(2, 5)
    text += f"The rest is shared evenly by {k} friends. How many cups does each friend get?"
    return Asked(text, work.div(left, k, "The number of cups for each friend is {}.", slip=left), (n, *cups, stock, k))


TEMPLATES = (rest, ribbon, book, baking)
