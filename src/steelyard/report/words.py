"""What the figures say, in plain sentences: the answer at the top and the title of every chart."""

from __future__ import annotations

from steelyard.evaluation.accuracy import Estimate
from steelyard.evaluation.compute import ComputeToMatch
from steelyard.report.details import Offsets, Rows, Weights
from steelyard.report.summary import Summary

NAMES = {"majority": "majority vote", "best-of-n": "best-of-N", "vanilla": "the vanilla vote", "pass-at-n": "pass@N"}


def named(method: str) -> str:
    """A method in running text."""
    return NAMES.get(method, f"the {method} vote")


def percent(share: float) -> str:
    """A share as a percentage, without its sign."""
    return f"{100 * share:.1f}"


def points(value: float) -> str:
    """A difference in percentage points, with a sign.

    >>> points(0.031), points(-0.0004), points(-0.012)
    ('+3.1', '0.0', '−1.2')
    """
    text = f"{100 * value:+.1f}".replace("-", "−")
    return "0.0" if text[1:] == "0.0" else text


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
        f"With {s.n} samples a question, {named(s.method)} answers {percent(own)} % of {own.questions} test questions "
        f"right (95 % interval {percent(own.low)} to {percent(own.high)})."
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
    goal = f"{named(match.baseline)}'s accuracy with {match.n} samples"
    if match.samples is None:
        return f"It never reaches {goal}, so it saves none."
    about = f"about {match.samples:.0f} ({percent(match.fraction or 0)} % of them"
    if match.high is None or match.high >= match.n:
        return (
            f"It reaches {goal} with {about}), but in {percent(1 - match.reached)} % of the bootstrap draws it never "
            "does: no saving to count on."
            if match.reached < 1
            else f"It reaches {goal} with {about}, interval up to all): no saving to count on."
        )
    reach = f"; 95 % interval {percent(match.fraction_low or 0)} to {percent(match.fraction_high or 0)} %)"
    pays = match.break_even(s.cal_samples) if s.learns else None
    paid = f" The {s.cal_samples:,} labelled samples are paid back after {pays:,.0f} questions." if pays else ""
    return f"It reaches {goal} with {about}{reach}.{paid}"


def _advice(s: Summary) -> str:
    """What to do, where the figures allow a word."""
    honest = {name: value for name, value in s.accuracy.items() if name != "pass-at-n"}
    best = max(honest, key=lambda name: honest[name])
    state = outcome(s.gain["majority"]) if "majority" in s.gain else "same"
    within = (
        f"Within a question the score tells right from wrong in {percent(s.auroc_within)} % of pairs (50 is chance), "
        f"over all responses in {percent(s.auroc)} %; only the first can change a vote."
    )
    if state == "better":
        return ""
    if best != s.method and honest[best] > s.accuracy["majority"] and state == "worse":
        return f"{within} The highest accuracy on these questions has {named(best)} ({percent(honest[best])} %)."
    return within


def title_curves(s: Summary) -> str:
    """The finding of the scaling curves."""
    first = next(row for row in s.curves if row["method"] == s.method)
    own, ceiling = s.accuracy[s.method], s.accuracy["pass-at-n"]
    return (
        f"From {percent(first['accuracy'])} % with {first['n']} sample to {percent(own)} % with {s.n}; "
        f"a right answer is among them for {percent(ceiling)} % of the questions"
    )


def title_weights(s: Summary, weights: Weights) -> str:
    """The finding of the weight function."""
    if not weights.line:
        return f"What a score is worth to {named(s.method)} depends on the other responses of its question"
    if weights.crossings:
        below = _below(weights.histogram, weights.crossings[0])
        at = " and ".join(f"{p:.2g}" for p in weights.crossings[:3])
        return (
            f"A score below {at} counts against its answer: about {percent(below['wrong'])} % of the wrong and "
            f"{percent(below['right'])} % of the right responses"
            if len(weights.crossings) == 1
            else f"The weight changes its sign at {at}"
        )
    values = [row["weight"] for row in weights.line]
    if min(values) == max(values):
        return "Every score is worth the same: the fitted vote is the majority vote"
    return "No score counts against its answer" if min(values) >= 0 else "Every score counts against its answer"


def _below(histogram: Rows, b: float) -> dict[str, float]:
    """The share of right and wrong responses below b, straight within a bin."""
    shares = {"right": 0.0, "wrong": 0.0}
    for row in histogram:
        part = min(1.0, max(0.0, (b - row["begin"]) / (row["end"] - row["begin"])))
        shares[row["kind"]] += part * row["share"]
    return shares


def title_offsets(found: Offsets) -> str:
    """The finding of the accuracy over b."""
    gain = points(found.best - found.majority)
    if found.best == found.majority:
        return f"No b beats majority vote on the calibration questions ({percent(found.best)} %)"
    return (
        f"On the calibration questions the best b gains {gain} points over majority vote; "
        f"b = {found.b:.3g} was chosen ({percent(found.at_b)} %)"
    )


def title_reliability(s: Summary) -> str:
    """The finding of the reliability diagram."""
    bins = s.reliability.bins
    bias = sum(bin.questions * (bin.confidence - bin.accuracy) for bin in bins) / max(1, s.test_questions)
    how = "too sure" if bias > 0.02 else "not sure enough" if bias < -0.02 else "about right on average"
    return f"The confidence is {how}: expected calibration error {percent(s.reliability.ece)} points"


def title_domains(s: Summary, rows: Rows) -> str:
    """The finding of the accuracies by domain."""
    own = [row for row in rows if row["method"] == s.method]
    base = {row["domain"]: row["accuracy"] for row in rows if row["method"] == "majority"}
    best, worst = max(own, key=lambda row: row["accuracy"]), min(own, key=lambda row: row["accuracy"])
    wins = sum(row["accuracy"] > base[row["domain"]] for row in own)
    loses = sum(row["accuracy"] < base[row["domain"]] for row in own)
    spread = f"From {percent(worst['accuracy'])} % ({worst['domain']}) to {percent(best['accuracy'])} % ({best['domain']})"
    if s.method == "majority":
        return spread
    return f"{spread}; above majority vote in {wins} of {len(own)} domains, below in {loses}"
