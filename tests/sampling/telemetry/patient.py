"""`steelyard` with as much time for the last export as a busy machine needs."""

from steelyard.__main__ import main
from steelyard.sampling.telemetry import exporting
from tests.waiting import PATIENCE

if __name__ == "__main__":
    exporting.FLUSH = PATIENCE
    main()
