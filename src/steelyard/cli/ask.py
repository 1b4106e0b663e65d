"""steelyard ask: one question, many samples, one verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import show
from steelyard.cli.ballot_view import About, as_object, show_ballot
from steelyard.cli.options import Json, KeyEnv, Model, Seed, UpstreamUrl
from steelyard.cli.server_options import opened
from steelyard.errors import SettingError, UpstreamError

if TYPE_CHECKING:
    from steelyard.llm.address import Address
    from steelyard.llm.draws import Draw
    from steelyard.methods.base.method import Method
    from steelyard.runs.parameters import Sampling

EXAMPLE = 'Example: steelyard ask "Tom has 3 apples and buys 4 more. How many has he?" --upstream local -n 8'
TOKENS, LOCAL_TOKENS = 2048, 512


def run(
    question: Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)],
    upstream: UpstreamUrl,
    model: Model = None,
    n: Annotated[int, typer.Option("-n", "--samples", help="How many samples.")] = 8,
    plan: Annotated[
        Path | None, typer.Option(help="A plan fitted on the score self_logprob.", show_default=False)
    ] = None,
    prompt: Annotated[str, typer.Option(help="Prompt: math, choice, plain, or a file with {prompt} in it.")] = "math",
    temperature: Annotated[float, typer.Option(help="Temperature.")] = 0.7,
    top_p: Annotated[float, typer.Option(help="Nucleus of the sampling.")] = 0.9,
    max_tokens: Annotated[
        int | None,
        typer.Option(help=f"Longest response; {TOKENS}, with the embedded LLM {LOCAL_TOKENS}.", show_default=False),
    ] = None,
    seed: Seed = 0,
    key_env: KeyEnv = "OPENAI_API_KEY",
    json: Json = False,
) -> None:
    """Ask one question many times, show the samples coming in, group their answers and vote."""
    import asyncio

    from steelyard.jobs.ask import (
        SCORE,
        count,
        planned,
        unplanned,
    )
    from steelyard.llm.embedded import LOCAL
    from steelyard.llm.prompts import read_template
    from steelyard.llm.upstream import model_name
    from steelyard.runs.parameters import Sampling

    if not question.strip():
        raise SettingError("the question is empty: write it in quotes")
    template = read_template(prompt)
    longest = max_tokens or (LOCAL_TOKENS if upstream == LOCAL else TOKENS)
    sampling = Sampling(model_name(upstream, model), n, temperature, top_p, longest, seed)
    voter, score = planned(plan, n=n, model=sampling.model) if plan else (None, SCORE)
    needed = score if voter and voter.scored else None
    with opened(upstream, key_env) as address:
        draws = asyncio.run(_sampled(address, sampling, template.fill(question), template.answers, needed, voter))
    scored = any(draw.choice and draw.choice.logprob is not None for draw in draws)
    method = voter or unplanned(scored)
    ballot = count(draws, method, by=score, answers=template.answers)
    about = About(question, sampling.model, method.name, score if scored else None, str(plan) if plan else None)
    if json:
        show.as_json(as_object(ballot, draws, about))
    else:
        show_ballot(ballot, draws, about)


async def _sampled(
    address: Address, sampling: Sampling, prompt: str, kind: str, needed: str | None, voter: Method | None
) -> list[Draw]:
    """Draw the samples and show them as they come, until all are there or the plan's rule says stop.

    Without any sample, or without the score that is needed, it is an error.
    """
    from contextlib import aclosing

    from steelyard.cli.arrivals import arrivals
    from steelyard.jobs.ask import Watch
    from steelyard.llm.client import Client
    from steelyard.llm.draws import draws
    from steelyard.llm.probe import probe

    async with Client(address) as client:
        able = await probe(client, sampling, wanted=1)
        if needed and not able.logprobs:
            raise UpstreamError(
                f"{address.base} gives no log-probabilities, which the plan's score {needed!r} is made of: "
                "ask another server, or without --plan"
            )
        came: list[Draw] = []
        with Watch(voter, kind) as watch:
            with arrivals(sampling.n, kind) as arrived:
                async with aclosing(draws(client, sampling, able, prompt)) as coming:
                    async for draw in coming:
                        arrived(draw)
                        came.append(draw)
                        if watch.enough(draw):
                            break
            if watch.stopped:
                show.note(f"stopped after {watch.stopped.samples} of {sampling.n} samples: {watch.stopped.why}")
                came = [draw for draw in came if draw.sample < watch.stopped.samples]
    if not any(draw.choice for draw in came):
        raise UpstreamError(f"{address.base} gave no sample: {came[0].reason}; see 'steelyard doctor'")
    return sorted(came)
