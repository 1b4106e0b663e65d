"""The cost of a command: estimated before it (--dry-run, --confirm-above), and reported after it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from steelyard.cli import console
from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.runs.token_usage import Usage
    from steelyard.sampling.cost_estimate import Estimate, Range
    from steelyard.sampling.llm.prices import Prices


class Spending(NamedTuple):
    """How to show an estimate, and the cost above which to ask for confirmation."""

    prices: Prices
    dry_run: bool
    confirm_above: float | None
    json: bool
    probe: Mapping[str, Usage] | None = None  # what a probe has spent, by upstream
    probe_cost: float = 0.0  # at most

    def confirm_probe(self, estimates: Mapping[str, Estimate]) -> None:
        """Compare the cost of a probe with the limit, before it is sent."""
        _confirm(estimates, self, "the cost of the probe", "Lower --probe to sample fewer questions.")

    def after_probe(self, estimates: Mapping[str, Estimate], spent: Mapping[str, Usage]) -> Spending:
        """Count what a probe has spent; its estimated upper end if the server reported no tokens."""
        from steelyard.sampling.llm.prices import total_cost

        cost, estimate = total_cost(spent, self.prices), _cost(estimates, self.prices)
        upper_end = estimate.high if estimate else 0.0
        return self._replace(probe=spent, probe_cost=upper_end if cost is None else cost)

    def should_send(self, estimates: Mapping[str, Estimate], unit: str, hint: str = "") -> bool:
        """Print the estimate (--dry-run) or compare it with the limit; return whether to send the requests."""
        if self.dry_run:
            _show_estimate(estimates, self, unit, hint)
            return False
        _confirm(estimates, self, "the cost", hint)
        return True


def check_spending(confirm_above: float | None, price: list[str] | None, upstream: str = "") -> Prices:
    """Read the prices of --upstream and of the verifier, without which --confirm-above cannot work."""
    from steelyard.sampling.llm.prices import VERIFIER, check_price_names, read_prices
    from steelyard.sampling.llm.upstreams import names_of

    if confirm_above is not None and not price:
        raise SettingError("--confirm-above needs prices: add --token-price IN,OUT")
    prices = read_prices(price or [])
    check_price_names(prices, [*names_of(upstream), VERIFIER])
    return prices


def _show_estimate(estimates: Mapping[str, Estimate], spending: Spending, unit: str, hint: str) -> None:
    """Print the expected requests, tokens and cost, and how to get a closer estimate."""
    from steelyard.sampling.llm.prices import currency_of

    prices = spending.prices
    total, cost = _total(estimates), _cost(estimates, prices)
    if spending.json:
        money = {"cost": None if cost is None else vars(cost), "currency": currency_of(prices)}
        console.as_json({"dry_run": True, **total.plain(), **money, **probe_object(spending.probe, prices)})
        return
    if not total.requests.high:
        reason = f"the {total.samples:,} {unit} need no server" if total.samples else f"no {unit} are left"
        console.say(f"Nothing to send: {reason}.")
        return
    console.say(f"Requests: {_shown(total.requests)} for {total.samples:,} {unit}, not counting retries.")
    console.say(f"Input tokens: {_shown(total.input_tokens)}. Output tokens: {_shown(total.output_tokens)}.")
    unknown = "unknown without --token-price IN,OUT for every upstream"
    console.say(f"Cost: {unknown if cost is None else f'{_money(cost)} {currency_of(prices)}'}.")
    if hint and total.output_tokens.expected is None:
        console.say(hint)


def _confirm(estimates: Mapping[str, Estimate], spending: Spending, subject: str, hint: str) -> None:
    """Return if the cost, with that of a probe, is unlikely to exceed the limit, or if the user confirms it."""
    from steelyard.sampling.cost_estimate import exactly
    from steelyard.sampling.llm.prices import currency_of

    above = spending.confirm_above
    if above is None or not _total(estimates).requests.high:
        return
    cost = _cost(estimates, spending.prices)
    if cost is None:
        raise SettingError("--confirm-above needs the price of every upstream: add --token-price NAME=IN,OUT")
    cost += exactly(spending.probe_cost)
    if cost.high <= above:
        return
    currency = currency_of(spending.prices)
    message = f"{subject} could reach {cost.high:.4g} {currency}, more than --confirm-above {above:g}"
    if spending.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        closer = f". {hint}" if hint and cost.expected is None else ""
        raise SettingError(f"{message}, and there is no terminal to ask: raise --confirm-above to proceed{closer}")
    if not typer.confirm(f"{message[0].upper()}{message[1:]} (expected: {_money(cost)}). Send the requests?", err=True):
        console.aside("Nothing was sent." if spending.probe is None else "Nothing was sent after the probe.")
        raise typer.Exit(1)


def _total(estimates: Mapping[str, Estimate]) -> Estimate:
    from steelyard.sampling.cost_estimate import no_requests

    return sum(estimates.values(), no_requests())


def _cost(estimates: Mapping[str, Estimate], prices: Prices) -> Range | None:
    from steelyard.sampling.cost_estimate import exactly
    from steelyard.sampling.llm.prices import price_of

    by_name = {name: price_of(prices, name) for name, estimate in estimates.items() if estimate.requests.high}
    if not prices or None in by_name.values():
        return None
    return sum((estimates[name].cost(price) for name, price in by_name.items() if price), exactly(0.0))


def _shown(number: Range) -> str:
    """A number with its range.

    >>> from steelyard.sampling.cost_estimate import Range
    >>> _shown(Range(10, 1200)), _shown(Range(10, 30, 20)), _shown(Range(3, 3, 3))
    ('10 to 1,200', 'about 20 (10 to 30)', '3')
    """
    low, high = f"{number.low:,.0f}", f"{number.high:,.0f}"
    if low == high:
        return low
    return f"{low} to {high}" if number.expected is None else f"about {number.expected:,.0f} ({low} to {high})"


def _money(cost: Range) -> str:
    low, high = f"{cost.low:.3g}", f"{cost.high:.3g}"
    return f"{low} to {high}" if cost.expected is None else f"about {cost.expected:.3g} ({low} to {high})"


def estimate_options(dry_run: bool, confirm_above: float | None, probe: int | None, **others: Any) -> bool:
    """Whether to estimate first; refuse options that an estimate does not support."""
    estimating = dry_run or confirm_above is not None or probe is not None
    for name, value in others.items():
        if estimating and value is not None:
            raise SettingError(f"--dry-run, --probe and --confirm-above cannot be combined with --{name}: leave it out")
    if probe is not None and not dry_run and confirm_above is None:
        raise SettingError("--probe needs --dry-run or --confirm-above COST: add one of them")
    return estimating


def add_costs(spent: dict[str, dict[str, dict[str, Any]]], prices: Prices) -> None:
    """Add the cost and its currency to every usage that `status` reports; None where they are unknown."""
    from steelyard.runs.token_usage import Usage
    from steelyard.sampling.llm.prices import VERIFIER, cost, currency_of, price_of

    for kind, parts in spent.items():
        for name, usage in parts.items():
            price = price_of(prices, VERIFIER if kind == "verifiers" else name)
            usage.update(cost=cost(Usage(**usage), price), currency=currency_of(prices))


def spent_object(spent: Mapping[str, Usage], prices: Prices) -> dict[str, Any] | None:
    """Requests, tokens and cost for --json, also by upstream where these have names; None without any request."""
    from steelyard.runs.token_usage import total_usage
    from steelyard.sampling.llm.prices import cost, currency_of, price_of, total_cost

    if not any(usage.requests for usage in spent.values()):
        return None
    currency = {"currency": currency_of(prices)}
    named = {
        name: vars(usage) | {"cost": cost(usage, price_of(prices, name))} | currency
        for name, usage in spent.items()
        if name
    }
    total = vars(total_usage(spent)) | {"cost": total_cost(spent, prices)} | currency
    return total | ({"upstreams": named} if named else {})


def probe_object(probe: Mapping[str, Usage] | None, prices: Prices) -> dict[str, Any]:
    """What a probe has spent, as a member of the object for --json; nothing without a probe."""
    return {} if probe is None else {"probe": spent_object(probe, prices)}


def say_spent(spent: Mapping[str, Usage], prices: Prices, on: str = "") -> None:
    """Print what was spent, if anything was."""
    total = spent_object(spent, prices)
    if total:
        console.say(spent_line(total, on))


def spent_line(total: Mapping[str, Any], on: str = "") -> str:
    """What was spent, as one sentence.

    >>> tokens = {"requests": 2, "uncounted": 0, "prompt_tokens": 14, "completion_tokens": 60}
    >>> spent_line(tokens | {"cost": 0.00123, "currency": "EUR"})
    'Spent: 2 requests, 14 input and 60 output tokens, cost 0.00123 EUR.'
    """
    requests = f"{total['requests']:,} request{'s' * (total['requests'] != 1)}"
    tokens = f", {total['prompt_tokens']:,} input and {total['completion_tokens']:,} output tokens"
    if total["uncounted"] == total["requests"]:
        tokens = ", tokens not reported by the server"
    elif total["uncounted"]:
        tokens += f" (not reported for {total['uncounted']:,} requests)"
    money = "" if total["cost"] is None else f", cost {total['cost']:.4g} {total['currency']}"
    return f"Spent{on}: {requests}{tokens}{money}."


def show_bills(bills: dict[str, dict[str, Any]]) -> None:
    """Print for every verifier how many responses it read and how many were saved."""
    from steelyard.runs.bill import bill_lines

    for name, bill in bills.items():
        for line in bill_lines(name, bill):
            console.say(line)
