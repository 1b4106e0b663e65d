"""Baskets, offers, saving up, cards and coupons, comparing shops."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import GOODS, aside, listed, person
from recipes.grid.problems.work import Asked, Number, Work


def basket(rng: Random, level: int, work: Work) -> Asked:
    """Several kinds of things, paid with one note."""
    who, kinds = person(rng), level if level > 1 else rng.randint(1, 2)
    change = level > 1 or kinds == 1
    things = rng.sample(GOODS, kinds)
    counts = [amount(rng, level, (2, 9), (3, 15), (11, 29)) for _ in things]
    prices = [amount(rng, level, (2, 12), (3, 19), (11, 29)) for _ in things]
    note = sum(c * p for c, p in zip(counts, prices, strict=True)) + amount(rng, level, (2, 30), (5, 80), (11, 150))
    said = listed([f"{c} {t}s at ${p} each" for c, t, p in zip(counts, things, prices, strict=True)])
    text = aside(rng, f"The shop has {rng.randint(2, 9)} floors.", f"The shop opened {rng.randint(3, 20)} years ago.")
    text += rng.choice((f"{who.name} buys {said}. ", f"{who.name} goes shopping and takes {said}. "))
    costs = [
        work.mul(c, p, f"The {c} {t}s cost {{}} dollars.", slip=(c, "+", p))
        for c, t, p in zip(counts, things, prices, strict=True)
    ]
    total = costs[0]
    for cost in costs[1:]:
        total = work.add(total, cost, "Together that is {} dollars.", slip=total)
    if not change:
        text += rng.choice((f"How many dollars does {who.he} pay?", "How many dollars is that altogether?"))
        return Asked(text, total, (*counts, *prices))
    text += f"{who.He} has ${note}. How many dollars are left after paying?"
    left = work.sub(note, total, f"Of {note} dollars, {{}} dollars are left.", slip=total)
    return Asked(text, left, (*counts, *prices, note))


def offer(rng: Random, level: int, work: Work) -> Asked:
    """One free for every few paid for."""
    who, thing = person(rng), rng.choice(GOODS)
    paid, groups = rng.randint(2, 5), amount(rng, level, (2, 9), (3, 12), (11, 24))
    price, coupon = amount(rng, level, (2, 9), (3, 15), (11, 29)), rng.randint(2, 15)
    wanted = groups * (paid + 1)
    text = f"A shop sells {thing}s at ${price} each. "
    if level == 1:
        text += f"Every {('third', 'fourth', 'fifth', 'sixth')[paid - 2]} {thing} is free. "
    else:
        text += f"For every {paid} {thing}s you pay for, you get 1 more for free. "
    text += rng.choice((f"{who.name} takes {wanted} {thing}s home. ", f"{who.name} leaves with {wanted} {thing}s. "))
    bundle: Number = paid + 1
    if level > 1:
        bundle = work.add(paid, 1, f"A group of paid and free {thing}s has {{}} {thing}s.", slip=paid)
    free = work.div(wanted, bundle, f"So {{}} of the {thing}s are free.")
    bought = work.sub(wanted, free, f"{who.name} pays for {{}} {thing}s.", slip=wanted)
    total = work.mul(bought, price, "They cost {} dollars.", slip=(free, "*", price))
    if level == 3:
        text += f"A coupon takes ${coupon} off the whole bill. "
        total = work.sub(total, coupon, "The coupon makes it {} dollars.", slip=total)
    text += f"How many dollars does {who.he} pay?"
    return Asked(text, total, (paid, wanted, price, coupon if level == 3 else 0))


def saving(rng: Random, level: int, work: Work) -> Asked:
    """Weeks until the money is enough."""
    who, thing = person(rng), rng.choice(("bike", "tent", "camera", "guitar", "phone", "desk"))
    kept, weeks = amount(rng, level, (2, 9), (4, 15), (11, 25)), amount(rng, level, (2, 12), (5, 19), (11, 29))
    spent = amount(rng, level, (1, 9), (3, 15), (11, 40))
    had = amount(rng, level, (1, 9), (5, 40), (11, 90))
    fee = amount(rng, level, (1, 2), (3, 9), (4, 19))
    price = kept * weeks + (had if level > 1 else 0) - (fee if level == 3 else 0)
    text = rng.choice(
        (f"{who.name} wants a {thing} for ${price}. ", f"A {thing} costs ${price} and {who.name} wants it. ")
    )
    text += f"{who.He} earns ${kept + spent} a week and spends ${spent} of it every week. "
    goal: Number = price
    if level == 3:
        text += f"Delivery costs another ${fee}. "
        goal = work.add(goal, fee, "With delivery it costs {} dollars.", slip=goal)
    if level > 1:
        text += f"{who.He} already has ${had}. "
        goal = work.sub(goal, had, f"{who.name} still needs {{}} dollars.", slip=goal)
    rate = work.sub(kept + spent, spent, "Every week {} dollars are saved.", slip=kept + spent)
    text += rng.choice((f"After how many weeks can {who.he} buy it?", f"How many weeks must {who.he} save?"))
    return Asked(
        text, work.div(goal, rate, "That takes {} weeks."), (kept, weeks, spent, had * (level > 1), fee * (level > 2))
    )


def card(rng: Random, level: int, work: Work) -> Asked:
    """So much off each thing, then so much off the bill."""
    who, thing = person(rng), rng.choice(GOODS)
    off, pays = amount(rng, level, (1, 4), (2, 9), (3, 15)), amount(rng, level, (2, 9), (5, 19), (12, 39))
    count = amount(rng, level, (2, 9), (4, 18), (12, 36))
    coupon = rng.randint(1, pays * count // 2)
    price = pays + off
    text = f"A {thing} costs ${price}. With a customer card every {thing} is ${off} cheaper. "
    text += rng.choice(
        (f"{who.name} has a card and buys {count} {thing}s. ", f"With a card, {who.name} gets {count} {thing}s. ")
    )
    each = work.sub(price, off, f"With the card one {thing} costs {{}} dollars.", slip=price)
    total = work.mul(each, count, f"The {count} {thing}s cost {{}} dollars.", slip=each)
    if level > 1:
        text += f"A coupon takes ${coupon} off the whole bill. "
        total = work.sub(total, coupon, "With the coupon that is {} dollars.", slip=(total, "-", coupon * count))
    if level == 3:
        note = price * count + rng.randint(1, 99)
        text += f"{who.He} has ${note}. How many dollars are left after paying?"
        left = work.sub(note, total, f"Of {note} dollars, {{}} are left.", slip=total)
        return Asked(text, left, (price, off, count, coupon, note))
    text += f"How many dollars does {who.he} pay?"
    return Asked(text, total, (price, off, count, coupon * (level > 1)))


def compare(rng: Random, level: int, work: Work) -> Asked:
    """Two packs of different size, priced per piece."""
    who, thing = person(rng), rng.choice(GOODS)
    few, many = rng.sample(range(2, 10 if level == 1 else 16), 2)
    low = amount(rng, level, (2, 9), (3, 15), (11, 25))
    high = low + amount(rng, level, (2, 6), (2, 9), (3, 12))
    count, fare = amount(rng, level, (2, 9), (6, 24), (24, 60)), rng.randint(2, 9)
    fare = min(fare, (high - low) * count - 1)
    text = f"In the market {few} {thing}s cost ${few * low}. In the corner shop {many} {thing}s cost ${many * high}. "
    text += aside(rng, f"The market has {rng.randint(12, 40)} stalls.", f"The shop opens at {rng.randint(7, 10)}.")
    cheap = work.div(few * low, few, f"In the market one {thing} costs {{}} dollars.")
    dear = work.div(many * high, many, f"In the shop one {thing} costs {{}} dollars.")
    gap = work.sub(dear, cheap, f"So one {thing} costs {{}} dollars less in the market.", slip=dear)
    if level == 1:
        text += f"How many dollars cheaper is one {thing} in the market?"
        return Asked(text, gap, (few, low, many, high))
    saved = work.mul(gap, count, f"On {count} {thing}s that saves {{}} dollars.", slip=gap)
    if level == 3:
        text += f"The bus to the market costs ${fare}. "
        saved = work.sub(saved, fare, "After the bus fare {} dollars are saved.", slip=saved)
    text += f"{who.name} needs {count} {thing}s. How many dollars does {who.he} save by buying them in the market?"
    return Asked(text, saved, (few, low, many, high, count, fare * (level > 2)))


TEMPLATES = (basket, offer, saving, card, compare)
