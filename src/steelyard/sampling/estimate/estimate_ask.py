"""Estimates what `ask` spends on one question."""

from __future__ import annotations

from steelyard.sampling.ask.prepare import Prepared
from steelyard.sampling.estimate.estimate import Estimate, Range, tokens_of_text
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.verifiers.protocol import ChatProtocol

LAYOUT = 300  # tokens that a verifier's prompt adds to the question and the response; a generous guess


def estimate_ask(prepared: Prepared, *, on_demand: bool) -> dict[str, Estimate]:
    """The estimates by upstream: one request per sample, or fewer if the plan may stop early."""
    early = prepared.may_stop_early
    prompt = tokens_of_text(len(prepared.prompt.encode("utf-8", "surrogatepass")), 1)
    estimates: dict[str, Estimate] = {}
    for name, sampling in prepared.samplings.items():
        minimum, read = 0 if early else sampling.n, prompt * sampling.n
        estimates[name] = Estimate(
            sampling.n,
            Range(minimum, sampling.n, None if early else sampling.n),
            Range(prompt.low * minimum, read.high, None if early else read.expected),
            Range(minimum, sampling.n * sampling.max_tokens),
        )
    if prepared.reading is not None and prepared.reading.at is not None:  # one in this process bills nobody
        longest = max(sampling.max_tokens for sampling in prepared.samplings.values())
        samples = sum(estimate.samples for estimate in estimates.values())
        minimum = 0 if on_demand else samples
        writes = samples if isinstance(prepared.reading.protocol, ChatProtocol) else 0
        estimates[VERIFIER] = Estimate(
            0,
            Range(minimum, samples, None if minimum < samples else samples),
            Range(prompt.low * minimum, samples * (prompt.high + longest + LAYOUT)),
            Range(min(minimum, writes), writes),
        )
    return estimates
