"""A calibrated vote in plain words: what was fitted, what it is expected to gain, what more labels would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.methods.calibrated import CalibratedVote

WORTH = 0.003  # a gain of less is not worth a label


def explained(vote: CalibratedVote) -> str:
    """Two sentences, or one for a vote that was not assessed."""
    fitted = vote.fitted_on_
    apart = 0 if vote.reserved_ is None else len(vote.reserved_)
    kept = f" ({apart} others reserved)" if apart else ""
    where = f"Fitted on {fitted.questions - apart} questions{kept} at N = {fitted.n}" if fitted else "Not fitted"
    sentences = [f"{where}: {_reads(vote)}."]
    if vote.gains_:
        told = [_expects(vote.gains_), _more(vote.gains_)]
        if fitted and "enough" in vote.gains_:
            told.append(_saves(int(vote.gains_["enough"]), fitted.n))
        sentences.append(f"{'; '.join(told)}.")
    return " ".join(sentences)


def _reads(vote: CalibratedVote) -> str:
    if not vote.mean_ and not vote.best_ and not vote.slope_:
        return "the scores did not help to choose between the answers of a question, so this is the majority vote"
    if vote.against_ < 0.005:
        return "votes and scores count together, and hardly any response counts against its answer"
    return (
        f"votes and scores count together, and {vote.against_:.0%} of the calibration responses count against their "
        "answer: without them it would stand better"
    )


def _expects(gains: dict[str, float]) -> str:
    told = [
        f"{100 * gains[name]:+.1f} ± {196 * gains[name + '_se']:.1f} points against {name}"
        for name in ("majority", "vanilla")
    ]
    return f"On questions it was not fitted on it makes {' and '.join(told)} (95 %)"


def _saves(enough: int, n: int) -> str:
    if enough >= n:
        return f"it needs all {n} samples to do as well as the better of the two with {n}"
    return f"with {enough} samples a question it does as well as the better of the two with {n}"


def _more(gains: dict[str, float]) -> str:
    step, error = gains["step"], gains["step_se"]
    told = f"{100 * step:+.1f} ± {196 * error:.1f}"
    if step > max(WORTH, 1.96 * error):
        return f"1.6 times the questions brought {told} points, so more are likely to pay"
    if step + 1.96 * error < WORTH:
        return f"five eighths of the questions would do as well ({told}), so more would not pay"
    return f"against five eighths of the questions that is {told}: whether more would pay is open"
