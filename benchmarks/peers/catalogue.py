"""The peers: how each is installed, and which of its rules is compared with which of Steelyard's on which responses."""

from __future__ import annotations

from dataclasses import dataclass, field

DRIVERS = "benchmarks.peers.drivers"
GRID, COMMITTEE = "grid", "committee"


@dataclass(frozen=True)
class Comparison:
    """One rule of a peer beside one of Steelyard's; `note` explains a difference that is expected."""

    rule: str
    own: str
    same: bool = True  # both define the same verdict, except for ties
    responses: str = GRID
    note: str = ""


@dataclass(frozen=True)
class Peer:
    """A package with its driver; one without requirements is re-implemented and runs on this Python."""

    name: str
    driver: str
    comparisons: tuple[Comparison, ...]
    requirements: tuple[str, ...] = ()
    alone: bool = field(default=False)  # installed without its dependencies, of which the votes need none

    @property
    def source(self) -> str:
        return "package" if self.requirements else "re-implemented"


PEERS = (
    Peer(
        "its_hub",
        f"{DRIVERS}.its_hub",
        (
            Comparison("self-consistency", "majority", note="breaks ties at random"),
            Comparison("best-of-n", "best-of-n"),
        ),
        ("its_hub",),
    ),
    Peer(
        "optillm",
        f"{DRIVERS}.optillm",
        (
            Comparison("majority_voting", "majority"),
            Comparison("bon", "best-of-n"),
            Comparison("self_consistency", "majority", same=False, note="groups texts that are 80 % similar"),
        ),
        ("optillm",),
        alone=True,
    ),
    Peer(
        "llm-verifier",
        f"{DRIVERS}.llm_verifier",
        (
            Comparison(
                "pivot tournament",
                "best-of-n",
                same=False,
                note="compares each response with some of the others, in a random order",
            ),
        ),
        ("llm-verifier",),
        alone=True,
    ),
    Peer("lm-eval", f"{DRIVERS}.lm_eval", (Comparison("majority_vote", "majority"),), ("lm-eval",), alone=True),
    Peer(
        "inspect-ai",
        f"{DRIVERS}.inspect_ai",
        (
            Comparison("mode", "majority"),
            Comparison("majority", "majority", same=False, note="no verdict unless more than half agree"),
        ),
        ("inspect-ai",),
    ),
    Peer(
        "dspy",
        f"{DRIVERS}.dspy",
        (
            Comparison("majority, normalize=None", "majority"),
            Comparison("majority", "majority", same=False, note="drops punctuation: 1.5 is 15, and 1/2 is 12"),
        ),
        ("dspy",),
    ),
    Peer(
        "deepconf",
        f"{DRIVERS}.deepconf",
        (Comparison("majority", "majority"), Comparison("confidence-weighted", "vanilla")),
        ("deepconf", "numpy"),
        alone=True,
    ),
    Peer(
        "AdaptiveConsistency",
        f"{DRIVERS}.adaptive_consistency",
        (Comparison("beta", "beta"),),
        ("AdaptiveConsistency", "numpy", "scipy"),
    ),
    Peer(
        "search-and-learn",
        f"{DRIVERS}.published_rules",
        (
            Comparison("maj", "majority"),
            Comparison("weighted", "vanilla"),
            Comparison("naive", "best-of-n"),
        ),
    ),
    Peer("CISC", f"{DRIVERS}.published_rules", (Comparison("cisc", "cisc"),)),
    Peer(
        "crowd-kit",
        f"{DRIVERS}.crowd_kit",
        (
            Comparison("MajorityVote", "majority", responses=COMMITTEE, note="breaks ties by the first letter"),
            Comparison(
                "DawidSkene",
                "dawid-skene",
                responses=COMMITTEE,
                same=False,
                note="smooths no confusion matrix",
            ),
            Comparison("OneCoinDawidSkene", "one-coin", responses=COMMITTEE, same=False),
            Comparison("Wawa", "consensus", responses=COMMITTEE, same=False),
            Comparison("ZeroBasedSkill", "consensus", responses=COMMITTEE, same=False),
            Comparison("GLAD", "consensus", responses=COMMITTEE, same=False),
            Comparison("MACE", "consensus", responses=COMMITTEE, same=False),
            Comparison("MMSR", "consensus", responses=COMMITTEE, same=False),
        ),
        ("crowd-kit", "scikit-learn<1.6"),  # crowd-kit 1.4 fails with a newer scikit-learn
    ),
    Peer(
        "cleanlab",
        f"{DRIVERS}.cleanlab",
        (
            Comparison(
                "get_majority_vote_label",
                "majority",
                responses=COMMITTEE,
                note="breaks ties by how frequent the letters are, then by the quality of the annotators",
            ),
        ),
        ("cleanlab",),
    ),
)
