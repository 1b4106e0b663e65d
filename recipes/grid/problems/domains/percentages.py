"""By and to, before and after, shares of shares."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, person
from recipes.grid.problems.work import Asked, Number, Work

DEAR = ("coat", "bike", "table", "phone", "sofa", "camera", "tent", "desk")


def prices(rng: Random, level: int, work: Work) -> Asked:
    """A price changes by or to so many percent, again and again."""
    thing, rates = rng.choice(DEAR), range(10, 95, 5)
    while True:
        start = amount(rng, level, (1, 20), (2, 30), (3, 60)) * (20 if level == 1 else 10)
        moves = [(rng.choice(("rise", "fall", "to")), rng.choice(rates)) for _ in range(level)]
        if level == 1 and moves[0][0] == "to":
            continue
        value, whole = start * 100, True
        for kind, p in moves:
            value = value * {"rise": 100 + p, "fall": 100 - p, "to": p}[kind]
            whole = whole and value % 10000 == 0
            value //= 100
        if whole and 500 <= value <= 99900:
            break
    fee = rng.randint(2, 15)
    text = rng.choice((f"A {thing} costs ${start}. ", f"The price of a {thing} is ${start}. "))
    price: Number = start
    for i, (kind, p) in enumerate(moves):
        when = ("First" if level > 1 else "Now", "Then", "In the end")[i]
        how = {"rise": f"raised by {p}%", "fall": f"cut by {p}%", "to": f"cut to {p}% of what it was"}[kind]
        text += f"{when} the price is {how}. "
        if kind == "to":
            price = work.percent(price, p, f"{when} it costs {{}} dollars.", slip=(price, "%", 100 - p))
            continue
        change = work.percent(price, p, "The change is {} dollars.", slip=(start, "%", p) if i else None)
        if kind == "rise":
            price = work.add(price, change, f"{when} it costs {{}} dollars.", slip=(price, "-", change))
        else:
            price = work.sub(price, change, f"{when} it costs {{}} dollars.", slip=change)
    if level == 1:
        text += f"Delivery costs ${fee} more. "
        price = work.add(price, fee, "With delivery that is {} dollars.", slip=price)
        text += "How many dollars must be paid in all?"
    else:
        text += rng.choice(("How many dollars does it cost then?", "What is the final price in dollars?"))
    return Asked(text, price, (start, *(f"{kind} {p}" for kind, p in moves), fee * (level == 1)))


def before(rng: Random, level: int, work: Work) -> Asked:
    """Back to the price before the change."""
    who, thing, up = person(rng), rng.choice(DEAR), rng.random() < 0.5
    p = 5 * rng.randint(1, 10 if up else 16)
    left = 100 + p if up else 100 - p
    old = amount(rng, level, (1, 20), (2, 30), (3, 40)) * 20
    old = 120 if old == 100 else old
    now, count = old * left // 100, amount(rng, level, (2, 3), (2, 9), (6, 19))
    text = f"After {'a rise' if up else 'a cut'} of {p}%, a {thing} costs ${now}. "
    text += aside(
        rng, f"The shop has {rng.randint(2, 15)} branches.", f"The shop is open {rng.randint(6, 12)} hours a day."
    )
    rate = (
        work.add(100, p, "The new price is {} percent of the old one.", slip=(100, "-", p))
        if up
        else work.sub(100, p, "The new price is {} percent of the old one.", slip=p)
    )
    one = work.div(now, rate, "One percent of the old price is {} dollars.", slip=(now, "/", 100))
    was = work.mul(one, 100, "So the old price was {} dollars.")
    if level == 1:
        return Asked(
            text + rng.choice(("What did it cost before, in dollars?", "What was the old price in dollars?")),
            was,
            (left, old),
        )
    if level == 2:
        text += f"How many dollars did {count} of them cost before?"
        return Asked(text, work.mul(was, count, f"Before, {count} of them cost {{}} dollars."), (left, old, count))
    gap = (
        work.sub(was, now, "The difference is {} dollars for each.")
        if not up
        else work.sub(now, was, "The difference is {} dollars for each.")
    )
    text += f"{who.name} buys {count} of them today. How many dollars "
    text += f"{'more' if up else 'less'} does {who.he} pay than before the {'rise' if up else 'cut'}?"
    return Asked(text, work.mul(gap, count, f"For {count} that is {{}} dollars.", slip=gap), (left, old, count))


def groups(rng: Random, level: int, work: Work) -> Asked:
    """Percent of a part, not of the whole."""
    place = rng.choice(("school", "camp", "club", "village"))
    while True:
        n = amount(rng, level, (2, 30), (3, 50), (5, 90)) * 20
        p, q, r = (5 * rng.randint(2, 18) for _ in range(3))
        women = n * p // 100
        if n * p % 100 == women * q % 100 == (n - women) * r % 100 == 0 and q != r and p != 50:
            break
    sport = rng.choice(("swim", "sing", "dance", "play chess"))
    text = f"A {place} has {n} people and {p}% of them are women. Of the women, {q}% {sport}. "
    text += aside(rng, f"The {place} is {rng.randint(11, 90)} years old.") if level < 3 else ""
    all_women = work.percent(n, p, "There are {} women.")
    some = work.percent(all_women, q, f"Of these {{}} women {sport}.", slip=(n, "%", q))
    if level == 1:
        return Asked(text + f"How many women {sport}?", some, (n, p, q))
    if level == 2:
        text += f"How many women do not {sport}?"
        return Asked(text, work.sub(all_women, some, f"So {{}} women do not {sport}.", slip=(n, "-", some)), (n, p, q))
    text += f"Of all the others, {r}% {sport}. How many people {sport} in all?"
    others = work.sub(n, all_women, "There are {} others.", slip=n)
    more = work.percent(others, r, f"Of these {{}} {sport}.")
    return Asked(text, work.add(some, more, f"In all {{}} people {sport}.", slip=more), (n, p, q, r))


def growth(rng: Random, level: int, work: Work) -> Asked:
    """By how many percent did it grow or shrink?"""
    who = rng.choice(("club", "choir", "school", "team", "village"))
    while True:
        old = amount(rng, level, (2, 40), (10, 60), (20, 99)) * (5 if level < 3 else 10)
        joined, left = (amount(rng, level, (2, 60), (11, 150), (21, 400)) for _ in range(2))
        gone = left if level > 1 else 0
        if (joined - gone) * 100 % old == 0 and joined > gone and (joined - gone) < 2 * old and gone < old:
            break
    text = f"A {who} had {old} members. "
    text += f"Then {joined} people joined and {gone} left. " if gone else f"Then {joined} people joined. "
    net: Number = joined
    if gone:
        net = work.sub(joined, gone, f"The {who} grew by {{}} people.", slip=joined)
    if level == 3:
        fee = rng.randint(2, 9)
        text += f"Each member pays ${fee} a year. "
    text += rng.choice((f"By how many percent did the {who} grow?", "By what percent did the number of members rise?"))
    many = work.mul(net, 100, "One hundred times the growth is {}.")
    grown = work.div(many, old, "Compared with the old number it is {} percent.", slip=(many, "/", old + joined - gone))
    return Asked(text, grown, (old, joined, gone))


def quiz(rng: Random, level: int, work: Work) -> Asked:
    """Points for right answers, fewer for wrong ones."""
    who = person(rng)
    n, p = amount(rng, level, (2, 12), (2, 12), (5, 20)) * 20, 5 * rng.randint(11, 19)
    plus, minus, extra = rng.randint(2, 9), rng.randint(1, 2), rng.randint(5, 40)
    text = rng.choice(
        (
            f"A quiz has {n} questions. {who.name} gets {p}% of them right. ",
            f"{who.name} answers {p}% of the {n} questions of a quiz correctly. ",
        )
    )
    right = work.percent(n, p, "So {} answers are right.", slip=p if level == 1 else None)
    points = work.mul(right, plus, "The right answers bring {} points.", slip=(n, "*", plus) if level > 1 else None)
    if level == 1:
        text += f"Each right answer brings {plus} points. How many points is that?"
        return Asked(text, points, (n, p, plus))
    wrong = work.sub(n, right, "The other {} answers are wrong.")
    text += f"Each right answer brings {plus} points and each wrong one costs {minus} point{'s' * (minus > 1)}. "
    lost = work.mul(wrong, minus, "They cost {} points.") if minus > 1 else wrong
    points = work.sub(points, lost, "That leaves {} points.", slip=(points, "+", lost))
    if level == 3:
        text += f"For being fast there are {extra} points more. "
        points = work.add(points, extra, "With the extra points it is {} points.", slip=points)
    return Asked(text + f"How many points does {who.he} get?", points, (n, p, plus, minus, extra * (level > 2)))


TEMPLATES = (prices, before, groups, growth, quiz)
