"""The checks that every built-in method passes, to run on a method of your own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError, SteelyardWarning
from steelyard.testing import fit_checks, vote_checks
from steelyard.voting.methods.base.method import Method

Check = Callable[[type[Method]], None]


@dataclass(frozen=True)
class MethodCheck:
    """One check of one method: call it, and it raises an AssertionError if the method fails."""

    method: type[Method]
    check: Check

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.check.__name__

    def __call__(self) -> None:
        """Run the check. Warnings about the small simulated pools are ignored."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)
            self.check(self.method)

    def __str__(self) -> str:
        return f"{self.method.name}-{self.name}"


def method_checks(method: type[Method]) -> list[MethodCheck]:
    """Return every check that applies to a method, to make each a test of its own.

    >>> import steelyard as sy
    >>> for check in sy.testing.method_checks(sy.MajorityVote)[:2]:
    ...     check()
    ...     print(check)
    majority-ignores_row_order
    majority-ignores_sample_order

    With pytest::

        @pytest.mark.parametrize("check", method_checks(MyVote), ids=str)
        def test_my_vote(check):
            check()
    """
    _check_is_method(method)
    kind = vote_checks.ORACLE if method.oracle else vote_checks.WITHOUT_LABELS
    return [MethodCheck(method, check) for check in (*vote_checks.ALL, *kind, *fit_checks.ALL)]


def _check_is_method(method: object) -> None:
    if isinstance(method, type) and issubclass(method, Method):
        return
    wrong = f"an instance of {type(method).__name__}" if isinstance(method, Method) else f"{method!r:.60}"
    raise SettingError(f"the checks need a class that inherits steelyard.Method, not {wrong}: pass the class itself")


def check_method(method: type[Method]) -> None:
    """Run every check on a method, and raise an ExceptionGroup with all failures.

    The checks fit the method on simulated responses with one score and vote on others: verdicts must not depend on
    the order of responses or on how answers are named, labels must not be read, missing scores must be counted,
    a saved plan must vote the same, and settings must behave as scikit-learn expects.

    >>> import numpy as np, steelyard as sy
    >>> class SquaredVote(sy.Method):
    ...     def weigh(self, pool: sy.Pool) -> np.ndarray:
    ...         return pool.known_scores**2
    >>> try:
    ...     sy.testing.check_method(SquaredVote)
    ... except ExceptionGroup as failures:
    ...     print(failures.message)
    SquaredVote fails 2 of 20 checks: handles_missing_scores, counts_responses_without_scores
    """
    checks = method_checks(method)
    failures: dict[str, Exception] = {}
    for check in checks:
        try:
            check()
        except Exception as error:  # noqa: BLE001 - whatever a method raises is its failure
            failures[check.name] = error
    if failures:
        summary = f"{method.__name__} fails {len(failures)} of {len(checks)} checks: {', '.join(failures)}"
        raise ExceptionGroup(summary, list(failures.values()))
