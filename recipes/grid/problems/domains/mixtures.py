"""Blends, ratios, parts and salt water."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, people, person
from recipes.grid.problems.work import Asked, Number, Work

GRAINS = ("coffee", "tea", "rice", "flour", "nuts")


def blend(rng: Random, level: int, work: Work) -> Asked:
    """Two sorts at two prices."""
    who, what = person(rng), rng.choice(GRAINS)
    x, y = (amount(rng, level, (2, 9), (2, 15), (11, 30)) for _ in range(2))
    a = amount(rng, level, (2, 12), (4, 19), (6, 25))
    b = rng.choice([p for p in range(a + 1, a + 25) if level != 2 or (x * a + y * p) % (x + y) == 0] or [a])
    text = f"{who.name} mixes {x} kg of {what} at ${a} per kg with {y} kg of {what} at ${b} per kg. "
    one = work.mul(x, a, "The first sort costs {} dollars.")
    two = work.mul(y, b, "The second sort costs {} dollars.", slip=(x, "*", b) if x != y else None)
    cost = work.add(one, two, "Together they cost {} dollars.")
    if level == 1:
        text += rng.choice(
            ("How many dollars does the mixture cost in all?", "What is the whole mixture worth in dollars?")
        )
        return Asked(text, cost, (x, a, y, b))
    weight = work.add(x, y, "The mixture weighs {} kg.")
    if level == 2:
        text += "How many dollars does one kg of the mixture cost?"
        price = work.div(cost, weight, "One kg costs {} dollars.", slip=(a + b, "/", 2))
        return Asked(text, price, (x, a, y, b))
    sale = b + rng.randint(1, 12)
    text += f"{who.He} sells the whole mixture at ${sale} per kg. How many dollars of profit is that?"
    income = work.mul(weight, sale, "The sale brings {} dollars.", slip=(y, "*", sale))
    return Asked(text, work.sub(income, cost, "The profit is {} dollars.", slip=income), (x, a, y, b, sale))


def ratio(rng: Random, level: int, work: Work) -> Asked:
    """A total shared in a ratio."""
    who = people(rng, 3)
    parts = [rng.randint(2, 9) for _ in range(3 if level == 3 else 2)]
    parts[1] = parts[0] + rng.randint(1, 5)
    unit, gift = amount(rng, level, (2, 15), (6, 40), (12, 60)), rng.randint(2, 30)
    total = sum(parts) * unit
    names = [p.name for p in who[: len(parts)]]
    said = " and ".join(names) if len(names) == 2 else f"{names[0]}, {names[1]} and {names[2]}"
    text = rng.choice((f"{said} share ${total} in the ratio ", f"A prize of ${total} goes to {said} in the ratio "))
    text += ":".join(map(str, parts)) + ". "
    whole: Number = parts[0]
    for p in parts[1:]:
        whole = work.add(
            whole,
            p,
            "So far there are {} parts." if p is not parts[-1] else "In all there are {} parts.",
            slip=p if level == 1 else None,
        )
    one = work.div(total, whole, "One part is {} dollars.", slip=(total, "/", len(parts)) if level > 1 else None)
    mine = work.mul(one, parts[1], f"{names[1]} gets {{}} dollars.", slip=(one, "*", parts[0]))
    if level == 1:
        return Asked(text + f"How many dollars does {names[1]} get?", mine, (*parts, total))
    if level == 2:
        text += (
            f"From this {names[1]} gives away ${min(gift, parts[1] * unit - 2)}. How many dollars does {names[1]} keep?"
        )
        kept = work.sub(mine, min(gift, parts[1] * unit - 2), f"{names[1]} keeps {{}} dollars.", slip=mine)
        return Asked(text, kept, (*parts, total, gift))
    less = work.mul(one, parts[0], f"{names[0]} gets {{}} dollars.")
    text += f"How many dollars more than {names[0]} does {names[1]} get?"
    return Asked(text, work.sub(mine, less, "The difference is {} dollars.", slip=mine), (*parts, total))


def paint(rng: Random, level: int, work: Work) -> Asked:
    """Parts of one colour for parts of another."""
    who = person(rng)
    blue, white = rng.sample(range(2, 10), 2)
    unit = amount(rng, level, (2, 12), (4, 15), (12, 40))
    first, second = rng.choice((("blue", "white"), ("red", "yellow"), ("green", "white")))
    total, price = (blue + white) * unit, amount(rng, level, (2, 9), (3, 12), (11, 25))
    can = rng.choice([c for c in range(2, 13) if total % c == 0] or [1])
    text = f"For one colour you mix {blue} parts of {first} paint with {white} parts of {second} paint. "
    text += rng.choice(
        (
            f"{who.name} uses {blue * unit} litres of {first} paint. ",
            f"{who.name} takes {blue * unit} litres of {first}. ",
        )
    )
    one = work.div(blue * unit, blue, "One part is {} litres.", slip=(blue * unit, "/", blue + white))
    other = work.mul(one, white, f"So {{}} litres of {second} are needed.")
    if level == 1:
        return Asked(text + f"How many litres of {second} paint are needed?", other, (blue, white, unit))
    mixed = work.add(blue * unit, other, "That gives {} litres of the new colour.", slip=other)
    if level == 2 or can == 1:
        text += f"A litre of the new colour is worth ${price}. How many dollars is all of it worth?"
        return Asked(text, work.mul(mixed, price, "All of it is worth {} dollars."), (blue, white, unit, price))
    text += f"The new colour is filled into cans of {can} litres. "
    text += f"A can sells for ${price}. How many dollars do all the cans bring?"
    cans = work.div(mixed, can, "That fills {} cans.", slip=mixed)
    return Asked(text, work.mul(cans, price, "They bring {} dollars."), (blue, white, unit, can, price))


def brine(rng: Random, level: int, work: Work) -> Asked:
    """Salt water of two strengths poured together."""
    step = (50, 20, 10)[level - 1]
    while True:
        x, y, water = (step * rng.randint(2, 20) for _ in range(3))
        p, q = rng.sample(range(2, 40, 2) if level == 1 else range(5, 60, 5), 2)
        salt, total = x * p + y * q, x + y + (water if level == 3 else 0)
        if level == 1 or (salt % total == 0 and x * p % 100 == y * q % 100 == 0):
            break
    text = f"A jar has {x} g of salt water with {p}% salt. Another has {y} g with {q}% salt. "
    text += (
        aside(rng, f"Each jar is {rng.randint(12, 30)} cm high.", f"There are {rng.randint(3, 9)} more jars.")
        if level < 3
        else ""
    )
    one = work.percent(x, p, "The first jar has {} g of salt.")
    two = work.percent(y, q, "The second jar has {} g of salt.", slip=(y, "%", p))
    both = work.add(one, two, "Together that is {} g of salt.")
    if level == 1:
        text += rng.choice(
            ("How many grams of salt are in both jars together?", "How many grams of salt is that in all?")
        )
        return Asked(text, both, (x, p, y, q))
    weight = work.add(x, y, "Poured together they weigh {} g.")
    if level == 3:
        text += f"Both are poured together with {water} g of pure water. "
        weight = work.add(weight, water, "With the water it is {} g.", slip=weight)
    else:
        text += "Both are poured together. "
    text += rng.choice(("What percent of the mixture is salt?", "How many percent salt does the mixture have?"))
    one_percent = work.div(weight, 100, "One percent of the mixture is {} g.")
    strength = work.div(both, one_percent, "So the salt is {} percent.", slip=(p + q, "/", 2))
    return Asked(text, strength, (x, p, y, q, water * (level > 2)))


TEMPLATES = (blend, ratio, paint, brine)
