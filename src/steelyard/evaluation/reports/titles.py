"""The title of every chart: a sentence that states what it shows."""

from __future__ import annotations

from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports.details import Offsets, Rows, Weights
from steelyard.evaluation.reports.headline import named, points
from steelyard.evaluation.reports.summary import Summary
from steelyard.voting.confidence.calibration_error import CalibrationCurve


def curves(s: Summary) -> str:
    """The finding of the scaling curves."""
    first = next(row for row in s.curves if row["method"] == s.method)
    own, ceiling = s.accuracy[s.method], s.accuracy["pass-at-n"]
    return (
        f"From {percent(first['accuracy'])} % with {first['n']} sample to {percent(own)} % with {s.n}; "
        f"a correct answer is among them for {percent(ceiling)} % of the questions"
    )


def weights(s: Summary, weights: Weights) -> str:
    """The finding of the weight function."""
    if not weights.line:
        return f"What a score is worth to {named(s.method)} depends on the other responses of its question"
    if len(weights.crossings) == 1:
        at = f"{weights.crossings[0]:.2g}"
        if s.harmful is not None:
            return f"One more response with a score below {at} lowers the chance of its answer"
        below = weights.below
        return (
            f"A score below {at} counts against its answer: {percent(below['wrong'])} % of the wrong and "
            f"{percent(below['correct'])} % of the correct responses"
        )
    if weights.crossings:
        return f"The weight changes its sign at {' and '.join(f'{p:.2g}' for p in weights.crossings[:3])}"
    values = [row["weight"] for row in weights.line]
    if min(values) == max(values):
        return "Every score is worth the same: the fitted vote is the majority vote"
    return "No score counts against its answer" if min(values) >= 0 else "Every score counts against its answer"


def weights_note(s: Summary) -> str:
    """What the weight is measured in, and how often it is negative."""
    below = "below, the scores of their correct and wrong responses."
    if s.harmful is None:
        return f"Learned on the calibration questions; {below}"
    return (
        f"What one more response adds to the log-odds of an answer that a quarter of the {s.n} samples gave; a first "
        f"response always speaks for its answer. Of the calibration responses {percent(s.harmful)} % count against "
        f"theirs: without them it would stand better. Learned on the calibration questions; {below}"
    )


def offsets(found: Offsets) -> str:
    """The finding of the accuracy over b."""
    gain = points(found.best - found.majority)
    if found.best == found.majority:
        return f"No b beats majority vote on the calibration questions ({percent(found.best)} %)"
    return (
        f"On the calibration questions the best b of the {found.method} vote gains {gain} points over majority vote; "
        f"b = {found.b:.3g} was chosen ({percent(found.at_b)} %)"
    )


def no_confidence(s: Summary) -> str:
    """Why there is no reliability diagram."""
    return f"The {s.method} vote has no confidence, as it learns no probability of being correct: use calibrated"


def calibration(found: CalibrationCurve) -> str:
    """The finding of the reliability diagram: the mean distance, and the bins that chance does not explain."""
    apart = f"Confidence and accuracy are {percent(found.ece)} points apart on average"
    high = sum(each.confidence > each.high for each in found.bins)
    low = sum(each.confidence < each.low for each in found.bins)
    if not (high or low):
        return f"{apart}; no bin is off by more than chance explains"
    return f"{apart}; the confidence is too high in {high} and too low in {low} of {len(found.bins)} bins"


def domains(s: Summary, rows: Rows) -> str:
    """The finding of the accuracies by domain."""
    own = [row for row in rows if row["method"] == s.method]
    base = {row["domain"]: row["accuracy"] for row in rows if row["method"] == "majority"}
    best, worst = max(own, key=lambda row: row["accuracy"]), min(own, key=lambda row: row["accuracy"])
    wins = sum(row["accuracy"] > base[row["domain"]] for row in own)
    loses = sum(row["accuracy"] < base[row["domain"]] for row in own)
    spread = (
        f"From {percent(worst['accuracy'])} % ({worst['domain']}) to {percent(best['accuracy'])} % ({best['domain']})"
    )
    if s.method == "majority":
        return spread
    return f"{spread}; above majority vote in {wins} of {len(own)} domains, below in {loses}"
