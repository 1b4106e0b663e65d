"""Fences, floors, frames, boxes, angles and bent wire."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, person
from recipes.grid.problems.work import Asked, Number, Work


def fence(rng: Random, level: int, work: Work) -> Asked:
    """Around a garden, but for the gate."""
    who = person(rng)
    wide, k, d = amount(rng, level, (3, 20), (5, 30), (11, 40)), rng.randint(2, 3), rng.randint(2, 9)
    long = wide * k + d if level == 3 else wide + rng.randint(1, 20)
    gate, price = rng.randint(1, 4), amount(rng, level, (2, 3), (3, 12), (11, 29))
    gate_said = f"{gate} metre{'s' * (gate > 1)}"
    side: Number = long
    if level == 3:
        text = f"A garden is {wide} metres wide. "
        text += f"Its length is {d} metres more than {('twice', 'three times')[k - 2]} its width. "
        side = work.mul(
            wide, k, f"{('Twice', 'Three times')[k - 2]} the width is {{}} metres.", slip=(wide + d, "*", k)
        )
        side = work.add(side, d, "So the length is {} metres.")
    else:
        text = rng.choice(
            (
                f"A garden is {long} metres long and {wide} metres wide. ",
                f"A field measures {long} metres by {wide} metres. ",
            )
        )
    text += f"{who.name} builds a fence around it and leaves {gate_said} open for a gate. "
    half = work.add(side, wide, "Length and width together are {} metres.")
    around = work.mul(half, 2, "Once around is {} metres.", slip=half)
    built = work.sub(around, gate, "Without the gate it is {} metres.", slip=around)
    if level == 1:
        return Asked(text + "How many metres of fence are needed?", built, (long, wide, gate))
    text += f"A metre of fence costs ${price}. How many dollars does the fence cost?"
    return Asked(
        text, work.mul(built, price, "The fence costs {} dollars."), (long, wide, gate, price, k * (level > 2))
    )


def floor(rng: Random, level: int, work: Work) -> Asked:
    """The floor around a rug, and what covering it costs."""
    long, wide = (amount(rng, level, (4, 12), (8, 20), (15, 40)) for _ in range(2))
    price, have = rng.randint(2, 9), rng.randint(5, 60)
    long, wide = max(long, wide), min(long, wide)
    a, b = rng.randint(2, long - 1), rng.randint(2, wide - 1)
    text = f"A hall is {long} metres long and {wide} metres wide. "
    text += rng.choice(
        (
            f"A stage of {a} metres by {b} metres stands in it. ",
            f"A rug of {a} metres by {b} metres lies on its floor. ",
        )
    )
    whole = work.mul(long, wide, "The hall has {} square metres.", slip=(long, "+", wide))
    part = work.mul(a, b, "{} square metres are covered.")
    free = work.sub(whole, part, "So {} square metres are free.", slip=whole)
    if level == 1:
        return Asked(text + "How many square metres of the floor are free?", free, (long, wide, a, b))
    cost = work.mul(free, price, "Painting them costs {} dollars.", slip=(whole, "*", price))
    text += f"Painting the free part costs ${price} per square metre. "
    if level == 3:
        text += f"The painter also takes ${have} for the drive. "
        cost = work.add(cost, have, "With the drive it is {} dollars.", slip=cost)
    return Asked(text + "How many dollars is that in all?", cost, (long, wide, a, b, price, have * (level > 2)))


def frame(rng: Random, level: int, work: Work) -> Asked:
    """A border on all four sides."""
    thing, border = rng.choice((("picture", "frame"), ("pool", "path"), ("lawn", "path")))
    unit = "cm" if thing == "picture" else "metres"
    long, wide, b = (
        amount(rng, level, (4, 30), (6, 20), (12, 40)),
        amount(rng, level, (3, 25), (5, 18), (11, 35)),
        amount(rng, level, (2, 5), (2, 4), (2, 6)),
    )
    long, wide = max(long, wide), min(long, wide)
    text = rng.choice(
        (
            f"A {thing} is {long} {unit} long and {wide} {unit} wide. ",
            f"A {thing} measures {long} {unit} by {wide} {unit}. ",
        )
    )
    text += f"Around it on all sides runs a {border} that is {b} {unit} wide. "
    both = work.mul(2, b, f"Two sides of the {border} add {{}} {unit}.", slip=b)
    if level == 1:
        text += f"How many {unit} long is the {thing} together with the {border}?"
        return Asked(text, work.add(long, both, f"So the length is {{}} {unit}."), (long, b))
    outer_long = work.add(long, both, f"Outside, the length is {{}} {unit}.")
    outer_wide = work.add(wide, both, f"Outside, the width is {{}} {unit}.", slip=wide)
    outer = work.mul(outer_long, outer_wide, f"The outer area is {{}} square {unit}.")
    if level == 2:
        text += f"How many square {unit} do the {thing} and the {border} cover together?"
        return Asked(text, outer, (long, wide, b))
    inner = work.mul(long, wide, f"The {thing} has {{}} square {unit}.", slip=(long, "+", wide))
    text += f"How many square {unit} does the {border} alone cover?"
    return Asked(text, work.sub(outer, inner, f"The {border} covers {{}} square {unit}.", slip=outer), (long, wide, b))


def box(rng: Random, level: int, work: Work) -> Asked:
    """A volume, filled or emptied in steps."""
    a, b, h = (amount(rng, level, (2, 9), (3, 12), (6, 19)) for _ in range(3))
    a, b, down = max(a, b), min(a, b), rng.randint(1, h - 1)
    text = f"A tank is {a} dm long, {b} dm wide and {h} dm high. A cubic dm is one litre. "
    text += (
        aside(rng, f"It stands {rng.randint(2, 9)} metres from the wall.", f"It cost ${rng.randint(20, 90)}.")
        if level < 3
        else ""
    )
    base = work.mul(a, b, "The bottom has {} square dm.", slip=(a, "+", b))
    if level == 1:
        text += rng.choice(("How many litres does it hold?", "How many litres of water fit in?"))
        return Asked(text, work.mul(base, h, "So it holds {} litres."), (a, b, h))
    full = work.mul(base, h, "Full, it holds {} litres.")
    out = a * b * down
    rest = work.sub(full, out, "Then {} litres are in it.", slip=out)
    text += f"The tank is full, then {out} litres are taken out. How many dm high is the water"
    deep = work.div(rest, base, "The water is {} dm high.", slip=(rest, "/", a) if level == 2 else None)
    if level == 2:
        return Asked(text + " then?", deep, (a, b, h, down))
    gone = work.sub(h, deep, "So it has sunk by {} dm.", slip=deep)
    text = text.replace("How many dm high is the water", "By how many dm does the water sink")
    return Asked(text + "?", gone, (a, b, h, down))


def angles(rng: Random, level: int, work: Work) -> Asked:
    """The angles of a triangle add up to 180 degrees, of a quadrilateral to 360."""
    if level == 1:
        a, b = rng.randint(20, 100), rng.randint(15, 70)
        text = rng.choice(
            (f"Two angles of a triangle are {a} and {b} degrees. ", f"A triangle has angles of {a} and {b} degrees. ")
        )
        text += "The three angles of a triangle always add up to 180 degrees. How many degrees is the third angle?"
        two = work.add(a, b, "The two angles have {} degrees together.", slip=a)
        return Asked(text, work.sub(180, two, "The third angle has {} degrees."), (a, b))
    k, corners = rng.randint(2, 5), ("triangle", 180) if level == 2 else ("quadrilateral", 360)
    name, total = corners
    d = rng.choice([n for n in range(2, total // 3) if (total - n) % (k + 2) == 0])
    extra = rng.randint(60, 120)
    if level == 3:
        d = rng.choice([n for n in range(56, 90) if (total - extra - n) % (k + 2) == 0])
    text = f"The angles of a {name} add up to {total} degrees. Angle B is {k} times angle A. "
    text += f"Angle C is {d} degrees more than angle A. "
    rest: Number = total
    if level == 3:
        text += f"Angle D is {extra} degrees. "
        rest = work.sub(rest, extra, "A, B and C have {} degrees together.", slip=(180, "-", extra))
    rest = work.sub(rest, d, f"Without the {d} degrees more it is {{}} degrees.", slip=rest)
    parts = work.add(k, 2, "That is {} times angle A.", slip=(k, "+", 1))
    one = work.div(rest, parts, "Angle A is {} degrees.")
    ask = rng.choice("BC")
    big = (
        work.mul(one, k, "Angle B is {} degrees.", slip=one)
        if ask == "B"
        else work.add(one, d, "Angle C is {} degrees.", slip=one)
    )
    return Asked(text + f"How many degrees is angle {ask}?", big, (k, d, extra * (level > 2), ask))


def wire(rng: Random, level: int, work: Work) -> Asked:
    """A rectangle of wire becomes a square."""
    side = amount(rng, level, (4, 30), (6, 30), (16, 49))
    off = rng.randint(1, side - 2)
    long, wide = side + off, side - off
    text = f"A wire is bent into a rectangle {long} cm long and {wide} cm wide. "
    text += rng.choice(("Then it is bent into a square. ", "After that the same wire is made into a square. "))
    half = work.add(long, wide, "Length and width together are {} cm.")
    around = work.mul(half, 2, "The wire is {} cm long.", slip=half)
    edge = work.div(around, 4, "One side of the square is {} cm.")
    if level == 1:
        return Asked(text + "How many cm long is one side of the square?", edge, (long, wide))
    area = work.mul(edge, edge, "The square has {} square cm.", slip=(edge, "*", 4))
    if level == 2:
        return Asked(text + "How many square cm is the area of the square?", area, (long, wide))
    first = work.mul(long, wide, "The rectangle has {} square cm.")
    text += "By how many square cm is the area of the square larger than that of the rectangle?"
    return Asked(text, work.sub(area, first, "The square is {} square cm larger.", slip=area), (long, wide))


TEMPLATES = (fence, floor, frame, box, angles, wire)
