"""Make the pages that the program prints itself: docs/cli.md, docs/answers.md, docs/demo.svg (`make docs`)."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from steelyard.answers.normal import normal_form
from steelyard.answers.pairs import MAX_FORMS, MAX_PAIRS
from steelyard.answers.step_budget import BASE, PER_CHARACTER
from steelyard.cli.verbs import VERBS

HERE = Path(__file__).parent
HELP = """
import sys
from steelyard.cli import main
for words in {words!r}:
    sys.argv = ["steelyard", *words, "--help"]
    try:
        main()
    except SystemExit:
        print(end={mark!r}, flush=True)
"""


def help_pages(words: list[tuple[str, ...]]) -> list[str]:
    """What `steelyard WORDS --help` prints in a pipe 100 columns wide, for each of these; one process for all."""
    mark = "\0"
    command = [sys.executable, "-c", HELP.format(words=words, mark=mark)]
    environment = os.environ | {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    pages = done.stdout.split(mark)[:-1]
    return ["\n".join(line.rstrip() for line in page.splitlines()).strip("\n") for page in pages]


def cli_page() -> str:
    """The reference of the command line."""
    parts = [
        "# The command line\n\n"
        "`make docs` generates this page from the program's help.\n\n"
        "| exit code | meaning |\n"
        "|---|---|\n"
        "| 0 | Success. |\n"
        "| 1 | `steelyard doctor` found a problem. |\n"
        "| 2 | The command or its input is invalid: one line on stderr has the problem and the fix. |\n"
        "| 130 | Interrupted (Ctrl-C); samples and scores received so far are saved. |\n"
        "| 141 | The reader of the output closed the pipe, as `head` does. |\n\n"
        "With `--json` every command prints one JSON object and nothing else on stdout. Set options that you use\n"
        "often in [steelyard.toml](settings.md). `steelyard --install-completion` installs completion of commands,\n"
        "options and names for your shell.\n"
    ]
    asked: list[tuple[str, ...]] = [(), *((verb,) for verb in VERBS)]
    for words, page in zip(asked, help_pages(asked), strict=True):
        name = " ".join(("steelyard", *words))
        parts.append(f"## {name}\n\n```text\n{page}\n```\n")
    return "\n".join(parts)


def answers_page() -> str:
    """How answers are read and grouped, with the examples the tests check."""
    from tests.answers.answer_examples import DIFFERENT, EXTRACTED, JUDGED, SAME

    def code(text: str | None) -> str:
        shown = "null" if text is None else text.replace("|", "\\|").replace("\n", " ⏎ ")
        return f"`` {shown} ``" if shown else "(empty)"

    read = [
        f"| {what} | {code(text)} | {code(kind)} | {code(answer)} | {rule} |"
        for what, text, kind, answer, rule in EXTRACTED
    ]
    same = [f"| {code(normal_form(texts[0]))} | {', '.join(map(code, texts))} |" for texts in SAME]
    return (
        (HERE / "answers.template.md")
        .read_text()
        .format(
            base=BASE,
            per=PER_CHARACTER,
            forms=MAX_FORMS,
            pairs=MAX_PAIRS,
            extracted="\n".join(read),
            same="\n".join(same),
            different=", ".join(f"{code(a)} and {code(b)}" for a, b in DIFFERENT),
            judged="\n".join(f"- {code(a)} and {code(b)}" for a, b in JUDGED),
        )
    )


def in_terminal(command: list[str], columns: int = 92) -> str:
    """What a command shows on a terminal, colours included."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "60"}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, stdout=child, stderr=subprocess.DEVNULL, cwd=folder, env=environment)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:  # the terminal was closed
            pass
        process.wait()
    return shown.decode().replace("\r\n", "\n")


PICTURED = (("$ steelyard evaluate", "error: "), ("What a score is worth", ""))  # from this line up to that one


def pictured(shown: str) -> str:
    """One table and one chart of the demo: more would not fit a page."""
    lines = shown.splitlines()
    plain = [Text.from_ansi(line).plain for line in lines]
    kept: list[str] = []
    for begin, end in PICTURED:
        first = next(i for i, line in enumerate(plain) if line.startswith(begin))
        last = next(i for i, line in enumerate(plain) if i > first + 2 and (line.startswith(end) if end else not line))
        kept += [*lines[first:last], ""]
    return "\n".join(kept).rstrip()


def demo_picture() -> str:
    """The demo as an SVG picture of a terminal: its table of accuracies, and what a score is worth."""
    shown = in_terminal([sys.executable, "-m", "steelyard", "demo"])
    console = Console(record=True, width=92, file=io.StringIO())
    console.print(Text.from_ansi(pictured(shown)))
    return console.export_svg(title="steelyard demo", unique_id="steelyard-demo")


if __name__ == "__main__":
    (HERE / "cli.md").write_text(cli_page())
    (HERE / "answers.md").write_text(answers_page())
    (HERE / "demo.svg").write_text(demo_picture())
    print("written: docs/cli.md, docs/answers.md, docs/demo.svg")
