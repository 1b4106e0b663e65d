"""Estimates what `ask` spends on one question."""

from __future__ import annotations

from steelyard.sampling.ask.ask_question import longest_sample
from steelyard.sampling.ask.planned_samples import SAMPLES, samples_to_draw
from steelyard.sampling.estimate.estimate import Estimate, Range, tokens_of_text
from steelyard.sampling.llm.named_upstreams import Named, read_upstreams
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import ChatProtocol
from steelyard.tables.questions.prompts import Template
from steelyard.voting.methods.base.method import Method

LAYOUT = 300  # tokens that a verifier's prompt adds to the question and the response; a generous guess


def estimate_ask(
    question: str,
    template: Template,
    *,
    upstream: Named,
    model: Named | None = None,
    key_env: Named = "OPENAI_API_KEY",
    n: int | None,
    max_tokens: int | None,
    plan: Method | None,
    verifier: str | None,
    on_demand: bool,
) -> dict[str, Estimate]:
    """The estimates by upstream: one request per sample, or fewer if the plan may stop early."""
    upstreams = read_upstreams(upstream, model, key_env, SAMPLES if n is None else n)
    cascade = plan.cascade_ if plan else None
    early = plan is not None and (plan.stopping_ is not None or cascade is not None)
    draws = samples_to_draw(plan, [server.name for server in upstreams if server.name], n)
    prompt = tokens_of_text(len(template.fill(question).encode("utf-8", "surrogatepass")), 1)
    estimates: dict[str, Estimate] = {}
    for server in upstreams:
        samples = draws.get(server.name, 0)
        minimum = 0 if early else samples
        read = prompt * samples
        estimates[server.name] = Estimate(
            samples,
            Range(minimum, samples, None if early else samples),
            Range(prompt.low * minimum, read.high, None if early else read.expected),
            Range(minimum, samples * longest_sample(server.url, max_tokens)),
        )
    if verifier is not None:
        longest = max(longest_sample(server.url, max_tokens) for server in upstreams)
        samples = sum(estimate.samples for estimate in estimates.values())
        minimum = 0 if on_demand or early else samples
        writes = samples if isinstance(find_verifier(verifier)[0], ChatProtocol) else 0
        estimates[VERIFIER] = Estimate(
            0,
            Range(minimum, samples, None if minimum < samples else samples),
            Range(prompt.low * minimum, samples * (prompt.high + longest + LAYOUT)),
            Range(min(minimum, writes), writes),
        )
    return estimates
