"""Averages, league points, and what is still needed."""

from __future__ import annotations

from random import Random

from recipes.grid.problems.amounts import amount
from recipes.grid.problems.words import aside, people, person
from recipes.grid.problems.work import Asked, Number, Work


def needed(rng: Random, level: int, work: Work) -> Asked:
    """The next score that lifts the average."""
    who, n = person(rng), amount(rng, level, (2, 6), (3, 8), (4, 12))
    mean, lift = amount(rng, level, (6, 40), (30, 80), (60, 150)), rng.randint(1, 4)
    game = rng.choice(("games", "tests", "rounds"))
    text = f"In {n} {game} {who.name} scored {mean} points on average. "
    text += aside(
        rng, f"{who.He} is {rng.randint(10, 30)} years old.", f"A {game[:-1]} lasts {rng.randint(20, 90)} minutes."
    )
    old = work.mul(n, mean, f"So far {who.he} has {{}} points.")
    many: Number = n + 1
    if level > 1:
        many = work.add(n, 1, f"With the next one there are {{}} {game}.", slip=n)
    all_points = work.mul(
        many,
        mean + lift,
        "For the new average {} points are needed.",
        slip=(n, "*", mean + lift) if level == 1 else None,
    )
    text += f"How many points does {who.he} need in the next {game[:-1]} "
    text += f"for an average of {mean + lift} over all {n + 1} {game}?"
    need = work.sub(all_points, old, "The next one must bring {} points.")
    if level < 3:
        return Asked(text, need, (n, mean, lift))
    best = mean + rng.randint(1, 3) * lift
    text = text.replace(
        "How many points does",
        f"{who.his.capitalize()} best {game[:-1]} so far had {best} points. How many points more than that does",
    )
    return Asked(text, work.sub(need, best, "That is {} points more than the best.", slip=need), (n, mean, lift, best))


def league(rng: Random, level: int, work: Work) -> Asked:
    """Wins, draws and lost points."""
    team = rng.choice(("Lions", "Foxes", "Bears", "Eagles"))
    win = rng.randint(2, 5)
    draw = 2 if win > 3 else 1
    wins, draws = amount(rng, level, (2, 12), (6, 20), (11, 30)), amount(rng, level, (2, 9), (3, 12), (5, 19))
    lost, minus, other = rng.randint(2, 4), rng.randint(2, 3), rng.randint(3, 30)
    text = f"In a league a win brings {win} points and a draw {draw} point{'s' * (win > 3)}. "
    text += f"The {team} have {wins} wins and {draws} draws. "
    points = work.mul(wins, win, "The wins bring {} points.", slip=(wins, "+", win) if level == 1 else None)
    more = work.mul(draws, draw, "The draws bring {} points.", slip=(draws, "*", win)) if draw > 1 else draws
    points = work.add(points, more, "Wins and draws give {} points.", slip=points)
    numbers: tuple[int, ...] = (win, draw, wins, draws)
    if level > 1:
        text += f"Each of their {lost} late starts costs {minus} points. "
        loss = work.mul(lost, minus, "The late starts cost {} points.", slip=lost)
        points = work.sub(points, loss, "That leaves {} points.")
        numbers += (lost, minus)
    if level == 3:
        text += f"The leader has {other + wins * win + draws * draw} points. "
        text += f"How many points is the leader ahead of the {team}?"
        gap = work.sub(other + wins * win + draws * draw, points, "The leader is {} points ahead.", slip=points)
        return Asked(text, gap, (*numbers, other))
    return Asked(
        text + rng.choice(("How many points do they have?", "How many points is that in all?")), points, numbers
    )


def classes(rng: Random, level: int, work: Work) -> Asked:
    """The average of two groups of different size."""
    while True:
        n, m = (amount(rng, level, (2, 9), (5, 20), (12, 35)) for _ in range(2))
        a, b = (amount(rng, level, (2, 19), (10, 60), (40, 95)) for _ in range(2))
        if n != m and a != b and (level == 1 or (n * a + m * b) % (n + m) == 0):
            break
    what = rng.choice(("points in a test", "points in a game"))
    text = f"The {n} girls of a class have {a} {what} on average. The {m} boys have {b} points on average. "
    one = work.mul(n, a, "The girls have {} points together.")
    two = work.mul(m, b, "The boys have {} points together.", slip=(n, "*", b))
    total = work.add(one, two, "The class has {} points.", slip=(a, "+", b) if level == 1 else None)
    if level == 1:
        return Asked(
            text
            + rng.choice(
                ("How many points does the whole class have together?", "How many points do all of them have in total?")
            ),
            total,
            (n, a, m, b),
        )
    size = work.add(n, m, "The class has {} children.")
    mean = work.div(total, size, "The average is {} points.", slip=(a + b, "/", 2))
    if level == 2:
        return Asked(text + "How many points does the whole class have on average?", mean, (n, a, m, b))
    goal = max(a, b) + rng.randint(1, 9)
    text += f"How many points is the average of the whole class below the goal of {goal}?"
    return Asked(text, work.sub(goal, mean, "That is {} points below the goal.", slip=mean), (n, a, m, b, goal))


def rounds(rng: Random, level: int, work: Work) -> Asked:
    """Each round is told from the one before; then all count."""
    a, b = people(rng, 2)
    first = amount(rng, level, (5, 40), (15, 80), (30, 150))
    numbers: list[int | str] = []
    text = f"In round one {a.name} scores {first} points. "
    value: Number = first
    parts: list[Number] = [first]
    true = first
    for i in range(1, level + 1 if level < 3 else 3):
        kind = rng.choice(("more", "fewer") if true < 6 or i > 1 or level == 1 else ("more", "fewer", "twice"))
        k = rng.randint(2, max(2, min(true - 2, 30)))
        numbers += [kind, k if kind != "twice" else 0]
        name = f"round {('one', 'two', 'three')[i]}"
        if kind == "twice":
            text += f"In {name} it is twice as many. "
            true, value = true * 2, work.mul(value, 2, f"In {name} it is {{}} points.", slip=(value, "+", 2))
        else:
            text += f"In {name} it is {k} point{'s' * (k > 1)} {kind} than in the round before. "
            right = (work.add if kind == "more" else work.sub)(
                value, k, f"In {name} it is {{}} points.", slip=(value, "-" if kind == "more" else "+", k)
            )
            true, value = true + (k if kind == "more" else -k), right
        parts.append(value)
    total = parts[0]
    for part in parts[1:]:
        total = work.add(total, part, "Together that is {} points.", slip=part if part is parts[-1] else None)
    if level < 3:
        text += rng.choice(
            (f"How many points does {a.he} score in all?", "How many points is that in all rounds together?")
        )
        return Asked(text, total, (first, *numbers))
    gap = rng.randint(5, 60)
    text += f"In all, {b.name} scores {gap} points more than {a.name}. How many points do both score together?"
    other = work.add(total, gap, f"{b.name} scores {{}} points.", slip=gap)
    return Asked(text, work.add(total, other, "Both score {} points together.", slip=other), (first, *numbers, gap))


TEMPLATES = (needed, league, classes, rounds)
