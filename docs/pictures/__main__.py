"""Write the diagrams of the docs."""

from pathlib import Path

from docs.pictures.architecture import architecture
from docs.pictures.decision import decision
from docs.pictures.weights import weights

DOCS = Path(__file__).parents[1]

if __name__ == "__main__":
    for draw in (architecture, decision, weights):
        (DOCS / f"{draw.__name__}.svg").write_text(draw())
        print(f"written: docs/{draw.__name__}.svg")
