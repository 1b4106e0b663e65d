"""Checks for methods of your own, and simulated worlds to try them in. pytest is not needed.

    from steelyard.testing import check_method

    def test_my_vote():
        check_method(MyVote)

The public names are declared in `__init__.pyi` and imported when they are first used.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
