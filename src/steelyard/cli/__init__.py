"""The command line: one file a verb. A verb parses, calls the library, prints."""

from __future__ import annotations

import sys
import warnings

import typer
from typer.exceptions import TyperException

from steelyard.cli import demo, evaluate, fit, simulate, vote
from steelyard.errors import SteelyardError
from steelyard.version import __version__

INTERRUPTED = 130  # what typer returns after Ctrl-C
EPILOG = "Start with: steelyard demo. Then, with a file of your own: steelyard evaluate FILE"

app = typer.Typer(
    help="Weigh the answers an LLM gave against each other, and believe the vote.",
    epilog=EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (demo, evaluate, fit, vote, simulate):
    app.command(verb.__name__.rsplit(".", 1)[1], epilog=verb.EXAMPLE)(verb.run)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def _steelyard(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="steelyard", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            print("stopped", file=sys.stderr)
    except SteelyardError as error:
        print(f"error: {_one_line(str(error))}", file=sys.stderr)
        code = 2
    except TyperException as error:
        print(f"error: {_usage(error)}", file=sys.stderr)
        code = 2
    except BrokenPipeError:
        sys.stderr.close()
        code = 141
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: TyperException) -> str:
    """What is wrong with the words of a command, and where its help is."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    return f"{_one_line(message).rstrip('.')}; see '{context.command_path if context else 'steelyard'} --help'"


def _one_line(text: str) -> str:
    return " ".join(text.split())
