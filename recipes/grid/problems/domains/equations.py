"""Unknown numbers: undo a trick, more than twice, heads and legs, two bills."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import FRUIT, GOODS, aside, people, person
from recipes.grid.problems.work import Asked, Number, Work


def trick(rng: Random, level: int, work: Work) -> Asked:
    """Undo a chain of sums, last one first."""
    who, length = person(rng), level + rng.randint(1, 2) + (level == 3)
    value = amount(rng, level, (2, 20), (3, 25), (5, 30))
    said: list[str] = []
    undo, numbers = [], []
    for _ in range(length):
        ops = ["times", "plus"] + ["minus"] * (value > 6) + ["half"] * (value % 2 == 0 and value > 8)
        last = said[-1].split()[0] if said else ""
        op = rng.choice(
            [
                o
                for o in ops
                if not (last in ("adds", "subtracts") and o in ("plus", "minus"))
                and not (last in ("multiplies", "halves") and o in ("times", "half"))
            ]
        )
        k = (
            rng.randint(2, 5 if value < 60 else 2)
            if op == "times"
            else rng.randint(2, min(value - 2, 40))
            if op == "minus"
            else rng.randint(2, 30)
        )
        said.append(
            {
                "times": f"multiplies it by {k}",
                "plus": f"adds {k}",
                "minus": f"subtracts {k}",
                "half": "halves the result",
            }[op]
        )
        undo.append((op, k))
        numbers.append(f"{op} {k}" if op != "half" else "half")
        value = {"times": value * k, "plus": value + k, "minus": value - k, "half": value // 2}[op]
    said = [
        s.replace("halves the result", "halves it") if i == 0 else s.replace("multiplies it", "multiplies the result")
        for i, s in enumerate(said)
    ]
    said[0] = {"adds": said[0] + " to it", "subtracts": said[0] + " from it"}.get(said[0].split()[0], said[0])
    text = f"{who.name} thinks of a number. {who.He} {said[0]}"
    text += "".join(f", then {s}" for s in said[1:-1]) + f", and then {said[-1]}. "
    text += rng.choice(
        (f"The result is {value}. What was the number?", f"In the end {who.he} gets {value}. Which number was it?")
    )
    back: Number = value
    for op, k in reversed(undo):
        if op == "times":
            back = work.div(back, k, f"Before multiplying by {k} it was {{}}.", slip=(back, "-", k))
        elif op == "plus":
            back = work.sub(back, k, f"Before adding {k} it was {{}}.", slip=(back, "+", k))
        elif op == "minus":
            back = work.add(back, k, f"Before subtracting {k} it was {{}}.", slip=(back, "-", k))
        else:
            back = work.mul(back, 2, "Before halving it was {}.", slip=(back, "/", 2))
    return Asked(text, back, (value, *numbers))


def more_than(rng: Random, level: int, work: Work) -> Asked:
    """3 more than twice as many is not twice 3 more."""
    a, b = people(rng, 2)
    fruit, k, c = rng.choice(FRUIT), rng.randint(2, 5), rng.randint(2, 12)
    small, given = amount(rng, level, (2, 25), (6, 40), (15, 90)), rng.randint(2, 15)
    word = ("twice", "three times", "four times", "five times")[k - 2]
    inner = level > 1 and rng.random() < 0.5
    big = k * (small + c) if inner else k * small + c
    total = small + big
    if inner:
        text = f"If {b.name} had {c} {fruit}s more, {a.name} would have {word} as many as {b.name}. "
        text += f"Together they really have {total} {fruit}s. "
        extra = work.mul(k, c, f"{a.name} has {{}} {fruit}s more than {word} as many.", slip=c)
    else:
        text = f"{a.name} has {c} {fruit}s more than {word} as many as {b.name}. Together they have {total} {fruit}s. "
        extra = c
    rest = work.sub(
        total, extra, f"Without these extra ones there are {{}} {fruit}s.", slip=total if not inner else None
    )
    parts = work.add(k, 1, f"That is {{}} times what {b.name} has.", slip=k)
    one = work.div(rest, parts, f"{b.name} has {{}} {fruit}s.")
    numbers = (k, c, total, inner)
    if level == 1:
        return Asked(text + f"How many {fruit}s does {b.name} have?", one, numbers)
    many = work.sub(total, one, f"{a.name} has {{}} {fruit}s.", slip=(k, "*", one))
    if level == 2:
        return Asked(text + f"How many {fruit}s does {a.name} have?", many, numbers)
    text += f"Then {a.name} gives {b.name} {given} {fruit}s. How many does {a.name} have now?"
    return Asked(
        text,
        work.sub(many, given, f"After giving some away, {a.name} has {{}} {fruit}s.", slip=(many, "+", given)),
        (*numbers, given),
    )


def heads(rng: Random, level: int, work: Work) -> Asked:
    """Two kinds, counted by head and by legs, wheels, seats or dollars."""
    place, few, many, what, low, high = rng.choice(
        (
            ("On a farm there are", "hens", "cows", "legs", 2, 4),
            ("In a yard there are", "bikes", "carts", "wheels", 2, 4),
            ("In a hall there are", "small tables", "large tables", "seats", rng.randint(2, 4), rng.randint(6, 12)),
            ("At a fair people buy", "cheap tickets", "good tickets", "dollars", rng.randint(2, 5), rng.randint(7, 15)),
        )
    )
    x, y = (amount(rng, level, (2, 15), (5, 30), (15, 60)) for _ in range(2))
    n, total = x + y, low * x + high * y
    unit = {"legs": "has", "wheels": "has", "seats": "has", "dollars": "costs"}[what]
    text = f"{place} {n} {few} and {many} in all. "
    text += (
        f"Each of the {few} {unit} {low} {what} and each of the {many} {unit} {high}. Together that is {total} {what}. "
    )
    base = work.mul(low, n, f"If all were {few}, it would be {{}} {what}.")
    over = work.sub(total, base, f"So {{}} {what} are left over.")
    gap: Number = high - low
    if level > 1:
        gap = work.sub(high, low, f"Each of the {many} brings {{}} {what} more.", slip=high)
    why = "So" if level > 1 else f"Each of the {many} brings {gap} more, so"
    big = work.div(over, gap, f"{why} there are {{}} {many}.", slip=(over, "/", high) if level == 1 else None)
    if level == 1:
        return Asked(text + f"How many {many} are there?", big, (low, high, n, total))
    small = work.sub(n, big, f"And there are {{}} {few}.", slip=big)
    if level == 2:
        return Asked(text + f"How many {few} are there?", small, (low, high, n, total))
    new = rng.randint(2, 9)
    text += f"Then {new} more {few} are {'bought' if what == 'dollars' else 'added'}. How many {few} are there now?"
    return Asked(text, work.add(small, new, f"Now there are {{}} {few}.", slip=small), (low, high, n, total, new))


def bills(rng: Random, level: int, work: Work) -> Asked:
    """Two bills that differ in one kind only."""
    one, two = rng.sample(GOODS, 2)
    a, b = rng.randint(2, 6), 1 if level == 1 else rng.randint(2, 5)
    d = 1 if level == 1 else rng.randint(2, 6)
    p, q = (amount(rng, level, (2, 15), (3, 15), (11, 39)) for _ in range(2))
    few, many = a * p + b * q, a * p + (b + d) * q
    text = f"{a} {one}s and {b} {two}{'s' * (b > 1)} cost ${few}. {a} {one}s and {b + d} {two}s cost ${many}. "
    text += aside(rng, f"The shop sells {rng.randint(20, 90)} kinds of goods.")
    what = "The bills differ by {} dollars." if d > 1 else f"The bills differ by one {two}, so it costs {{}} dollars."
    gap = work.sub(many, few, what)
    more: Number = d
    if d > 1:
        more = work.sub(b + d, b, f"They differ by {{}} {two}s.", slip=b + d)
        gap = work.div(gap, more, f"So one {two} costs {{}} dollars.")
    if level == 2 and rng.random() < 0.3:
        return Asked(text + f"How many dollars does one {two} cost?", gap, (a, b, d, p, q, "easy"))
    known = work.mul(gap, b, f"In the first bill the {two}s cost {{}} dollars.", slip=gap) if b > 1 else gap
    rest = work.sub(few, known, f"That leaves {{}} dollars for the {one}s.", slip=few if level == 1 else None)
    return Asked(
        text + f"How many dollars does one {one} cost?",
        work.div(rest, a, f"So one {one} costs {{}} dollars.", slip=rest),
        (a, b, d, p, q),
    )


TEMPLATES = (trick, more_than, heads, bills)
