"""Warnings about a plan that may not suit the responses it votes on."""

from __future__ import annotations

import warnings

from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.methods.base.enough import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Origin


def warn_of_plan(voter: Method, origin: Origin, any_score: bool) -> None:
    """Warn if the responses are from another LLM than the plan's or from several, or if there are no scores."""
    fitted = voter.fitted_on_
    if voter.cascade_:
        _warn(
            "the plan has a cascade, but this vote counts every response in the table, as they are already paid for; "
            "'steelyard evaluate FILE --plan PLAN' measures the cascade"
        )
    if fitted and voter.reads_scores() and not any_score:
        _warn(
            f"every score {origin.score or fitted.score!r} is missing, but the plan needs it: all responses weigh the "
            "same, as in a majority vote; score them first ('steelyard score'), or name the column with the scores"
        )
    if not (fitted and voter.learns and fitted.llm):
        return
    if origin.llms:
        _warn(
            f"the plan was fitted on responses of {fitted.llm}, and these are of {listed(origin.llms)}, which vote "
            "together: its weights may be wrong; vote on the rows of one LLM"
        )
    elif origin.llm not in (None, fitted.llm):
        _warn(f"the plan was fitted on responses of {fitted.llm}, these are of {origin.llm}: its weights may be wrong")


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=4)
