"""All errors that users can cause, as one tree.

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
├── UpstreamError              a server that cannot be reached, or refuses a request
├── StoreError                 an object store that cannot be reached, or refuses a request
└── SettingError               an unknown method or an impossible setting

SteelyardWarning               worth knowing, not worth stopping for
└── SteelyardNote              information on how something was read; nothing is wrong
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Real

from steelyard.foundation.masking import mask_addresses

LIKE, SHORT_LIKE = 0.7, 0.6  # similarity of two spellings of one word; lower for short words
PART = 4  # minimum length of a word that is part of another


class SteelyardError(Exception):
    """Base class of all errors caused by input; the message is one line with the fix, without passwords."""

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
    """A server cannot be reached, or refuses a request."""


class StoreError(SteelyardError):
    """An object store cannot be reached, or refuses a request."""


class SettingError(SteelyardError):
    """A method, option or value does not exist or cannot work."""


class SteelyardWarning(UserWarning):
    """Something the user should know; the result still stands. The message has no passwords."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*_masked(arguments))


class SteelyardNote(SteelyardWarning):
    """Information on how something was read; nothing is wrong."""


def _masked(arguments: tuple[object, ...]) -> list[object]:
    return [mask_addresses(value) if isinstance(value, str) else value for value in arguments]


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint for a mistyped word: the nearest choice, then all of them.

    >>> did_you_mean("logti", ["linear", "logit"])
    "did you mean 'logit'? There are: linear, logit"
    """
    names = list(choices)
    near = nearest(word, names)
    return f"did you mean '{near}'? T{known(names)[1:]}" if near else known(names)


def known(names: Sequence[str]) -> str:
    """List all choices.

    >>> known(["linear", "logit"])
    'there are: linear, logit'
    """
    return f"there are: {', '.join(names)}" if names else "there are none"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a word is a misspelling or a part of, or None if no choice is close.

    >>> nearest("logti", ["linear", "logit"]), nearest("question", ["problem_id", "prediction"])
    ('logit', None)
    >>> nearest("question", ["question_id", "answer"])
    'question_id'
    """
    names = list(choices)
    near = get_close_matches(word, names, n=1, cutoff=LIKE if len(word) > PART else SHORT_LIKE)
    if near:
        return near[0]
    parts = [name for name in names if len(word) >= PART and len(name) >= PART and (word in name or name in word)]
    return min(parts, key=len, default=None)


def need_numbers(**arguments: object) -> None:
    """Refuse arguments that are not numbers, such as the string "8" or True; None means unset.

    >>> need_numbers(samples="8")
    Traceback (most recent call last):
    steelyard.foundation.errors.SettingError: samples must be a number, not the str '8'
    """
    for name, value in arguments.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise SettingError(f"{name} must be a number, not the {type(value).__name__} {value!r:.60}")
