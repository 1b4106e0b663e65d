"""The paper this package follows: its experiments, the bundled grid of scored responses, and its other methods.

    from steelyard.paper import load_grid, reproduce

The public names are declared in `paper.pyi` and imported when they are first used.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
