"""What may change or disappear in any release: nothing here is covered by the promise of stability.

On-demand scoring (the rules `exact` and `expected` that decide which responses the verifier reads) and buying samples
and scores together are experimental as well where `steelyard.plan_budget`, a plan or the command line offers them.

The public names are declared in `experimental.pyi` and imported when they are first used.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
