"""The command line, one verb per file. A verb parses, calls one function of the library and prints."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import typer
from typer.exceptions import TyperException

from steelyard.answers.unreadable import SHARES
from steelyard.cli import console
from steelyard.cli.config import misspelt_variables, read_defaults
from steelyard.cli.verbs import LoadedVerbs, VerbGroup
from steelyard.foundation.arguments import option_names
from steelyard.foundation.errors import SteelyardError, SteelyardNote, SteelyardWarning
from steelyard.foundation.masking import mask_addresses
from steelyard.foundation.panics import hide_panics
from steelyard.foundation.version import __version__

INTERRUPTED = 130  # the exit code of typer after Ctrl-C
EPILOG = "Start with: steelyard demo. Then, with a file of your own: steelyard evaluate FILE"

_warning_counts: Counter[str] = Counter()  # warnings of this command
app = typer.Typer(
    cls=VerbGroup,
    help="Sample an LLM many times, weigh the answers, and decide which one to believe.",
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(requested: bool) -> None:
    if requested:
        print(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _steelyard(
    context: typer.Context,
    _show_version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    verbs = commands()
    context.obj = read_defaults(verbs)
    verb = context.invoked_subcommand or ""
    context.default_map = {verb: {default.parameter: default.value for default in context.obj if default.verb == verb}}
    for variable, near in misspelt_variables(verbs, os.environ):
        console.note(f"unknown environment variable {variable}: did you mean {near}?")


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    _prepare_streams()
    SHARES.clear()
    warnings.showwarning = _show_warning
    _warning_counts.clear()
    try:
        with option_names():
            code = parser()(sys.argv[1:] or ["--help"], prog_name="steelyard", standalone_mode=False)
        if SHARES and not code and "--json" not in sys.argv:
            print("\n".join(SHARES))
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt  # steelyard/__main__.py reports it and ignores a second one
    except SteelyardError as error:
        print(f"error: {_one_line(str(error))}", file=sys.stderr)
        code = 2
    except TyperException as error:
        print(f"error: {_usage(error)}", file=sys.stderr)
        code = 2
    except MemoryError:
        print("error: not enough memory: use a smaller file, or -n to read fewer samples", file=sys.stderr)
        code = 2
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader is gone
        code = 141
    except OSError as error:
        print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        code = 2
    finally:
        _count_warnings()
    sys.exit(code if isinstance(code, int) else 0)


def commands() -> Mapping[str, Any]:
    """The verbs, as commands of the parser."""
    return LoadedVerbs()


@cache
def parser() -> Any:
    """The parser of the command line."""
    return typer.main.get_command(app)


def _prepare_streams() -> None:
    """Make sure that stdout and stderr can always be written to.

    A closed stream is replaced by /dev/null, and a character it cannot encode by a question mark. Python's stderr gets
    a file descriptor of its own, so that the panics of damaged files can be hidden while they are read, unless
    RUST_BACKTRACE is set; a traceback is always printed if the process crashes.
    """
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding=sys.stderr.encoding)
            faulthandler.enable(sys.stderr)
            if "RUST_BACKTRACE" not in os.environ:
                hide_panics()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning once, immediately; how often it occurred is printed at the end."""
    if issubclass(category, SteelyardWarning):
        line = _one_line(str(message))
        prefix = "" if issubclass(category, SteelyardNote) else "warning: "
        _warning_counts[prefix + line] += 1
        if _warning_counts[prefix + line] == 1:
            print(prefix + line, file=sys.stderr)


def _count_warnings() -> None:
    for line, times in _warning_counts.items():
        if times > 1 and line.startswith("warning: "):
            short = console.shortened(line.removeprefix("warning: "), 60)
            print(f"warning: repeated {times} times: {short}", file=sys.stderr)


def _usage(error: TyperException) -> str:
    """The usage error, and the command that prints the help."""
    message = mask_addresses(error.format_message() if hasattr(error, "format_message") else str(error))
    context = getattr(error, "ctx", None)
    return f"{_one_line(message).rstrip('.')}; see '{context.command_path if context else 'steelyard'} --help'"


def _one_line(text: str) -> str:
    return console.plain(" ".join(text.split()))
