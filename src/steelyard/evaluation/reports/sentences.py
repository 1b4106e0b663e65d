"""The sentences of the page: the answer at the top, and the title of every chart, which states its finding."""

from __future__ import annotations

from steelyard.evaluation import percentages
from steelyard.evaluation.accuracy import Estimate
from steelyard.evaluation.matching_compute import ComputeToMatch
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.reports.chart_data import Offsets, Weights
from steelyard.evaluation.reports.summary import Summary
from steelyard.foundation.charts.figures import Rows
from steelyard.voting.confidence.calibration_error import CalibrationCurve
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
    gain, subject = s.gain["majority"], "Calibration" if s.learns else f"The {s.method} vote"
    return {
        "better": f"{subject} helps: {points(gain)} points over majority vote",
        "worse": f"{subject} hurts here: {points(gain)} points against majority vote",
        "same": f"{subject} changes nothing here: as good as majority vote, question by question",
        "unclear": f"{subject} makes no clear difference here: {points(gain)} points against majority vote",
    }[outcome(gain)]


def answer(s: Summary) -> list[str]:
    """The answer in two or three sentences."""
    own = s.accuracy[s.method]
    sentences = [
        f"With {s.n} samples per question, {named(s.method)} answers {percent(own)} % of {own.questions} test "
        f"questions correctly (95 % interval {percent(own.low)} to {percent(own.high)})."
    ]
    if s.gain:
        rivals = [name for name in ("majority", "best-of-n") if name in s.gain]
        compared = " and ".join(f"{interval(s.gain[name])} against {named(name)}" for name in rivals)
        sentences[0] = f"{sentences[0][:-1]}: {compared}."
    if s.attempted is not None:
        sentences.append(
            f"{percent(s.attempted - own)} % of its verdicts are incorrect and {percent(1 - s.attempted)} % not "
            "attempted: every response declined to answer, or the winning response was graded so."
        )
    if "majority" in s.match:
        sentences.append(saving(s, s.match["majority"]))
    sentences.append(_advice(s))
    return [text for text in sentences if text]


def saving(s: Summary, match: ComputeToMatch) -> str:
    """What the gain is worth in samples, or why nothing should be counted on."""
    goal = f"{named(match.baseline)} with {match.n}"
    if match.samples is None:
        return f"No number of its samples up to {match.n} matches {goal}, so it saves none."
    matched = f"About {match.samples:.0f} of its samples match {goal} ({percent(match.fraction or 0)} %"
    if match.high is None or match.high >= match.n:
        never = f"in {percent(1 - match.reached)} % of the bootstrap draws no number does"
        why = never if match.reached < 1 else "the interval reaches up to all of them"
        return f"{matched}), but {why}: do not count on a saving."
    pays = match.break_even(s.cal_samples) if s.learns else None
    paid = f" The {s.cal_samples:,} labelled samples are paid back after {pays:,.0f} questions." if pays else ""
    return (
        f"{matched}; 95 % interval {percent(match.fraction_low or 0)} to {percent(match.fraction_high or 0)} %), so "
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


def curves_title(s: Summary) -> str:
    """The finding of the scaling curves."""
    first = next(row for row in s.curves if row["method"] == s.method)
    own, ceiling = s.accuracy[s.method], s.accuracy["pass-at-n"]
    return (
        f"From {percent(first['accuracy'])} % with {first['n']} sample to {percent(own)} % with {s.n}; "
        f"a correct answer is among them for {percent(ceiling)} % of the questions"
    )


def weights_title(s: Summary, weights: Weights) -> str:
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


def offsets_title(offsets: Offsets) -> str:
    """The finding of the accuracy over b."""
    gain = points(offsets.best - offsets.majority)
    if offsets.best == offsets.majority:
        return f"No b beats majority vote on the calibration questions ({percent(offsets.best)} %)"
    return (
        f"On the calibration questions the best b of the {offsets.method} vote gains {gain} points over majority vote; "
        f"b = {offsets.b:.3g} was chosen ({percent(offsets.at_b)} %)"
    )


def no_confidence(s: Summary) -> str:
    """Why there is no reliability diagram."""
    return f"The {s.method} vote has no confidence, as it learns no probability of being correct: use calibrated"


def calibration_title(curve: CalibrationCurve) -> str:
    """The finding of the reliability diagram: the mean distance, and the bins that chance does not explain."""
    apart = f"Confidence and accuracy are {percent(curve.ece)} points apart on average"
    high = sum(bin_.confidence > bin_.high for bin_ in curve.bins)
    low = sum(bin_.confidence < bin_.low for bin_ in curve.bins)
    if not (high or low):
        return f"{apart}; no bin is off by more than chance explains"
    return f"{apart}; the confidence is too high in {high} and too low in {low} of {len(curve.bins)} bins"


def domains_title(s: Summary, rows: Rows) -> str:
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
