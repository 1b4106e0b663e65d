"""The people and things of the questions, few enough for a small model to learn."""

from __future__ import annotations

from random import Random
from typing import NamedTuple


class Person(NamedTuple):
    """A name and how to go on about it."""

    name: str
    he: str
    his: str

    @property
    def He(self) -> str:  # noqa: N802 - the same word at the start of a sentence
        """The pronoun with a capital."""
        return self.he.capitalize()


PEOPLE = tuple(Person(name, "she", "her") for name in ("Mia", "Anna", "Lucy", "Nina", "Rosa", "Ivy")) + tuple(
    Person(name, "he", "his") for name in ("Ben", "Tom", "Omar", "Leo", "Max", "Paul")
)
GOODS = ("pen", "book", "cup", "lamp", "ball", "bag", "hat", "plate", "toy", "towel", "candle", "basket")
FRUIT = ("apple", "pear", "lemon", "melon", "plum", "orange", "onion", "carrot")
ORDER = ("first", "second", "third", "fourth", "fifth")


def person(rng: Random) -> Person:
    """One of the people."""
    return rng.choice(PEOPLE)


def people(rng: Random, count: int) -> list[Person]:
    """Several different people."""
    return rng.sample(PEOPLE, count)


def aside(rng: Random, *sentences: str) -> str:
    """A sentence that does not matter, every other time; with a space behind it."""
    return rng.choice(sentences) + " " if rng.random() < 0.5 else ""


def listed(parts: list[str]) -> str:
    """Join with commas and a final "and"."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
