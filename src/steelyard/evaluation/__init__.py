"""How good a vote is, and how certain that is: accuracy, curves over numbers of samples, budgets, reports.

`steelyard.evaluate` and `steelyard.accuracy` answer most questions; the names here are for a closer look.

    from steelyard.evaluation import curves, paired_difference

The public names are declared in `__init__.pyi` and imported when they are first used.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
