from pathlib import Path

RESULTS = Path(__file__).parent.parent / "docs" / "gpu_scoring.json"


def write_page() -> int:
    return 0
