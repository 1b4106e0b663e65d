"""The word problems: every worked equation holds, every answer follows, no question twice."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import steelyard as sy
from recipes.grid.problems import DOMAINS, Problem, draw, flawed, make, mistakes, solution, splits
from recipes.grid.problems.domains import BY_DOMAIN
from recipes.grid.problems.work import DAYS, Work

PROBLEMS = draw(980, seed="test")
TOKEN = re.compile(r"\d|[A-Za-z]+|[^\sA-Za-z\d]")  # about as many as a small model's tokenizer makes


def value(expression: str) -> Fraction:
    """Read + - * / with the usual precedence, a/b in parentheses allowed, in exact arithmetic."""
    exact = re.sub(r"\d+(?:\.\d+)?", lambda number: f"Fraction('{number[0]}')", expression)
    return Fraction(eval(exact, {"Fraction": Fraction, "__builtins__": {}}))


def holds(equation: str) -> bool:
    left, correct = equation.split(" = ")
    if correct in DAYS:
        start, days = left.split(" + ")
        return DAYS[(DAYS.index(start) + int(days)) % 7] == correct
    return value(left) == value(correct)


def tokens(text: str) -> int:
    return len(TOKEN.findall(text)) + len(re.findall(r" (?=\d)", text))


def test_every_equation_of_a_right_solution_holds_and_stands_in_its_sentence() -> None:
    for problem in PROBLEMS:
        for step in problem.steps:
            assert holds(step.terse), (problem, step)
            assert step.terse in step.verbose


def test_the_last_step_ends_with_the_answer() -> None:
    for problem in PROBLEMS:
        assert problem.steps[-1].terse.split(" = ")[1] == problem.answer


@pytest.mark.parametrize("style", ["verbose", "terse"])
def test_steelyard_reads_the_answer_back(style: str) -> None:
    for problem in PROBLEMS:
        found = sy.extract_answer(solution(problem, style))
        assert found is not None
        assert found == problem.answer or sy.same_answer(found, problem.answer)
    for problem in PROBLEMS[:14]:
        assert sy.same_answer(str(sy.extract_answer(solution(problem, style))), problem.answer)


def test_an_unknown_style_or_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="verbose or terse"):
        solution(PROBLEMS[0], "long")
    with pytest.raises(ValueError, match="domains are"):
        make("poetry", 0, 1)


def test_the_same_arguments_make_the_same_problem() -> None:
    assert draw(60, seed=5) == draw(60, seed=5)
    assert draw(60, seed=5) == draw(90, seed=5)[:60]
    for problem in PROBLEMS[:300]:
        assert make(problem.domain, problem.seed, problem.level) == problem


def test_a_seed_means_the_same_problem_for_ever() -> None:
    assert [make("ages", seed, 2).answer for seed in range(5)] == ["13", "21", "35", "26", "16"]


def test_splits_share_no_question_and_no_signature() -> None:
    parts = splits({"train": 700, "dev": 100, "test": 200}, seed=3, levels=(2, 1, 1))
    every = [problem for part in parts.values() for problem in part]
    assert [len(part) for part in parts.values()] == [700, 100, 200]
    assert len({problem.text for problem in every}) == len({problem.signature for problem in every}) == 1000


def test_domains_and_levels_come_in_proportion() -> None:
    problems = draw(len(DOMAINS) * 40, seed=1, levels=(2, 1, 1))
    assert {sum(p.domain == domain for p in problems) for domain in DOMAINS} == {40}
    assert [sum(p.level == level for p in problems) // len(DOMAINS) for level in (1, 2, 3)] == [20, 10, 10]


def test_there_are_many_domains_templates_and_step_counts() -> None:
    assert len(DOMAINS) >= 12
    assert all(len(templates) >= 4 for templates in BY_DOMAIN.values())
    counts = [len(problem.steps) for problem in PROBLEMS]
    assert set(counts) == set(range(2, 8))
    assert 3.5 < sum(counts) / len(counts) < 4.2


def test_texts_are_short_plain_and_on_one_line() -> None:
    for problem in PROBLEMS:
        assert problem.text.isascii()
        assert "\n" not in problem.text
        assert "  " not in problem.text
        assert problem.text.endswith("?")
        assert len(problem.text.split()) <= 70
        assert tokens(problem.text) <= 110
        assert tokens(solution(problem)) <= 170
        for step in problem.steps:
            assert "\n" not in step.verbose
            assert "{" not in step.verbose
            assert len(step.verbose.split()) <= 25


def test_counts_agree_with_their_nouns() -> None:
    one = re.compile(r"(?<![\d./:] )(?<![\d./])\b1 (?!is)[a-z]+s\b")
    for problem in PROBLEMS:
        for text in (problem.text, *(step.verbose for step in problem.steps)):
            assert not one.search(text), text


def test_quantities_are_positive_and_answers_simple() -> None:
    for problem in PROBLEMS:
        if problem.answer not in DAYS:
            assert value(problem.answer) > 0, problem
            assert re.fullmatch(r"\d+(\.\d{1,2})?" if problem.domain != "fractions" else r"\d+(/\d+)?", problem.answer)


def test_ages_are_those_of_people() -> None:
    for problem in PROBLEMS:
        if problem.domain == "ages":
            assert 0 < value(problem.answer) <= 100, problem


def test_a_mistake_keeps_the_question_and_changes_the_answer() -> None:
    made = 0
    for problem in PROBLEMS:
        for wrong in mistakes(problem):
            made += 1
            assert (wrong.text, wrong.numbers, wrong.template) == (problem.text, problem.numbers, problem.template)
            assert wrong.answer != problem.answer
            assert sy.extract_answer(solution(wrong)) == wrong.answer
    assert made > 1000


def test_every_template_has_a_mistake() -> None:
    able = {(problem.domain, problem.template) for problem in PROBLEMS if next(mistakes(problem), None)}
    assert able == {(domain, t.__name__) for domain, templates in BY_DOMAIN.items() for t in templates}


def test_a_mistake_that_is_not_there_is_none() -> None:
    assert flawed("ages", 0, 1, which=99) is None


def test_fractions_and_decimals_are_printed_exactly() -> None:
    work = Work()
    assert [work.show(x) for x in (Fraction(5, 2), Fraction(1, 3), Fraction(1, 20), Fraction(4, 2), 7)] == [
        "2.5", "1/3", "0.05", "2", "7",
    ]  # fmt: skip
    work.decimals = False
    assert work.show(Fraction(5, 2)) == "5/2"
    assert work.div(3, Fraction(3, 4), "{}") == 4
    assert work.steps[0].terse == "3 / (3/4) = 4"


def ago(numbers: tuple[Any, ...]) -> str:
    today, first, more, weeks = numbers
    monday = datetime.date(2024, 1, 1) + datetime.timedelta(DAYS.index(today) + first + more + 7 * weeks)
    return DAYS[monday.weekday()]


def on_date(numbers: tuple[Any, ...]) -> str:
    start, first_month, day, last_month, end = numbers
    dates = [
        datetime.datetime.strptime(f"2023 {m} {d}", "%Y %B %d") for m, d in ((first_month, day), (last_month, end))
    ]
    return DAYS[(DAYS.index(start) + (dates[1] - dates[0]).days) % 7]


def only(candidates: list[int]) -> int:
    (found,) = candidates
    return found


def undone(numbers: tuple[Any, ...]) -> int:
    def forward(x: Fraction) -> Fraction:
        for move in numbers[1:]:
            kind, _, k = move.partition(" ")
            x = {"times": lambda x, k: x * k, "plus": lambda x, k: x + k, "minus": lambda x, k: x - k}.get(
                kind, lambda x, k: x / 2
            )(x, int(k or 0))
        return x

    return only([x for x in range(1, 200) if forward(Fraction(x)) == numbers[0]])


def pond(start: int, k: int, away: int, years: int) -> int:
    for _ in range(years):
        start = start * k - away
    return start


def rows(first: Any, more: Any, n: Any, asked: Any) -> int:
    seats = list(range(first, first + more * n, more))
    return sum(seats) if asked == "sum" else seats[-1]


def years_until(a: Any, b: Any, k: Any) -> int:
    return only([y for y in range(100) if a + y == k * (b + y)])


def heads(p: Problem) -> int:
    low, high, n, total, *_ = p.numbers
    few = only([x for x in range(int(n) + 1) if low * x + high * (n - x) == total])  # type: ignore[operator]
    return {1: int(n) - few, 2: few, 3: few + int(p.numbers[-1] if p.level == 3 else 0)}[p.level]


def halves(p: Problem) -> int:
    left, *sold = map(int, p.numbers)

    def remaining(x: Fraction) -> Fraction:
        for k in reversed(sold):
            x = x / 2 - k
        return x

    return only([x for x in range(2000) if remaining(Fraction(x)) == left])


def beads(p: Problem) -> int:
    r, b, n, *cents = map(int, p.numbers)
    return sum(i % (r + b) < r for i in range(n)) * (cents[0] if cents else 1)


def basket(p: Problem) -> int:
    pairs = re.findall(r"(\d+) \w+s at \$(\d+) each", p.text)
    paid = sum(int(count) * int(price) for count, price in pairs)
    has = re.search(r"has \$(\d+)\.", p.text)
    return int(has[1]) - paid if has else paid


def rest(p: Problem) -> Fraction:
    total, *cuts = p.numbers
    left = Fraction(total)
    if cuts[-1] == "taken":
        return left * (1 - cuts[0]) * cuts[1]  # type: ignore[operator]
    for cut in cuts:
        left *= 1 - cut  # type: ignore[operator]
    return left


def prices(p: Problem) -> Fraction:
    price = Fraction(re.search(r"\$(\d+)\.", p.text)[1])  # type: ignore[index]
    for how, to, percent in re.findall(r"is (raised|cut) (by|to) (\d+)%", p.text):
        factor = int(percent) if to == "to" else 100 + int(percent) * (1 if how == "raised" else -1)
        price *= Fraction(factor, 100)
    fee = re.search(r"Delivery costs \$(\d+)", p.text)
    return price + (int(fee[1]) if fee else 0)


def two_ages(p: Problem) -> int:
    total, gap, third = p.numbers
    now = int(total) - (2 * int(third) if p.level == 3 else 0)
    young = only([x for x in range(100) if 2 * x + int(gap) == now])
    if third == "small":
        return young
    return young + int(gap) + (int(third) if p.level == 2 else 0)


def frame(p: Problem) -> int:
    long, *middle, b = p.numbers
    if p.level == 1:
        return int(long) + 2 * int(b)
    outer = {(x, y) for x in range(int(long) + 2 * int(b)) for y in range(int(middle[0]) + 2 * int(b))}
    return len(outer) - (int(long) * int(middle[0]) if p.level == 3 else 0)


AGAIN: dict[str, Callable[[Problem], object]] = {
    "calendars/waiting": lambda p: ago(p.numbers),
    "calendars/dates": lambda p: on_date(p.numbers),
    "equations/trick": lambda p: undone(p.numbers),
    "sequences/pond": lambda p: pond(*p.numbers),  # type: ignore[arg-type]
    "sequences/rows": lambda p: rows(*p.numbers),
    "ages/times": lambda p: years_until(*p.numbers) + (p.numbers[0] if p.level == 3 else 0),  # type: ignore[operator]
    "equations/bills": lambda p: p.numbers[4] if "easy" in p.numbers else p.numbers[3],
    "equations/heads": heads,
    "inventory/halves": halves,
    "sequences/beads": beads,
    "travel/bus": lambda p: p.numbers[0] - sum(p.numbers[1::2]) + sum(p.numbers[2::2]),  # type: ignore[operator,arg-type]
    "shopping/basket": basket,
    "fractions/rest": rest,
    "percentages/prices": prices,
    "ages/two_ages": two_ages,
    "geometry/frame": frame,
}


@pytest.mark.parametrize("name", AGAIN)
def test_an_independent_computation_finds_the_same_answer(name: str) -> None:
    chosen = [problem for problem in PROBLEMS if f"{problem.domain}/{problem.template}" == name][:60]
    assert len(chosen) >= 10
    for problem in chosen:
        expected = AGAIN[name](problem)
        assert expected == (problem.answer if isinstance(expected, str) else value(problem.answer)), problem
