"""Which rule places the offset best? `python -m benchmarks.rules` writes docs/rules.md.

Accuracy on 1,000 simulated test questions, over worlds, calibration sizes, N and seeds; every
rule is fitted on the same calibration questions, which are never among the tested ones.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.voting.methods.base.offset_vote import RULES

PAGE = Path(__file__).parent.parent / "docs" / "rules.md"
WORLDS = {
    "default": sy.testing.World(),
    "weak verifier": sy.testing.World(gap=0.8),
    "no signal": sy.testing.World(gap=0.0),
    "strong verifier": sy.testing.World(gap=3.0),
    "hard questions": sy.testing.World(easy_share=0.1),
    "pseudo-PRM": sy.testing.World(inconsistency=0.0),
}
SEEDS, TESTED = 6, 1000
Kind = type[sy.LogitVote] | type[sy.paper.LinearVote]
HEAD = """# Which rule for the offset?

**In short.** Rules for the offset `b`, compared by their gain over majority vote in simulated worlds. The standard
error of a cell is at most {error:.1f} points.
{best}
`bagged` is the default because it was the most stable on real tables, which the simulator does not model.

`python -m benchmarks.rules` makes this page with the simulator; [methods](methods-reference.md#where-to-put-b)
describes the rules. The tables show the gain over majority vote in points by world and number of calibration questions,
as the mean of {seeds} seeds and of calibration at N = 8 and 32, with {tested} test questions each. The standard error
of a cell is over seeds and N. The last columns are the mean over all cells, and the gain of the worst cell over the
better of majority and vanilla.

"""


def correct(pool: sy.LabelledPool, vote: sy.Method) -> float:
    return 100 * float(vote.predict(pool.unlabelled()).correct(pool).mean())


def cell(
    kind: type[sy.LogitVote | sy.paper.LinearVote], world: sy.testing.World, calibration: int, n: int, seed: int
) -> dict[str, float]:
    """Accuracy in % of every rule, of majority and of vanilla."""
    pool = sy.read(sy.simulate(TESTED + calibration, n, seed=seed, world=world))
    assert isinstance(pool, sy.LabelledPool)
    cal, test = pool.take(np.arange(calibration)), pool.take(np.arange(calibration, pool.n_questions))
    vote = kind().fit(cal)
    found = {"majority": correct(test, sy.MajorityVote()), "vanilla": correct(test, sy.VanillaVote())}
    for rule in RULES:
        vote.offset_ = vote.offsets_[rule]
        found[rule] = correct(test, vote)
    return found


def main() -> None:
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    lines, errors, best = [], [], []
    for kind in (sy.LogitVote, sy.paper.LinearVote):
        gains: dict[str, list[float]] = {rule: [] for rule in RULES}
        worst = dict.fromkeys(RULES, np.inf)
        table: list[list[str]] = [[rule] for rule in RULES]
        for name, world in WORLDS.items():
            for calibration in (50, 200):
                cells = [cell(kind, world, calibration, n, s) for n in (8, 32) for s in range(SEEDS)]
                for row, rule in zip(table, RULES, strict=True):
                    gain = np.array([c[rule] - c["majority"] for c in cells])
                    lost = np.array([c[rule] - max(c["majority"], c["vanilla"]) for c in cells])
                    gains[rule].append(float(gain.mean()))
                    worst[rule] = min(worst[rule], float(lost.mean()))
                    errors.append(float(lost.std(ddof=1) / np.sqrt(len(lost))))
                    row.append(f"{gain.mean():+.1f}")
                print(kind.__name__, name, calibration, flush=True)
        for row, rule in zip(table, RULES, strict=True):
            row += [f"**{np.mean(gains[rule]):+.2f}**", f"{worst[rule]:+.2f}"]
        first = max(RULES, key=lambda rule: np.mean(gains[rule]))
        means = {rule: f"{np.mean(gains[rule]):+.2f}" for rule in (first, "bagged")}
        last = min(RULES, key=lambda rule: worst[rule])
        best.append(
            f"For {kind.__name__}, `{first}` has the largest mean gain ({means[first]}; bagged {means['bagged']}).\n"
            f"`{last}` is the worst choice there: {worst[last]:+.2f} points in its worst cell."
        )
        head = [f"{name}, {size}" for name in WORLDS for size in (50, 200)]
        title = ["| " + " | ".join([kind.__name__, *head, "mean", "worst"]) + " |", "|---" * (len(head) + 3) + "|"]
        lines += [*title, *("| " + " | ".join(row) + " |" for row in table), ""]
    head_text = HEAD.format(best="\n".join(best), seeds=SEEDS, tested=TESTED, error=max(errors))
    PAGE.write_text(head_text + "\n".join(lines))
    print(f"written to {PAGE}")


if __name__ == "__main__":
    main()
