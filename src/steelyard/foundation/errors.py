"""Every mistake a user can make, as one tree.

SteelyardError                 one line: what is wrong, what was expected, what to do
├── TableError                 a file or table that cannot be read as responses
│   ├── ColumnError            a column that is missing, unknown or of the wrong kind
│   ├── ScoreError             scores that are missing, out of range or not chosen
│   └── LabelError             labels that are missing or contradict each other
├── CalibrationError           a calibration set that cannot support a fit
│   └── NothingToLearnError    all of its responses are correct, or none is
├── PlanError                  a plan that is damaged, too new, or made for other scores
├── VerifierError              a verifier that cannot be loaded, reached or understood
├── RunError                   a run folder that is damaged, in use, full, or made with other settings
├── UpstreamError              a server that cannot be reached, or refuses what is asked
├── StoreError                 an object store that cannot be reached, or refuses what is asked
└── SettingError               an unknown method or an impossible setting

SteelyardWarning               worth knowing, not worth stopping for
└── SteelyardNote              nothing is amiss: how something was read
"""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real

from steelyard.foundation.masking import mask_addresses

LIKE, SHORT_LIKE = 0.7, 0.6  # of the letters that two spellings of one word share; of a short word fewer are left
PART = 4  # letters at least of a word that is part of another


class SteelyardError(Exception):
    """Base of all errors that are the input's fault; the message is one line with the fix, and without passwords."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_masked(arguments))


class TableError(SteelyardError):
    """A file or table cannot be read as responses."""


class ColumnError(TableError):
    """A column is missing, unknown or of the wrong kind."""


class ScoreError(TableError):
    """Scores are missing, out of range, or none was chosen among several."""


class LabelError(TableError):
    """Labels are missing or contradict each other."""


class CalibrationError(SteelyardError):
    """A calibration set cannot support a fit."""


class NothingToLearnError(CalibrationError):
    """A calibration set whose scored responses are all correct, or all incorrect: the best vote is the majority."""


class PlanError(SteelyardError):
    """A plan is damaged, too new, or made for other scores."""


class VerifierError(SteelyardError):
    """A verifier cannot be loaded, reached or understood."""


class RunError(SteelyardError):
    """A run folder is damaged, in use, cannot be written, or was made with other settings."""


class UpstreamError(SteelyardError):
    """A server cannot be reached, or refuses what is asked."""


class StoreError(SteelyardError):
    """An object store cannot be reached, or refuses what is asked."""


class SettingError(SteelyardError):
    """A method, option or value does not exist or cannot work."""


class SteelyardWarning(UserWarning):
    """Something the user should know; the result still stands. The message has no passwords."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_masked(arguments))


class SteelyardNote(SteelyardWarning):
    """How something was read: nothing is amiss."""


def _masked(arguments: tuple[object, ...]) -> list[object]:
    return [mask_addresses(each) if isinstance(each, str) else each for each in arguments]


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint for a mistyped word: the nearest choice, then all of them.

    >>> did_you_mean("logti", ["linear", "logit"])
    "did you mean 'logit'? There are: linear, logit"
    """
    known = list(choices)
    near = nearest(word, known)
    listing = f"There are: {', '.join(known)}" if known else "There are none"
    return f"did you mean '{near}'? {listing}" if near else listing


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a word is a misspelling or a part of; None where that would be a guess.

    >>> nearest("logti", ["linear", "logit"]), nearest("question", ["problem_id", "prediction"])
    ('logit', None)
    >>> nearest("question", ["question_id", "answer"])
    'question_id'
    """
    known = list(choices)
    near = get_close_matches(word, known, n=1, cutoff=LIKE if len(word) > PART else SHORT_LIKE)
    if near:
        return near[0]
    parts = [each for each in known if len(word) >= PART and len(each) >= PART and (word in each or each in word)]
    return min(parts, key=len, default=None)


def need_numbers(**given: object) -> None:
    """Refuse arguments that are no numbers, such as the text "8"; None is what was not given.

    >>> need_numbers(samples="8")
    Traceback (most recent call last):
    steelyard.foundation.errors.SettingError: samples must be a number, not the str '8'
    """
    for name, value in given.items():
        if value is not None and not isinstance(value, Real):
            raise SettingError(f"{name} must be a number, not the {type(value).__name__} {value!r:.60}")
