"""Speeds, meetings, pursuits, fuel, and a bus that fills and empties."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import ORDER, aside, people, person
from recipes.grid.problems.work import Asked, Number, Work


def legs(rng: Random, level: int, work: Work) -> Asked:
    """Two legs: the distance, or the average speed of the whole."""
    who = person(rng)
    t1, t2, stop = rng.randint(2, 6), rng.randint(2, 6), rng.randint(1, 3)
    hours, choices = t1 + t2 + (stop if level == 3 else 0), list[int]()
    while not choices:
        v1 = amount(rng, level, (3, 19), (20, 60), (45, 110))
        choices = [v for v in range(v1 // 2 + 1, v1 * 2) if v != v1 and (level == 1 or (v1 * t1 + v * t2) % hours == 0)]
    v2 = rng.choice(choices)
    text = f"{who.name} {'drives' if level > 1 else 'rides'} {t1} hours at {v1} km per hour "
    text += f"and then {t2} hours at {v2} km per hour. "
    one = work.mul(v1, t1, "The first part is {} km long.")
    two = work.mul(v2, t2, "The second part is {} km long.", slip=(v2, "*", t1))
    way = work.add(one, two, "The whole way is {} km.", slip=two if level == 1 else None)
    if level == 1:
        text += rng.choice(("How many km is that in all?", f"How many km long is {who.his} whole way?"))
        return Asked(text, way, (t1, v1, t2, v2))
    time = work.add(t1, t2, "Both parts take {} hours.")
    if level == 3:
        text += f"Between the two parts {who.he} rests for {stop} hour{'s' * (stop > 1)}. "
        time = work.add(time, stop, "With the rest it takes {} hours.", slip=time)
    text += f"What is {who.his} average speed in km per hour" + (
        " for the whole trip, rest included?" if level == 3 else "?"
    )
    speed = work.div(way, time, "The average speed is {} km per hour.", slip=(v1 + v2, "/", 2))
    return Asked(text, speed, (t1, v1, t2, v2, stop * (level > 2)))


def meeting(rng: Random, level: int, work: Work) -> Asked:
    """Two people on one road toward each other."""
    a, b = people(rng, 2)
    va, vb = (amount(rng, level, (2, 12), (8, 30), (25, 80)) for _ in range(2))
    hours, early = amount(rng, level, (2, 9), (2, 8), (2, 6)), rng.randint(1, 4)
    gap = (va + vb) * hours + (va * early if level == 3 else 0)
    text = rng.choice((f"{a.name} and {b.name} live {gap} km apart. ", f"{a.name} and {b.name} are {gap} km apart. "))
    ride, ridden = ("ride", "ridden") if level == 1 else ("drive", "driven")
    text += f"They {ride} toward each other, {a.name} at {va} km per hour and {b.name} at {vb} km per hour. "
    rest: Number = gap
    if level == 3:
        text += f"{a.name} starts {early} hour{'s' * (early > 1)} before {b.name}. "
        ahead = work.mul(va, early, f"Before {b.name} starts, {a.name} covers {{}} km.")
        rest = work.sub(rest, ahead, "Then they are {} km apart.", slip=rest)
    closing = work.add(
        va, vb, "Together they cover {} km per hour.", slip=(max(va, vb), "-", min(va, vb)) if va != vb else None
    )
    time = work.div(rest, closing, f"They meet {{}} hours after {b.name if level == 3 else 'they'} started.")
    if level == 1:
        return Asked(text + "After how many hours do they meet?", time, (gap, va, vb))
    text += f"How many km has {b.name if level == 3 else a.name} {ridden} when they meet?"
    speed, who = (vb, b) if level == 3 else (va, a)
    way = work.mul(speed, time, f"By then {who.name} has {ridden} {{}} km.", slip=(va + vb - speed, "*", time))
    return Asked(text, way, (gap, va, vb, early * (level > 2)))


def pursuit(rng: Random, level: int, work: Work) -> Asked:
    """A faster one follows a slower one."""
    a, b = people(rng, 2)
    diff, time = rng.randint(2, 9 if level == 1 else 15), rng.randint(2, 6)
    head = rng.choice([h for h in range(1, 9) if (diff * time) % h == 0])
    slow = diff * time // head
    home = (slow + diff) * time + amount(rng, level, (1, 9), (5, 40), (11, 150))
    hours = f"{head} hour{'s' * (head > 1)}"
    text = (
        f"{a.name} walks off at {slow} km per hour. " if slow <= 6 else f"{a.name} drives off at {slow} km per hour. "
    )
    text += f"{b.name} follows on the same road {hours} later at {slow + diff} km per hour. "
    lead = work.mul(slow, head, f"By then {a.name} is {{}} km ahead.", slip=slow if head > 1 else None)
    closing = work.sub(slow + diff, slow, f"Every hour {b.name} gets {{}} km closer.", slip=(slow + diff, "+", slow))
    wait = work.div(lead, closing, f"{b.name} needs {{}} hours to catch up.")
    if level == 1:
        text += rng.choice(
            (
                f"How many hours does {b.name} need to catch up?",
                f"For how many hours does {b.name} go until they are level?",
            )
        )
        return Asked(text, wait, (slow, head, diff))
    way = work.mul(wait, slow + diff, f"In that time {b.name} goes {{}} km.", slip=(wait, "*", slow))
    if level == 2:
        return Asked(text + f"How many km from the start does {b.name} catch up?", way, (slow, head, diff))
    text += f"The road is {home} km long. When {b.name} catches up, how many km of it are left?"
    return Asked(text, work.sub(home, way, "Of the road {} km are left.", slip=way), (slow, head, diff, home))


def fuel(rng: Random, level: int, work: Work) -> Asked:
    """Litres and money for a trip there and back."""
    who = person(rng)
    hundreds, per = amount(rng, level, (2, 15), (2, 15), (2, 5)), amount(rng, level, (3, 12), (4, 12), (5, 19))
    price, riders = amount(rng, level, (2, 4), (2, 5), (2, 6)), rng.randint(2, 5)
    if level == 3:
        hundreds *= riders
    one_way = hundreds * 50 if level > 1 else hundreds * 100
    text = f"A car needs {per} litres of fuel for every 100 km. "
    text += aside(rng, f"It is {rng.randint(2, 12)} years old.", f"Its tank holds {rng.randint(40, 70)} litres.")
    way: Number = one_way
    if level > 1:
        text += f"{who.name} drives to a town {one_way} km away and back. "
        way = work.mul(way, 2, "There and back is {} km.", slip=way)
    else:
        text += f"{who.name} drives {one_way} km. "
    parts = work.div(way, 100, "That is {} times 100 km.")
    litres = work.mul(parts, per, "The car needs {} litres.", slip=(parts, "+", per))
    if level == 1 and rng.random() < 0.5:
        return Asked(text + "How many litres of fuel does the car need?", litres, (one_way, per))
    cost = work.mul(litres, price, "The fuel costs {} dollars.", slip=(parts, "*", price))
    text += f"A litre costs ${price}. "
    if level == 3:
        text += f"The {riders} people in the car share the cost evenly. How many dollars does each of them pay?"
        return Asked(text, work.div(cost, riders, "Each pays {} dollars.", slip=cost), (one_way, per, price, riders))
    return Asked(text + "How many dollars does the fuel cost?", cost, (one_way, per, price))


def bus(rng: Random, level: int, work: Work) -> Asked:
    """People get off and on at every stop."""
    inside = amount(rng, level, (9, 30), (20, 50), (30, 60))
    text = rng.choice((f"A bus leaves with {inside} people. ", f"There are {inside} people on a bus. "))
    text += aside(rng, f"It has {rng.randint(61, 80)} seats.", f"It is bus number {rng.randint(2, 60)}.")
    numbers, now, true = [inside], inside, inside
    left: Number = now
    for stop in range(level):
        off, on = rng.randint(2, true - 3), amount(rng, level, (2, 15), (3, 20), (3, 25))
        true += on - off
        numbers += [off, on]
        text += f"At the {ORDER[stop]} stop {off} people get off and {on} get on. "
        left = work.sub(left, off, f"At the {ORDER[stop]} stop {{}} people stay on.", slip=(left, "+", off))
        left = work.add(left, on, "With the new ones there are {} people.", slip=left)
    text += rng.choice(("How many people are on the bus then?", "How many people does the bus carry now?"))
    return Asked(text, left, tuple(numbers))


TEMPLATES = (legs, meeting, pursuit, fuel, bus)
