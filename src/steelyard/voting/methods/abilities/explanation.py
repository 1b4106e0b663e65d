"""A fitted method in plain words: what was fitted, what it is expected to gain, what more labels would change."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.voting.methods.base.plan import Provenance

WORTH = 0.003  # a gain of less is not worth a label


def explained(fitted: Provenance | None, described: str, gains: Mapping[str, float], apart: int) -> str:
    """Two sentences, or one for a method that was not assessed."""
    if fitted is None:
        return "Not fitted."
    kept = f" ({apart} others reserved)" if apart else ""
    sentences = [f"Fitted on {fitted.questions - apart} questions{kept} at N = {fitted.n}: {described}."]
    if gains:
        told = [_expects(gains), _more(gains)]
        if "enough" in gains:
            told.append(_saves(int(gains["enough"]), fitted.n))
        sentences.append(f"{'; '.join(told)}.")
    return " ".join(sentences)


def _expects(gains: Mapping[str, float]) -> str:
    told = [
        f"{100 * gains[name]:+.1f} ± {196 * gains[name + '_se']:.1f} points against {name}"
        for name in ("majority", "vanilla")
        if name in gains
    ]
    return f"On questions it was not fitted on it makes {' and '.join(told)} (95 %)"


def _saves(enough: int, n: int) -> str:
    if enough >= n:
        return f"it needs all {n} samples to do as well as the better of the two with {n}"
    return f"with {enough} samples per question it does as well as the better of the two with {n}"


def _more(gains: Mapping[str, float]) -> str:
    step, error = gains["step"], gains["step_se"]
    told = f"{100 * step:+.1f} ± {196 * error:.1f}"
    if step > max(WORTH, 1.96 * error):
        return f"from five eighths of the questions to all it gained {told} points, so more are likely to pay"
    if step + 1.96 * error < WORTH:
        return f"from five eighths of the questions to all it gained {told} points, so more would not pay"
    return f"from five eighths of the questions to all it gained {told} points: whether more would pay is open"
