"""Run stages of the recipe: python -m recipes.verdicts texts --work FOLDER."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from recipes.verdicts.sizes import FULL, SMALL

STAGES = {"texts": "texts", "learn": "learning", "read": "reading", "vote": "voting"}


def main() -> None:
    """Parse the stages to run and run them in order."""
    parser = argparse.ArgumentParser(prog="python -m recipes.verdicts", description=__doc__)
    parser.add_argument("stages", nargs="+", choices=STAGES, metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--work", type=Path, required=True, help="folder for everything the stages make")
    parser.add_argument("--small", action="store_true", help="a rehearsal with a tiny model, for a CPU")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for stage in args.stages:
        import_module(f"recipes.verdicts.{STAGES[stage]}").run(args.work, SMALL if args.small else FULL)


if __name__ == "__main__":
    main()
