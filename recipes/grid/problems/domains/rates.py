"""Machines, tanks, crews, pages and pay: so much per hour."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import GOODS, aside, listed, person
from recipes.grid.problems.work import Asked, Number, Work


def machines(rng: Random, level: int, work: Work) -> Asked:
    """Two machines, one of which may start early."""
    thing = rng.choice(GOODS)
    p, q = (amount(rng, level, (2, 12), (6, 30), (15, 60)) for _ in range(2))
    hours, early = amount(rng, level, (2, 9), (2, 9), (3, 12)), rng.randint(2, 5)
    total = (p + q) * hours + (p * early if level > 1 else 0)
    text = f"An old machine makes {p} {thing}s per hour and a new one makes {q} per hour. "
    rest: Number = total
    if level > 1:
        text += f"The old machine works alone for {early} hours, then both work. "
        made = work.mul(p, early, f"Alone, the old machine makes {{}} {thing}s.")
        rest = work.sub(total, made, f"Then {{}} {thing}s are still to make.", slip=total)
    else:
        text += rng.choice(("Both work at the same time. ", "They run side by side. "))
    speed = work.add(p, q, f"Both together make {{}} {thing}s per hour.", slip=q)
    time = work.div(rest, speed, "They need {} hours together.")
    if level == 3:
        text += f"How many hours after the old machine started are {total} {thing}s done?"
        return Asked(text, work.add(early, time, "In all that is {} hours.", slip=time), (p, q, total, early))
    text += f"How many hours do both machines work together until {total} {thing}s are done?"
    return Asked(text, time, (p, q, total, early * (level > 1)))


def tank(rng: Random, level: int, work: Work) -> Asked:
    """Water runs in and out."""
    pipes = [amount(rng, level, (4, 19), (5, 30), (11, 40)) for _ in range(level)]
    out = rng.randint(2, sum(pipes) - 2)
    net, hours = sum(pipes) - out, amount(rng, level, (2, 12), (3, 15), (4, 19))
    already = rng.randint(5, 90)
    size = net * hours + (already if level == 3 else 0)
    flow: Number = pipes[0]
    if level == 1:
        text = f"A pipe lets {pipes[0]} litres per minute into a tank. "
    else:
        text = (
            f"{('Two', 'Three')[level - 2]} pipes let {listed([str(p) for p in pipes])} litres per minute into a tank. "
        )
        for more in pipes[1:]:
            flow = work.add(flow, more, "Together the pipes bring {} litres per minute.", slip=flow)
    text += f"At the same time {out} litres per minute run out through a drain. "
    gain = work.sub(flow, out, "With the drain the tank gains {} litres per minute.", slip=(flow, "+", out))
    room: Number = size
    if level == 3:
        text += f"The tank holds {size} litres and has {already} litres in it. "
        room = work.sub(size, already, "There is room for {} litres.", slip=size)
    else:
        text += f"The tank holds {size} litres and is empty. "
    text += rng.choice(("How many minutes does it take to fill?", "After how many minutes is it full?"))
    return Asked(text, work.div(room, gain, "It is full after {} minutes."), (*pipes, out, size, already * (level > 2)))


def crew(rng: Random, level: int, work: Work) -> Asked:
    """More hands, fewer days; some leave or join."""
    others: list[int] = []
    while not others:
        n, done = amount(rng, level, (2, 9), (4, 12), (6, 20)), rng.randint(2, 4)
        days = amount(rng, level, (3, 15), (5, 18), (8, 24))
        left = n * days if level == 1 else n * (days - done)
        others = [m for m in range(2, 31) if left % m == 0 and abs(m - n) > 1 and left // m > 1]
    other = rng.choice(others)
    job = rng.choice(("paint a school", "build a wall", "lay a road", "pick the fruit"))
    text = f"{n} workers need {days} days to {job}. "
    total = work.mul(n, days, "The whole job takes {} days of work by one worker.", slip=days if level == 1 else None)
    if level == 1:
        text += f"All work at the same speed. How many days do {other} workers need for the same job?"
        return Asked(text, work.div(total, other, f"With {other} workers it takes {{}} days."), (n, days, other))
    change = f"{n - other} of them leave" if other < n else f"{other - n} more workers join them"
    text += f"All work at the same speed. After {done} days {change}. "
    used = work.mul(n, done, f"In {done} days {{}} of these days are done.")
    rest = work.sub(total, used, "So {} days of work are left.", slip=total)
    now = "Now there are {} workers."
    hands = work.sub(n, n - other, now, slip=n) if other < n else work.add(n, other - n, now, slip=n)
    time = work.div(rest, hands, "They need {} more days.")
    if level == 2:
        return Asked(text + "How many more days does the job take?", time, (n, days, done, other))
    text += "How many days does the whole job take?"
    return Asked(text, work.add(done, time, "In all it takes {} days.", slip=time), (n, days, done, other))


def pieces(rng: Random, level: int, work: Work) -> Asked:
    """Per worker and per hour, then for others."""
    thing = rng.choice(GOODS)
    k, m = rng.sample(range(2, 10 if level < 3 else 16), 2)
    h, g = rng.sample(range(2, 9), 2)
    each, bad = amount(rng, level, (2, 12), (2, 9), (4, 19)), rng.randint(3, 20)
    if level == 1:
        text = f"In one hour {k} workers make {k * each} {thing}s, all at the same speed. "
        text += aside(rng, f"The factory is {rng.randint(5, 90)} years old.")
        one = work.div(k * each, k, f"One worker makes {{}} {thing}s per hour.")
        text += f"How many {thing}s do {m} workers make in {g} hours?"
        per = work.mul(one, m, f"{m} workers make {{}} {thing}s per hour.", slip=(k * each, "*", m))
        return Asked(text, work.mul(per, g, f"In {g} hours that is {{}} {thing}s.", slip=per), (k, each, m, g))
    text = f"All workers are equally fast. In {h} hours {k} workers make {k * h * each} {thing}s. "
    team = work.div(k * h * each, h, f"In one hour {k} workers make {{}} {thing}s.", slip=k * h * each)
    one = work.div(team, k, f"One worker makes {{}} {thing}s per hour.")
    per = work.mul(one, m, f"{m} workers make {{}} {thing}s per hour.")
    made = work.mul(per, g, f"In {g} hours that is {{}} {thing}s.", slip=(per, "*", h))
    if level == 3:
        bad = min(bad, m * g * each - 1)
        text += f"Then {m} workers make {thing}s for {g} hours, but {bad} {thing}s break. How many good ones are there?"
        return Asked(text, work.sub(made, bad, f"Of these {{}} {thing}s are good.", slip=made), (k, h, each, m, g, bad))
    return Asked(text + f"How many {thing}s do {m} workers make in {g} hours?", made, (k, h, each, m, g))


def pay(rng: Random, level: int, work: Work) -> Asked:
    """Normal hours and overtime."""
    who = person(rng)
    normal, extra = amount(rng, level, (3, 9), (6, 20), (20, 40)), amount(rng, level, (2, 6), (2, 9), (3, 15))
    wage, bonus = amount(rng, level, (4, 12), (8, 20), (11, 29)), amount(rng, level, (1, 5), (2, 8), (3, 12))
    tax = amount(rng, level, (1, 2), (3, 9), (15, 99))
    text = f"{who.name} earns ${wage} per hour for the first {normal} hours "
    if level == 1:
        text += f"and ${wage + bonus} for every hour after that. "
        text += f"{who.He} works {normal} hours and then {extra} hours more. "
        base = work.mul(normal, wage, f"The first {normal} hours bring {{}} dollars.")
        over = work.mul(
            extra, wage + bonus, f"The {extra} hours after that bring {{}} dollars.", slip=(extra, "*", wage)
        )
        text += rng.choice((f"How many dollars does {who.he} earn?", "How many dollars is that in all?"))
        return Asked(
            text, work.add(base, over, "Together that is {} dollars.", slip=base), (normal, wage, extra, bonus)
        )
    text += f"of the week. Every hour after that brings ${bonus} more per hour. {who.He} works {normal + extra} hours. "
    base = work.mul(normal, wage, f"The first {normal} hours bring {{}} dollars.")
    late = work.sub(normal + extra, normal, "There are {} hours after that.", slip=normal + extra)
    rate = work.add(wage, bonus, "Each of these brings {} dollars.", slip=bonus)
    over = work.mul(late, rate, "Together these bring {} dollars.")
    total = work.add(base, over, "The week brings {} dollars.")
    if level == 3:
        text += f"Then ${tax} are taken off for tax. "
        total = work.sub(total, tax, "After tax {} dollars are left.", slip=(total, "+", tax))
    text += f"How many dollars does {who.he} get?"
    return Asked(text, total, (normal, wage, extra, bonus, tax * (level > 2)))


TEMPLATES = (machines, tank, crew, pieces, pay)
