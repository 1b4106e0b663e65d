"""What is for sale, and at which price: samples, scores, and the tokens of each source.

sample=1          every sample costs 1
sample=COLUMN     a column says what each sample costs (the pool is read with tokens=COLUMN)
score=0.2         a score of any response costs 0.2
score:gpt=0.5     a score of a response of the source gpt costs 0.5
gpt=10            a million tokens of the source gpt cost 10
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, isnan

from steelyard.foundation.errors import SettingError, need_numbers

SAMPLE, SCORE = "sample", "score"
SCORE_OF = f"{SCORE}:"
MAX_PRICE = 1e12

Price = float | str


@dataclass(frozen=True)
class PriceTable:
    """The prices, by what they are for."""

    sample: float | None = None  # of every sample
    column: str | None = None  # with the cost of each sample
    score: float | None = None  # of every score that has no price of its own
    score_of: Mapping[str, float] = field(default_factory=dict)  # of a score, by source
    sources: Mapping[str, float] = field(default_factory=dict)  # of a million tokens, by source

    @classmethod
    def of(cls, prices: Mapping[str, Price] | None) -> PriceTable:
        """Read a mapping of prices.

        >>> PriceTable.of({"sample": 1, "score": 0.2}).sells_scores, PriceTable.of({"gpt": 10}).by_source
        (True, True)
        """
        if not isinstance(prices, Mapping | None):
            raise SettingError(f"prices must be a mapping, not {prices!r:.40}: prices={{'sample': 1, 'score': 0.2}}")
        numbers = dict(prices or {})
        for name in numbers:
            if not isinstance(name, str):
                raise SettingError(
                    f"prices are by name, not by the {type(name).__name__} {name!r:.40}: 'sample', 'score', or the "
                    "name of a source"
                )
        sample_price = numbers.pop(SAMPLE, None)
        sample, column = (None, sample_price) if isinstance(sample_price, str) else (sample_price, None)
        need_numbers(**{f"the price of {name!r}": price for name, price in numbers.items()})
        need_numbers(**{"the price of a sample": sample})
        floats = {name: float(price) for name, price in numbers.items()}
        score = floats.pop(SCORE, None)
        score_of = {name.removeprefix(SCORE_OF): price for name, price in floats.items() if name.startswith(SCORE_OF)}
        sources = {name: price for name, price in floats.items() if not name.startswith(SCORE_OF)}
        table = cls(sample, column, score, score_of, sources)
        table.check()
        return table

    @property
    def sells_scores(self) -> bool:
        """Whether scores are for sale."""
        return self.score is not None or bool(self.score_of)

    @property
    def by_source(self) -> bool:
        """Whether sources have costs of their own."""
        return bool(self.sources) or self.column is not None

    @property
    def only_scores(self) -> bool:
        """Whether one price of a score is all there is; without a budget it is in accuracy."""
        return self.score is not None and not (self.score_of or self.by_source or self.sample is not None)

    @property
    def tokens(self) -> bool | str:
        """What `sy.read` has to read for these prices, as its option `tokens`."""
        return self.column or bool(self.sources)

    def check(self) -> None:
        """Refuse prices that contradict each other, and those that no sample or score can have."""
        samples = [price for price in (self.sample, self.column, self.sources or None) if price is not None]
        if len(samples) > 1:
            raise SettingError(
                "there are two prices of a sample: give sample=PRICE (every sample), sample=COLUMN (a column of costs) "
                "or a price per million tokens for each source, as gpt=10"
            )
        for unit, price in ((SAMPLE, self.sample), (SCORE, self.score)):
            if price is not None:
                check_unit_price(unit, price)

    def score_prices(self, sources: tuple[str, ...]) -> float | dict[str, float]:
        """Return the price of a score: one for all, or by source."""
        if not self.score_of:
            return self.score or 0.0
        return ({} if self.score is None else dict.fromkeys(sources, self.score)) | dict(self.score_of)

    def check_goal(self, budget: float | str | None, loss: float | None) -> None:
        """Refuse a missing goal, and one that these prices do not allow; reads no response."""
        share = isinstance(budget, str) and budget.endswith("%")
        need_numbers(budget=None if share else budget, loss=loss)
        if share and (self.sells_scores or not self.by_source):
            raise SettingError(
                f"a budget of {budget:.20} is a share of what the best source costs, for prices of sources alone: give "
                "the mean cost per question, as 32"
            )
        if self.sells_scores and loss is not None:
            raise SettingError("a loss is for samples or sources alone: where scores have a price, give a budget")
        if budget is None and loss is None and not self.only_scores:
            other = "" if self.sells_scores else ", or a loss of accuracy, as 0.01 for one point"
            raise SettingError(f"set a goal: a budget, as a mean cost per question{other}")
        if budget is not None and self.sells_scores and not self.by_source and not self.score_of:
            UnitPrices(self.sample or 0.0, self.score or 0.0).check_budget(float(budget))


@dataclass(frozen=True)
class UnitPrices:
    """What one sample and one score cost, in the same money."""

    sample: float
    score: float

    def __post_init__(self) -> None:
        need_numbers(price_sample=self.sample, price_score=self.score)
        check_unit_price(SAMPLE, self.sample)
        check_unit_price(SCORE, self.score)
        if not self.sample and not self.score:
            raise SettingError("samples and scores are both free: there is nothing to save, so take all of both")

    def check_budget(self, budget: float) -> None:
        """Refuse a budget that is not positive, or that does not pay for one sample."""
        need_numbers(budget=budget)
        if not 0 < budget < inf:
            raise SettingError(f"budget must be above 0, not {budget:g}: the mean cost per question, as 32")
        if budget < self.sample:
            raise SettingError(
                f"a budget of {budget:g} does not pay for one sample at {self.sample:g}: give {self.sample:g} or more"
            )


def check_unit_price(unit: str, price: float, source: str = "") -> None:
    """Refuse a price of one sample, score or million tokens that is negative, infinite or absurdly high."""
    if not 0 <= price <= MAX_PRICE:
        of_source = f" of {source!r}" if source else ""
        raise SettingError(
            f"the price of a {unit}{of_source} is {price:g}: give what one costs, a number from 0 (free) to "
            f"{MAX_PRICE:g}"
        )


def parse_prices(pairs: Iterable[str]) -> dict[str, Price]:
    """Read prices written as NAME=PRICE; only sample= takes the name of a column, too.

    >>> parse_prices(["gpt=10", "llama=0.1", "score=0.2"])
    {'gpt': 10.0, 'llama': 0.1, 'score': 0.2}
    """
    prices: dict[str, Price] = {}
    for pair in pairs:
        name, separator, text = pair.rpartition("=")
        price: Price
        try:
            price = float(text)
        except ValueError:
            price = text.strip() if name == SAMPLE and text.strip() else float("nan")
        if not (name and separator) or (isinstance(price, float) and isnan(price)):
            raise SettingError(
                f"cannot read the price {pair!r:.60}: write NAME=PRICE, as in gpt=10 (per million tokens), sample=1 or "
                "score=0.2"
            )
        if prices.setdefault(name, price) != price:
            raise SettingError(f"two prices for {name!r}: {prices[name]} and {price}; give one")
    return prices


def budget_share(text: str) -> float:
    """Read a budget that is a share of what the best source costs.

    >>> budget_share("65%")
    0.65
    """
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 < share < inf:
        raise SettingError(
            f"cannot read the budget {text!r:.40}: give the mean cost per question, as 0.01, or 65% of the best"
        )
    return share


def parse_budget(text: str | None) -> float | str | None:
    """Read a budget; a share such as 65% stays text.

    >>> parse_budget("0.01"), parse_budget("65%")
    (0.01, '65%')
    """
    if text is None or text.endswith("%"):
        return text
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"cannot read the budget {text!r:.40}: give a cost per question, as 0.01, or 65%") from None
