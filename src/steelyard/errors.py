"""Every error and warning of Steelyard. `steelyard.SteelyardError` catches all errors; these tell them apart.

    from steelyard.errors import CalibrationError

The public names are declared in `errors.pyi` and imported when they are first used.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
