"""The few compiled loops, and nothing else: arrays in, arrays out; every loop walks one question at a time.

Shapes used throughout: R responses sorted by question, Q questions.
`starts` [Q+1] says where a question's responses begin; `answer` [R] is a small code within
the question (-1 = unreadable); `width` [Q] is one more than the largest code it may hold.
"""

from steelyard.voting.kernels.codes import code_keys as code_keys
from steelyard.voting.kernels.codes import distinct as distinct
from steelyard.voting.kernels.compilation import compiled as compiled
from steelyard.voting.kernels.compilation import read_only as read_only
from steelyard.voting.kernels.evidence import clipped_odds as clipped_odds
from steelyard.voting.kernels.evidence import fill_evidence as fill_evidence
from steelyard.voting.kernels.flat_lines import flat_rows as flat_rows
from steelyard.voting.kernels.likelihoods import committee_likelihood as committee_likelihood
from steelyard.voting.kernels.likelihoods import log_likelihood as log_likelihood
from steelyard.voting.kernels.line_shapes import line_shapes as line_shapes
from steelyard.voting.kernels.offset_lines import correct_at as correct_at
from steelyard.voting.kernels.offset_lines import intervals as intervals
from steelyard.voting.kernels.offset_lines import lines as lines
from steelyard.voting.kernels.overlaps import overlaps as overlaps
from steelyard.voting.kernels.question_densities import question_ratios as question_ratios
from steelyard.voting.kernels.resampling import permutations as permutations
from steelyard.voting.kernels.resampling import resample as resample
from steelyard.voting.kernels.row_numbers import number_rows as number_rows
from steelyard.voting.kernels.row_numbers import order_rows as order_rows
from steelyard.voting.kernels.score_ranks import score_ranks as score_ranks
from steelyard.voting.kernels.similar_votes import similar_rivals as similar_rivals
from steelyard.voting.kernels.similar_votes import smooth as smooth
from steelyard.voting.kernels.similar_votes import source_similarities as source_similarities
from steelyard.voting.kernels.similar_votes import tally_similar as tally_similar
from steelyard.voting.kernels.subset_chances import best_of as best_of
from steelyard.voting.kernels.subset_chances import pass_at as pass_at
from steelyard.voting.kernels.texts import code_texts as code_texts
from steelyard.voting.kernels.texts import find_integers as find_integers
from steelyard.voting.kernels.texts import run_starts as run_starts
from steelyard.voting.kernels.totals import QUANTIZER as QUANTIZER
from steelyard.voting.kernels.totals import add_up_answers as add_up_answers
from steelyard.voting.kernels.totals import answer_totals as answer_totals
from steelyard.voting.kernels.totals import best_weights as best_weights
from steelyard.voting.kernels.totals import hand_out as hand_out
from steelyard.voting.kernels.totals import rivals as rivals
from steelyard.voting.kernels.voters import add_evidence as add_evidence
from steelyard.voting.kernels.voters import agreement as agreement
from steelyard.voting.kernels.voters import modal_answers as modal_answers
from steelyard.voting.kernels.voters import source_weights as source_weights
from steelyard.voting.kernels.voters import vote_units as vote_units
from steelyard.voting.kernels.voters import votes_together as votes_together
from steelyard.voting.kernels.winners import tally as tally
