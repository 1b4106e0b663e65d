"""Output of the command line: plain text on stdout, notes on stderr.

Everything that is printed passes through `plain`, because names, answers and file names come from outside.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def say(text: str = "") -> None:
    """Print a line of text."""
    print(plain(text))


def tell(text: str) -> None:
    """Print sentences, wrapped at words on a terminal."""
    import shutil
    import textwrap

    text = plain(text)
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else max(1, len(text))
    print(textwrap.fill(text, wide, break_long_words=False, break_on_hyphens=False))


def aside(text: str) -> None:
    """Print a line of text on stderr."""
    print(plain(text), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Print a note on stderr."""
    aside(f"note: {text}")


def as_json(content: Any) -> None:
    """Print one JSON object."""
    print(json.dumps(content, indent=2, allow_nan=False))


def step(command: str) -> None:
    """Show the command that comes next."""
    command = plain(command)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(f"\n$ {command}\n", style="bold cyan"), soft_wrap=True)
    else:
        print(f"\n$ {command}\n")


def plain(text: str) -> str:
    r"""Escape control characters and characters that change the direction of text.

    Names, answers and file names come from outside: everything that is printed goes through here.

    >>> plain("\x1b]0;owned\x07"), plain("a\tb")
    ('\\x1b]0;owned\\x07', 'a b')
    """
    if text.isprintable():
        return text
    return "".join(
        char if char == "\n" or char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text
    )


def value(item: object) -> str:
    """Format a fitted value or a setting, numbers to four digits.

    >>> value(0.30400699), value(32), value("bagged")
    ('0.304', '32', 'bagged')
    """
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def shortened(text: str, most: int = 80) -> str:
    """Truncate a long text, with spaces for unprintable characters.

    >>> shortened("a" * 9 + chr(10), most=5)
    'aaaa…'
    """
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"
