"""The few compiled loops, and nothing else: arrays in, arrays out; every loop walks one question at a time.

Shapes used throughout: R responses sorted by question, Q questions.
`starts` [Q+1] says where a question's responses begin; `answer` [R] is a small code within
the question (-1 = unreadable); `width` [Q] is one more than the largest code it may hold.
"""

from steelyard.foundation.lazy_names import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
