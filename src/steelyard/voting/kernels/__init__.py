"""The few compiled loops, and nothing else: arrays in, arrays out; every loop walks one question at a time.

Shapes used throughout: R responses sorted by question, Q questions.
`starts` [Q+1] says where a question's responses begin; `answer` [R] is a small code within
the question (-1 = unreadable); `width` [Q] is one more than the largest code it may hold.
"""

from steelyard.voting.kernels.codes import code_keys, distinct
from steelyard.voting.kernels.compilation import compiled, read_only
from steelyard.voting.kernels.likelihoods import committee_likelihood, log_likelihood
from steelyard.voting.kernels.offset_lines import correct_at, intervals, lines
from steelyard.voting.kernels.overlaps import overlaps
from steelyard.voting.kernels.question_densities import question_ratios
from steelyard.voting.kernels.resampling import permutations, resample
from steelyard.voting.kernels.similar_votes import similar_rivals, smooth, source_similarities, tally_similar
from steelyard.voting.kernels.subset_chances import best_of, pass_at
from steelyard.voting.kernels.totals import (
    QUANTIZER,
    add_up_answers,
    answer_totals,
    best_weights,
    hand_out,
    rivals,
    tally,
)
from steelyard.voting.kernels.voices import (
    add_evidence,
    agreement,
    modal_answers,
    source_weights,
    vote_units,
    votes_together,
)

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
    "overlaps",
    "pass_at",
    "permutations",
    "question_ratios",
    "read_only",
    "resample",
    "rivals",
    "similar_rivals",
    "smooth",
    "source_similarities",
    "source_weights",
    "tally",
    "tally_similar",
    "vote_units",
    "votes_together",
]
