"""Older, younger, in some years, together."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import people, person
from recipes.grid.problems.work import Asked, Number, Work

TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}


def family(rng: Random, level: int, work: Work) -> Asked:
    """Each age is told from the one before."""
    links = level + 1
    who = people(rng, links + 1)
    numbers: list[int | str] = []
    first = amount(rng, level, (3, 20), (4, 30), (5, 40))
    value: Number = first
    true, said = first, []
    for i in range(links):
        a, b, more = who[i + 1].name, who[i].name, rng.randint(2, 9)
        kinds = ["older", "younger"] if true > more + 3 else ["older"]
        kinds += ["twice", "twice more", "more twice"] if true < 22 and level > 1 else ["twice"] if true < 30 else []
        kind = rng.choice(kinds)
        numbers += [kind, 0 if kind == "twice" else more]
        if kind == "older":
            said.append(f"{a} is {more} years older than {b}.")
            true, value = true + more, work.add(value, more, f"{a} is {{}} years old.", slip=(value, "-", more))
        elif kind == "younger":
            said.append(f"{a} is {more} years younger than {b}.")
            true, value = true - more, work.sub(value, more, f"{a} is {{}} years old.", slip=(value, "+", more))
        elif kind == "twice":
            said.append(f"{a} is twice as old as {b}.")
            true, value = true * 2, work.mul(value, 2, f"{a} is {{}} years old.", slip=(value, "+", 2))
        elif kind == "twice more":
            said.append(f"In {more} years, {b} will be half as old as {a} is now.")
            later = work.add(value, more, f"In {more} years {b} will be {{}} years old.", slip=value)
            true, value = (true + more) * 2, work.mul(later, 2, f"So {a} is {{}} years old.")
        else:
            said.append(f"{a} is {more} years older than twice the age of {b}.")
            double = work.mul(value, 2, f"Twice the age of {b} is {{}} years.", slip=value)
            true, value = true * 2 + more, work.add(double, more, f"So {a} is {{}} years old.")
    if rng.random() < 0.5:
        said.reverse()
    text = f"{who[0].name} is {first} years old. " + " ".join(said)
    return Asked(f"{text} How old is {who[-1].name}?", value, (first, *numbers))


def times(rng: Random, level: int, work: Work) -> Asked:
    """When will one be so many times as old as the other?"""
    old, young = people(rng, 2)
    k = 2 if level == 1 else rng.randint(3, 5)
    then = rng.randint(9, 40) if level == 1 else rng.randint(7, 80 // k)
    years = rng.randint(2, then - 2)
    a, b = then * k - years, then - years
    text = rng.choice(
        (f"{old.name} is {a} years old and {young.name} is {b}. ", f"{young.name} is {b} and {old.name} is {a}. ")
    )
    gap = work.sub(a, b, f"{old.name} is always {{}} years older than {young.name}.", slip=a)
    part = gap
    if level > 1:
        shares = work.sub(k, 1, f"By then this is {{}} times the age of {young.name}.", slip=k)
        part = work.div(gap, shares, f"So {young.name} will be {{}} years old.")
    asked = f"exactly {TIMES[k]} as old as {young.name}?"
    if level == 3:
        text += f"How old will {old.name} be on the day {old.he} is {asked}"
        wait = work.sub(part, b, f"For {young.name} that is in {{}} years.", slip=part)
        return Asked(
            text, work.add(a, wait, f"Then {old.name} will be {{}} years old.", slip=(b, "+", wait)), (a, b, k)
        )
    text += f"In how many years will {old.name} be {asked}"
    lead = f"At twice the age, {young.name} is {gap} years old, in" if level == 1 else "That is in"
    return Asked(text, work.sub(part, b, lead + " {} years.", slip=part if level > 1 else None), (a, b, k))


def two_ages(rng: Random, level: int, work: Work) -> Asked:
    """A sum and a difference, now or in some years."""
    a, b = people(rng, 2)
    small, gap = amount(rng, level, (3, 30), (5, 40), (8, 45)), amount(rng, level, (2, 20), (3, 25), (3, 30))
    years = rng.randint(2, 9)
    total = 2 * small + gap + (2 * years if level == 3 else 0)
    if level == 3:
        text = rng.choice(
            (
                f"In {years} years the ages of {a.name} and {b.name} will add up to {total}. ",
                f"{years} years from now {a.name} and {b.name} will be {total} years old together. ",
            )
        )
        grown = work.mul(2, years, f"In {years} years both together get {{}} years older.", slip=years)
        rest = work.sub(total, grown, "Today their ages add up to {} years.")
    else:
        text = rng.choice(
            (
                f"{a.name} and {b.name} are {total} years old together. ",
                f"The ages of {a.name} and {b.name} add up to {total}. ",
            )
        )
        rest = total
    text += f"{a.name} is {gap} years older than {b.name}. "
    rest = work.sub(rest, gap, "Without the difference {} years remain.", slip=rest)
    half = work.div(rest, 2, f"So {b.name} is {{}} years old.")
    if level == 1 and rng.random() < 0.5:
        return Asked(text + f"How old is {b.name}?", half, (total, gap, "small"))
    older = work.add(half, gap, f"{a.name} is {{}} years old.", slip=half)
    if level == 2:
        text += f"How old will {a.name} be in {years} years?"
        older = work.add(older, years, f"In {years} years {a.name} will be {{}} years old.", slip=older)
        return Asked(text, older, (total, gap, years))
    return Asked(
        text + f"How old is {a.name}" + (" today?" if level == 3 else "?"), older, (total, gap, years * (level > 2))
    )


def newcomer(rng: Random, level: int, work: Work) -> Asked:
    """Someone joins and the average age moves."""
    who, twins = person(rng), level == 3
    n, mean = amount(rng, level, (2, 8), (4, 12), (8, 18)), amount(rng, level, (8, 30), (15, 45), (18, 50))
    joining = 2 if twins else 1
    new = mean + (2 if twins and n % 2 else rng.randint(1, 3))
    group = rng.choice(("choir", "club", "team"))
    text = f"The average age of the {n} people in a {group} is {mean} years. "
    text += "Twins of the same age join" if twins else f"{who.name} joins"
    text += f", and the average age becomes {new} years. "
    before = work.mul(n, mean, f"Before, the {n} ages add up to {{}}.")
    many = work.add(n, joining, "Then there are {} people.", slip=n) if level > 1 else n + 1
    after = work.mul(
        many,
        new,
        "Their ages add up to {}." if level > 1 else f"Now the {n + 1} ages add up to {{}}.",
        slip=(n, "*", new) if level == 1 else None,
    )
    age = work.sub(after, before, "The new age is {} years." if not twins else "The twins together are {} years old.")
    if twins:
        age = work.div(age, 2, "Each twin is {} years old.", slip=age)
    return Asked(text + ("How old is each twin?" if twins else f"How old is {who.name}?"), age, (n, mean, new))


def shares(rng: Random, level: int, work: Work) -> Asked:
    """One is some times as old as another, and the sum is known."""
    a, b, c = people(rng, 3)
    k = rng.randint(2, 5)
    young = rng.randint(3, 80 // k)
    more, years = rng.randint(2, 20), rng.randint(2, 9)
    heads = 3 if level == 3 else 2
    total = young * (k + 1) + (young + more if level == 3 else 0) + (heads * years if level > 1 else 0)
    text = f"{a.name} is {TIMES[k]} as old as {b.name}. "
    rest: Number = total
    if level == 3:
        text += f"{c.name} is {more} years older than {b.name}. "
    if level > 1:
        text += f"In {years} years the {('two', 'three')[heads - 2]} of them will be {total} years old together. "
        grown = work.mul(heads, years, f"In {years} years they get {{}} years older together.", slip=years)
        rest = work.sub(rest, grown, "Today they are {} years old together.")
    else:
        text += f"Together they are {total} years old. "
    if level == 3:
        rest = work.sub(rest, more, f"Without the {more} extra years of {c.name} it is {{}}.", slip=rest)
    parts = work.add(k, heads - 1, f"That is {{}} times the age of {b.name}.", slip=k)
    one = work.div(rest, parts, f"{b.name} is {{}} years old.")
    numbers = (k, total, more * (level > 2), years * (level > 1))
    if level == 3 or (level == 1 and rng.random() < 0.5):
        return Asked(text + f"How old is {b.name}{' today' * (level > 1)}?", one, (*numbers, "young"))
    text += f"How old is {a.name}{' today' * (level > 1)}?"
    return Asked(text, work.mul(one, k, f"{a.name} is {{}} years old.", slip=one), numbers)


TEMPLATES = (family, times, two_ages, newcomer, shares)
