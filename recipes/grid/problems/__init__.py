"""Word problems with worked solutions, right and typically wrong, made from a seed."""

from __future__ import annotations

from recipes.grid.problems.drawing import draw, splits
from recipes.grid.problems.making import DOMAINS, flawed, make, mistakes, solution
from recipes.grid.problems.work import Problem, Step, Work

__all__ = ["DOMAINS", "Problem", "Step", "Work", "draw", "flawed", "make", "mistakes", "solution", "splits"]
