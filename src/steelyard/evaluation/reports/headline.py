"""The answer at the top of the page, in plain sentences."""

from __future__ import annotations

from steelyard.evaluation import percentages
from steelyard.evaluation.accuracy import Estimate
from steelyard.evaluation.matching_compute import ComputeToMatch
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports.summary import Summary
from steelyard.voting.methods import method_class


def named(method: str) -> str:
    """A method in running text.

    >>> named("best-of-n"), named("logit")
    ('best-of-N', 'the logit vote')
    """
    return method_class(method).label or f"the {method} vote"


def share_of(share: float | None) -> str:
    """A share of the samples; None is never.

    >>> share_of(0.168), share_of(None)
    ('16.8 %', 'never')
    """
    return "never" if share is None else f"{percent(share)} %"


def points(value: float) -> str:
    """A difference in percentage points, with a sign as typesetters have it.

    >>> points(0.031), points(-0.0004), points(-0.012)
    ('+3.1', '0.0', '−1.2')
    """
    return percentages.points(value, minus="−")


def interval(value: Estimate) -> str:
    return f"{points(value)} points (95 % interval {points(value.low)} to {points(value.high)})"


def outcome(gain: Estimate) -> str:
    """`better`, `worse`, `same` (not one verdict differs in effect) or `unclear`, by the paired interval."""
    if gain.low > 0:
        return "better"
    if gain.high < 0:
        return "worse"
    return "same" if gain.low == gain.high == 0 else "unclear"


def headline(s: Summary) -> str:
    """The answer in one line."""
    if "majority" not in s.gain:
        return f"Majority vote answers {percent(s.accuracy['majority'])} % right"
    gain, what = s.gain["majority"], "Calibration" if s.learns else f"The {s.method} vote"
    return {
        "better": f"{what} helps: {points(gain)} points over majority vote",
        "worse": f"{what} hurts here: {points(gain)} points against majority vote",
        "same": f"{what} changes nothing here: as good as majority vote, question by question",
        "unclear": f"{what} makes no clear difference here: {points(gain)} points against majority vote",
    }[outcome(gain)]


def answer(s: Summary) -> list[str]:
    """The answer in two or three sentences."""
    own = s.accuracy[s.method]
    said = [
        f"With {s.n} samples per question, {named(s.method)} answers {percent(own)} % of {own.questions} test "
        f"questions correctly (95 % interval {percent(own.low)} to {percent(own.high)})."
    ]
    if s.gain:
        said[0] = said[0][:-1] + ": " + _compared(s) + "."
    if "majority" in s.match:
        said.append(saving(s, s.match["majority"]))
    said.append(_advice(s))
    return [text for text in said if text]


def _compared(s: Summary) -> str:
    parts = [f"{interval(s.gain[name])} against {named(name)}" for name in ("majority", "best-of-n") if name in s.gain]
    return " and ".join(parts)


def saving(s: Summary, match: ComputeToMatch) -> str:
    """What the gain is worth in samples, or why nothing should be counted on."""
    goal = f"the accuracy that {named(match.baseline)} has with {match.n}"
    if match.samples is None:
        return f"With no number of samples it reaches {goal}: it saves none."
    about = f"It reaches {goal} with about {match.samples:.0f} samples ({percent(match.fraction or 0)} %"
    if match.high is None or match.high >= match.n:
        never = f"in {percent(1 - match.reached)} % of the bootstrap draws it never does"
        why = never if match.reached < 1 else "the interval reaches up to all of them"
        return f"{about}), but {why}: no saving to count on."
    pays = match.break_even(s.cal_samples) if s.learns else None
    paid = f" The {s.cal_samples:,} labelled samples are paid back after {pays:,.0f} questions." if pays else ""
    return (
        f"{about}; 95 % interval {percent(match.fraction_low or 0)} to {percent(match.fraction_high or 0)} %), so "
        f"each question costs {match.n - match.samples:.0f} fewer.{paid}"
    )


def _advice(s: Summary) -> str:
    """Why it does not help, where it does not, and what does better."""
    better = [name for name, gain in s.gain.items() if outcome(gain) == "worse"]
    best = max(better, key=lambda name: s.accuracy[name], default=None)
    beaten = "" if best is None else f"Here {named(best)} does better, with {percent(s.accuracy[best])} %."
    if "majority" not in s.gain or outcome(s.gain["majority"]) == "better":
        return beaten
    if s.auroc is None or s.auroc_within is None:
        return beaten
    within = (
        f"Within a question the score puts a correct response above a wrong one in {percent(s.auroc_within)} % of "
        f"pairs (50 is chance), over all responses in {percent(s.auroc)} %; only the first can change a vote."
    )
    return f"{beaten} {within}".strip()
