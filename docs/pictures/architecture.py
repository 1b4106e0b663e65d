"""architecture.svg: the folders of the package in the order of the import contract, each with its purpose."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from docs.pictures.shapes import QUIET, arrow, box, picture, text

ROOT = Path(__file__).parents[2]
WIDTH, ROW, LEFT, TOP = 620, 40, 50, 14
SHADES = ("#eef3fb", "#fff")


def layers() -> list[str]:
    """The layers of the import contract in pyproject.toml, from the top down; `a | b` are beside each other."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return list(next(contract["layers"] for contract in contracts if contract["type"] == "layers"))


def purposes() -> dict[str, str]:
    """What each folder does, from the table in CONTRIBUTING.md: its first sentence."""
    rows = re.findall(r"^\| `(\w+)/` \| ([^|]+?) \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return {folder: re.split(r"(?<=[^.])\. ", f"{what} ")[0].strip(" .").replace("`", "") for folder, what in rows}


def architecture() -> str:
    """The picture."""
    parts, purpose = [], purposes()
    shown = layers()
    for i, layer in enumerate(shown):
        y = TOP + i * (ROW + 6)
        names = layer.split(" | ")
        what = purpose[layer] if len(names) == 1 else "public names"
        name = layer + "/" if len(names) == 1 else ", ".join(names)
        parts += [
            box(LEFT, y, WIDTH - LEFT - 10, ROW, SHADES[i % 2]),
            text(LEFT + 14, y + 25, name, size=15, bold=True),
        ]
        parts.append(text(LEFT + (130 if len(names) == 1 else 340), y + 25, what, size=13, ink=QUIET))
    bottom = TOP + len(shown) * (ROW + 6)
    parts.append(arrow(36, TOP + 8, 36, bottom - 14))
    label = text(0, 0, "may import", middle=True, ink=QUIET)
    parts.append(f"<g transform='translate(22 {bottom / 2:g}) rotate(-90)'>{label}</g>")
    parts.append(
        text(
            LEFT,
            bottom + 16,
            "A folder imports only folders below it. make check refuses other imports.",
            size=13,
            ink=QUIET,
        )
    )
    return picture(WIDTH, bottom + 28, "The folders of Steelyard and what each may import", parts)
