"""`python -m steelyard`, and the `steelyard` command: quiet even when it is stopped while it starts or compiles."""

import sys
from _thread import interrupt_main
from threading import Timer

AGAIN = 0.05  # seconds


def main() -> None:
    """Run the command line."""
    sys.unraisablehook = _sent_again
    try:
        from steelyard.cli import main as run

        run()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)


def _sent_again(lost: "sys.UnraisableHookArgs") -> None:
    """An interrupt that could not be raised where it came, in a callback of the compiler, comes again soon."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(AGAIN, interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


if __name__ == "__main__":
    main()
