"""Does a plan fit the responses it is to vote on? What is said when it may not."""

from __future__ import annotations

import warnings

from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.methods.base.enough import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Origin


def warn_of_plan(voter: Method, origin: Origin, any_score: bool) -> None:
    """Say when responses are of another LLM than a plan's, or of several, and when there is no score to weigh by."""
    fitted = voter.fitted_on_
    if voter.cascade_:
        _warn(
            "the plan has a cascade, and this vote counts everyone in the table, as what is there costs nothing more; "
            "what the cascade alone would decide is measured by 'steelyard evaluate FILE --plan PLAN'"
        )
    if fitted and voter.reads_scores() and not any_score:
        _warn(
            f"every score {origin.score or fitted.score!r} is missing, and the plan weighs by it: all responses weigh "
            "the same, as in a majority vote; score them first ('steelyard score'), or name the column with the scores"
        )
    if not (fitted and voter.learns and fitted.llm):
        return
    if origin.llms:
        _warn(
            f"the plan was fitted on responses of {fitted.llm}, and these are of {listed(origin.llms)}, which vote "
            "together: its weights may not hold; vote on the rows of one LLM"
        )
    elif origin.llm not in (None, fitted.llm):
        _warn(f"the plan was fitted on responses of {fitted.llm}, these are of {origin.llm}: its weights may not hold")


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=4)
