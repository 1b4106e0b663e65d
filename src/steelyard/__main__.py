"""`python -m steelyard`, and the `steelyard` command: quiet even when it is stopped while it starts."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from steelyard.cli import main as run

        run()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
