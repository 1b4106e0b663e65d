"""The bill of a verifier that was asked on demand, in a few lines."""

from __future__ import annotations

from typing import Any

from steelyard.cli import show
from steelyard.runs.bill_text import bill_lines


def show_bills(bills: dict[str, dict[str, Any]]) -> None:
    """Say for every verifier what was read and what was saved."""
    for name, bill in bills.items():
        for line in bill_lines(name, bill):
            show.say(line)
