"""Stock that comes and goes, crates, shelves, and what there was at first."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import FRUIT, GOODS, aside, person
from recipes.grid.problems.work import Asked, Number, Work


def stock(rng: Random, level: int, work: Work) -> Asked:
    """A day in a store, event by event."""
    thing, length = rng.choice(GOODS), level + rng.randint(1, 2)
    true = amount(rng, level, (20, 60), (30, 120), (100, 400))
    kinds = ["sold", *(rng.choice(("sold", "came", "came")) for _ in range(length - 1))]
    kinds[-1] = "boxes" if level > 1 else kinds[-1]
    rng.shuffle(kinds)
    numbers: list[int | str] = [true]
    text = rng.choice((f"A store has {true} {thing}s. ", f"There are {true} {thing}s in a store. "))
    value: Number = true
    for when, kind in zip(("First", "Then", "After that", "Next", "Finally"), kinds, strict=False):
        k, size = amount(rng, level, (2, 20), (5, 40), (11, 90)), rng.randint(3, 12)
        k = rng.randint(2, true // 2) if kind == "sold" else rng.randint(2, 12) if kind == "boxes" else k
        numbers += [kind, k, size * (kind == "boxes")]
        if kind == "boxes":
            text += f"{when} {k} boxes with {size} {thing}s each are delivered. "
            new = work.mul(k, size, f"The {k} boxes hold {{}} {thing}s.", slip=k)
            true, value = true + k * size, work.add(value, new, f"Now there are {{}} {thing}s.")
        elif kind == "came":
            text += f"{when} {k} {thing}s are delivered. "
            true, value = true + k, work.add(value, k, f"With the {k} new ones there are {{}} {thing}s.", slip=value)
        else:
            text += f"{when} {k} {thing}s are sold. "
            true, value = true - k, work.sub(value, k, f"After the sale there are {{}} {thing}s.", slip=(value, "+", k))
    text += rng.choice((f"How many {thing}s does the store have now?", f"How many {thing}s are there in the end?"))
    return Asked(text, value, tuple(numbers))


def crates(rng: Random, level: int, work: Work) -> Asked:
    """Crates of boxes of fruit, packed again."""
    who, fruit = person(rng), rng.choice(FRUIT)
    c, b, n = (
        rng.randint(2, 9),
        amount(rng, level, (3, 12), (4, 12), (6, 15)),
        amount(rng, level, (3, 12), (5, 15), (8, 25)),
    )
    total = c * n if level == 1 else c * b * n
    bag, price = rng.randint(3, min(9, total // 2)), amount(rng, level, (2, 3), (2, 6), (3, 15))
    bad = total % bag + bag * rng.randint(0, min(2, total // bag - 2))
    text = (
        f"{who.name} gets {c} crates with {n} {fruit}s each. "
        if level == 1
        else f"{who.name} gets {c} crates. Each holds {b} boxes with {n} {fruit}s each. "
    )
    text += aside(rng, f"A crate is {rng.randint(30, 60)} cm wide.") if level < 3 else ""
    held: Number = c
    if level > 1:
        held = work.mul(c, b, "There are {} boxes.", slip=c)
    held = work.mul(held, n, f"They hold {{}} {fruit}s.", slip=(held, "+", n) if level == 1 else None)
    if bad:
        text += f"{bad} {fruit}{'s are' if bad > 1 else ' is'} bad and thrown away. "
        held = work.sub(held, bad, f"Of these {{}} {fruit}s are good.", slip=held)
    text += f"The {'good ones' if bad else fruit + 's'} are put in bags of {bag}. "
    bags = work.div(held, bag, "That fills {} bags.")
    if level == 3:
        text += f"A bag sells for ${price}. How many dollars do the bags bring?"
        return Asked(
            text, work.mul(bags, price, "They bring {} dollars.", slip=(held, "*", price)), (c, b, n, bad, bag, price)
        )
    return Asked(
        text + rng.choice(("How many bags does that fill?", "How many bags are there?")),
        bags,
        (c, b * (level > 1), n, bad, bag),
    )


def shelves(rng: Random, level: int, work: Work) -> Asked:
    """How much room is left?"""
    thing, a, r, p = (
        rng.choice(GOODS),
        amount(rng, level, (2, 9), (4, 12), (6, 18)),
        rng.randint(3, 9),
        amount(rng, level, (3, 12), (6, 15), (11, 25)),
    )
    kind = rng.choice(("wide", "deep"))
    other, q = rng.randint(2, 9), rng.randint(3, 15)
    room = a * p if level == 1 else a * r * p
    have = rng.randint(2, room - 2)
    if level == 1:
        text = f"A store has {a} {kind} shelves. Each shelf has room for {p} {thing}s. "
        total = work.mul(a, p, f"There is room for {{}} {thing}s.", slip=(a, "+", p))
    else:
        text = f"A store has {a} {kind} shelves with {r} boards each. Each board has room for {p} {thing}s. "
        boards = work.mul(a, r, "There are {} boards.", slip=a)
        total = work.mul(boards, p, f"They have room for {{}} {thing}s.")
    if level == 3:
        text += f"There are also {other} chests with room for {q} {thing}s each. "
        chests = work.mul(other, q, f"The chests have room for {{}} {thing}s.", slip=q)
        total = work.add(total, chests, f"In all there is room for {{}} {thing}s.")
    text += (
        rng.choice((f"Now {have} {thing}s are stored. ", f"The store holds {have} {thing}s now. "))
        + f"How many more {thing}s fit in?"
    )
    left = work.sub(total, have, f"So {{}} more {thing}s fit in.", slip=total)
    return Asked(text, left, (a, r * (level > 1), p, have, other * (level > 2), q * (level > 2)))


def halves(rng: Random, level: int, work: Work) -> Asked:
    """Half is sold and then some more; what was there at first?"""
    thing, who = rng.choice((*GOODS, *FRUIT)), person(rng)
    true = left = amount(rng, level, (2, 30), (3, 40), (5, 40))
    sold = [amount(rng, level, (2, 30), (2, 25), (3, 20)) for _ in range(level)]
    for k in sold:
        true = (true + k) * 2
    text = rng.choice((f"{who.name} sells {thing}s. ", f"{who.name} has a stall with {thing}s. "))
    for i, k in enumerate(reversed(sold)):
        day = ("On Monday", "On Tuesday", "On Wednesday")[i]
        text += f"{day} {who.he} sells half of {('them', 'the rest', 'what is left')[i]} and then {k} more. "
    text += f"After that {left} are left. How many {thing}s were there at first?"
    value: Number = left
    for i, k in enumerate(sold):
        day = ("Monday", "Tuesday", "Wednesday")[level - 1 - i]
        value = work.add(value, k, f"On {day}, half of the {thing}s were {{}}.", slip=value)
        value = work.mul(value, 2, f"So {day} began with {{}} {thing}s.", slip=value if i == level - 1 else None)
    return Asked(text, value, (left, *sold))


TEMPLATES = (stock, crates, shelves, halves)
