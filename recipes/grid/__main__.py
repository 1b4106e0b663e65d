"""Run stages of the recipe: python -m recipes.grid questions --work FOLDER."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from recipes.grid.config import FULL, MODELS, SHAPES, SMALL, SMALL_SHAPES, VERIFIERS

STAGES = {
    "questions": ("questions", "run"),
    "llms": ("llms", "run"),
    "samples": ("samples", "run_samples"),
    "rollouts": ("samples", "run_rollouts"),
    "verifiers": ("verifiers", "run_verifiers"),
    "scores": ("verifiers", "run_scores"),
    "export": ("export", "run"),
    "pack": ("pack", "run"),
}


def main() -> None:
    """Parse the stages to run and run them in order; what a stage has already made is kept."""
    parser = argparse.ArgumentParser(prog="python -m recipes.grid", description=__doc__)
    parser.add_argument("stages", nargs="+", choices=STAGES, metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--work", type=Path, required=True, help="folder for everything the stages make")
    parser.add_argument("--small", action="store_true", help="a rehearsal on tiny random models, for a CPU")
    parser.add_argument("--only", nargs="+", default=[*MODELS, *VERIFIERS], metavar="NAME", help="models and verifiers")
    args = parser.parse_args()
    sizes = SMALL if args.small else FULL
    if args.small:
        SHAPES.update(SMALL_SHAPES)
    args.work.mkdir(parents=True, exist_ok=True)
    for stage in args.stages:
        module, function = STAGES[stage]
        getattr(import_module(f"recipes.grid.{module}"), function)(args.work, sizes, args.only)


if __name__ == "__main__":
    main()
