"""The few compiled loops, and nothing else: arrays in, arrays out; every loop walks one question at a time.

Shapes used throughout: R responses sorted by question, Q questions.
`starts` [Q+1] says where a question's responses begin; `answer` [R] is a small code within
the question (-1 = unreadable); `width` [Q] is one more than the largest code it may hold.
"""

from steelyard.voting.kernels.annotators import add_evidence, votes_together
from steelyard.voting.kernels.answer_sums import add_up_answers, hand_out
from steelyard.voting.kernels.best_of import best_of
from steelyard.voting.kernels.choice_likelihood import log_likelihood
from steelyard.voting.kernels.codes import code_keys, distinct
from steelyard.voting.kernels.committee import (
    agreement,
    committee_likelihood,
    modal_answers,
    source_weights,
    vote_units,
)
from steelyard.voting.kernels.offset_lines import correct_at, intervals, lines
from steelyard.voting.kernels.pass_at import pass_at
from steelyard.voting.kernels.permutations import permutations
from steelyard.voting.kernels.quantum import QUANTIZER, compiled
from steelyard.voting.kernels.question_densities import question_ratios
from steelyard.voting.kernels.read_only import read_only
from steelyard.voting.kernels.runner_up import rivals
from steelyard.voting.kernels.subset_votes import resample
from steelyard.voting.kernels.voting import answer_totals, best_weights, tally

__all__ = [
    "QUANTIZER",
    "add_evidence",
    "add_up_answers",
    "agreement",
    "answer_totals",
    "best_of",
    "best_weights",
    "code_keys",
    "committee_likelihood",
    "compiled",
    "correct_at",
    "distinct",
    "hand_out",
    "intervals",
    "lines",
    "log_likelihood",
    "modal_answers",
    "pass_at",
    "permutations",
    "question_ratios",
    "read_only",
    "resample",
    "rivals",
    "source_weights",
    "tally",
    "vote_units",
    "votes_together",
]
