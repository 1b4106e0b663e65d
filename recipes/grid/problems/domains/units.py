"""Metres and centimetres, hours and minutes, grams and kilograms, drops, and coins of a fairy tale."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, person
from recipes.grid.problems.work import Asked, Number, Work


def ribbons(rng: Random, level: int, work: Work) -> Asked:
    """Metres and centimetres cut into pieces."""
    thing, piece = rng.choice(("ribbon", "rope", "wire", "board")), rng.choice((4, 5, 8, 10, 15, 20, 25))
    pieces = amount(rng, level, (11, 40), (15, 60), (30, 90))
    waste, many = rng.randint(2, 30), amount(rng, level, (2, 3), (2, 5), (3, 12))
    pieces += 100 // piece  # so that it is longer than a metre
    length = piece * pieces + (waste if level > 1 else 0)
    metres, cm = divmod(length, 100)
    text = f"A {thing} is {metres} metre{'s' * (metres > 1)}{f' {cm} cm' * (cm > 0)} long. "
    whole = work.mul(metres, 100, "The metres are {} cm.", slip=(metres, "*", 10))
    if cm:
        whole = work.add(whole, cm, f"The {thing} is {{}} cm long.")
    if level > 1:
        text += f"{waste} cm are damaged and cut off. "
        whole = work.sub(whole, waste, "Without the damaged end it is {} cm.", slip=whole)
    text += f"It is cut into pieces of {piece} cm. "
    count = work.div(whole, piece, "That makes {} pieces.")
    if level == 3:
        text += f"Each piece sells for ${many}. How many dollars do all pieces bring?"
        return Asked(text, work.mul(count, many, "They bring {} dollars."), (length, piece, waste, many))
    text += rng.choice(("How many pieces are there?", "How many pieces does that make?"))
    return Asked(text, count, (length, piece, waste * (level > 1)))


def practice(rng: Random, level: int, work: Work) -> Asked:
    """Hours and minutes a day, for days."""
    who, what = person(rng), rng.choice(("plays the piano", "reads", "runs", "paints", "trains"))
    hours, minutes = amount(rng, level, (1, 3), (1, 4), (2, 5)), 5 * rng.randint(1, 11)
    pause, days = 5 * rng.randint(1, 4), amount(rng, level, (2, 9), (3, 12), (11, 28))
    done = rng.randint(20, 300)
    text = f"Every day {who.name} {what} for {hours} hour{'s' * (hours > 1)} and {minutes} minutes. "
    base = work.mul(hours, 60, "The hours are {} minutes.", slip=(hours, "*", 100))
    daily: Number = work.add(
        base, minutes, "With the minutes it is {} minutes a day.", slip=base if level == 1 else None
    )
    if level > 1:
        text += f"Of this, {pause} minutes are a break. "
        daily = work.sub(daily, pause, "Without the break it is {} minutes.", slip=daily)
    total = work.mul(
        daily, days, f"In {days} days that is {{}} minutes.", slip=(daily, "+", days) if level == 1 else None
    )
    text += aside(
        rng, f"{who.He} is {rng.randint(12, 30)} years old.", f"{who.He} began {rng.randint(2, 8)} years ago."
    )
    what_counts = " without the breaks" if level > 1 else ""
    if level == 3:
        goal = (hours * 60 + minutes - pause) * days + done
        text += f"The goal for {days} days is {goal} minutes{what_counts}. How many minutes are missing?"
        return Asked(
            text, work.sub(goal, total, "So {} minutes are missing.", slip=total), (hours, minutes, pause, days, done)
        )
    return Asked(
        text + f"How many minutes is that in {days} days{what_counts}?",
        total,
        (hours, minutes, pause * (level > 1), days),
    )


def parcels(rng: Random, level: int, work: Work) -> Asked:
    """Grams and kilograms in one crate."""
    thing = rng.choice(("book", "cup", "ball", "toy", "candle", "plate"))
    n, grams = amount(rng, level, (2, 9), (3, 15), (11, 30)), amount(rng, level, (2, 19), (2, 19), (4, 30)) * 50
    crate, crates = rng.randint(1, 9), rng.randint(2, 6)
    out = rng.randint(1, max(1, n - 2))
    text = rng.choice(
        (f"A crate holds {n} {thing}s of {grams} g each. ", f"In a crate lie {n} {thing}s. Each weighs {grams} g. ")
    )
    text += f"The empty crate weighs {crate} kg. "
    inside: Number = n
    if level == 3:
        text += f"Then {out} {thing}{'s are' if out > 1 else ' is'} taken out. "
        inside = work.sub(n, out, f"Now {{}} {thing}s are in the crate.", slip=n)
    load = work.mul(inside, grams, f"The {thing}s weigh {{}} g.", slip=grams if level == 1 else None)
    box = work.mul(crate, 1000, "The crate weighs {} g.", slip=crate)
    both = work.add(load, box, "Together that is {} g.", slip=load)
    if level == 1:
        return Asked(text + "How many grams does the full crate weigh?", both, (n, grams, crate))
    if level == 3:
        text += "How many kg does it all weigh now?"
        return Asked(text, work.div(both, 1000, "That is {} kg.", slip=(both, "/", 100)), (n, grams, crate, out))
    text += f"How many grams do {crates} such full crates weigh?"
    return Asked(text, work.mul(both, crates, f"Then {crates} crates weigh {{}} g."), (n, grams, crate, crates))


def tap(rng: Random, level: int, work: Work) -> Asked:
    """A slow leak for many hours."""
    drip, hours = (
        amount(rng, level, (4, 60), (1, 15), (2, 30)) * (5 if level > 1 else 1),
        amount(rng, level, (2, 12), (2, 20), (5, 30)),
    )
    second = 5 * rng.randint(1, 12) * 2
    drip = drip * 2 if level == 3 else drip
    text = rng.choice(
        (f"A tap loses {drip} ml of water every minute. ", f"From a tap run {drip} ml of water every minute. ")
    )
    text += (
        aside(rng, f"The house has {rng.randint(2, 9)} taps.", f"The pipe is {rng.randint(3, 40)} years old.")
        if level < 3
        else ""
    )
    flow: Number = drip
    if level == 3:
        text += f"A second tap loses {second} ml a minute. "
        flow = work.add(drip, second, "Both lose {} ml a minute.", slip=drip)
    hourly = work.mul(flow, 60, "In an hour that is {} ml.", slip=flow)
    total = work.mul(hourly, hours, f"In {hours} hours it is {{}} ml.", slip=hourly if level == 1 else None)
    if level == 1:
        return Asked(text + f"How many ml are lost in {hours} hours?", total, (drip, hours))
    text += f"How many litres are lost in {hours} hours?"
    return Asked(
        text, work.div(total, 1000, "That is {} litres.", slip=(total, "/", 100)), (drip, hours, second * (level > 2))
    )


def coins(rng: Random, level: int, work: Work) -> Asked:
    """Gold, silver and copper in a fairy tale."""
    who = rng.choice(("A king", "A queen", "A wizard", "A giant"))
    s, c = rng.sample(range(3, 13), 2)
    gold, silver, copper = (amount(rng, level, (2, 9), (3, 15), (11, 29)) for _ in range(3))
    text = f"A gold coin is worth {s} silver coins. " + (
        f"A silver coin is worth {c} copper coins. " if level > 1 else ""
    )
    if level == 1:
        has = gold * s + silver
        price = rng.randint(2, has - 1)
        text += f"{who} has {gold} gold and {silver} silver coins "
        text += f"and buys a hat for {price} silver coins. How much is left, in silver coins?"
        value = work.mul(gold, s, "The gold is worth {} silver coins.", slip=gold)
        value = work.add(value, silver, "With the silver it is {} silver coins.")
        return Asked(
            text,
            work.sub(value, price, "After buying, {} silver coins are left.", slip=value),
            (s, gold, silver, price),
        )
    text += f"{who} has {gold} gold, {silver} silver and {copper} copper coins. "
    value = work.mul(gold, s, "The gold is worth {} silver coins.")
    value = work.add(value, silver, "With the silver it is {} silver coins.", slip=value)
    value = work.mul(value, c, "That is worth {} copper coins.", slip=(value, "*", s))
    value = work.add(value, copper, "With the copper it is {} copper coins.")
    numbers = (s, c, gold, silver, copper)
    if level == 2:
        return Asked(text + "How many copper coins is all of it worth?", value, numbers)
    price = rng.randint(20, (gold * s + silver) * c)
    text += f"A horse costs {price} copper coins. How much is left after buying it, in copper coins?"
    return Asked(
        text, work.sub(value, price, "After buying it {} copper coins are left.", slip=value), (*numbers, price)
    )


TEMPLATES = (ribbons, practice, parcels, tap, coins)
