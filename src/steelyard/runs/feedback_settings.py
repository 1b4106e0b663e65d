"""The settings of a feedback folder, in feedback.json: every request in it has the same score and kind of answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import write_atomically

FILE = "feedback.json"
FORMAT = "steelyard-feedback"
VERSION = 1


@dataclass(frozen=True)
class FeedbackSettings:
    """Settings that all requests of a folder share: the name of the score and the kind of answers."""

    score: str
    answers: str


def is_feedback(folder: Path) -> bool:
    return (folder / FILE).is_file()


def read_settings(folder: Path) -> FeedbackSettings:
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r:.40}, not {FORMAT!r}")
        if content["version"] > VERSION:
            raise RunError(f"{folder} was made by a newer Steelyard: install that version")
        settings = FeedbackSettings(**{field.name: content[field.name] for field in fields(FeedbackSettings)})
        if not all(isinstance(value, str) and value for value in vars(settings).values()):
            raise ValueError("a setting is not a string")
        return settings
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path} is damaged ({error!s:.100}): restore it, or use another folder for feedback") from None


def ensure_settings(folder: Path, settings: FeedbackSettings) -> None:
    """Write the settings of a new folder, or check them against those of an existing one."""
    if not is_feedback(folder):
        content = {"format": FORMAT, "version": VERSION, **asdict(settings)}
        write_atomically(folder / FILE, (json.dumps(content, indent=2) + "\n").encode(), durable=True, follow=False)
        return
    stored = read_settings(folder)
    for name, value in asdict(stored).items():
        if name == "answers" and AUTO in (value, settings.answers):
            continue  # one of them chooses the kind per question
        if value != asdict(settings)[name]:
            raise RunError(
                f"{folder} contains feedback with {name} {value!r}, and this server has {asdict(settings)[name]!r}: "
                "choose another folder with --feedback"
            )
