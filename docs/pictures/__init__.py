"""The diagrams of the docs: `python -m docs.pictures` writes architecture.svg, decision.svg and weights.svg."""
