r"""Prompt templates: a built-in one by name, or a file with {prompt} where the question goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.foundation.files import read_small

PLACEHOLDER = "{prompt}"
LARGEST = 1 << 20  # bytes of a file
BUILT_IN = {
    "math": "{prompt}\n\nPlease reason step by step, and put your final answer within \\boxed{}.",
    "choice": '{prompt}\n\nThink step by step, then finish your answer with "The answer is (X)" '
    "where X is the letter of the correct option.",
    "plain": "{prompt}",
}
ANSWERS = {"choice": "choice"}  # the kind of answer that a prompt asks for, if it asks for one


@dataclass(frozen=True)
class Template:
    """A template: its name or file, its text, and the kind of answer it asks for (None if it asks for none)."""

    name: str
    text: str

    @property
    def answers(self) -> str | None:
        return ANSWERS.get(self.name)

    def fill(self, prompt: str) -> str:
        r"""Replace {prompt} with a question; other braces are left as they are.

        >>> Template("t", "Q: {prompt} A: \\boxed{}").fill("1 + 1?")
        'Q: 1 + 1? A: \\boxed{}'
        """
        return self.text.replace(PLACEHOLDER, prompt)


def read_template(name_or_path: str | Path) -> Template:
    """Return a built-in template, or read one from a file.

    >>> read_template("plain").text
    '{prompt}'
    """
    name = str(name_or_path)
    if name in BUILT_IN:
        return Template(name, BUILT_IN[name])
    path = Path(name)
    try:
        if not path.is_file():
            raise SettingError(f"no prompt {name!r:.80}, and no such file: {did_you_mean(name, BUILT_IN)}, or a file")
        text = read_small(path, LARGEST).decode("utf-8-sig").replace("\r\n", "\n").rstrip("\n")
    except (OSError, ValueError) as error:
        raise SettingError(f"cannot read the prompt {name!r:.80}: {error}; it must be a text file in UTF-8") from None
    if PLACEHOLDER not in text:
        raise SettingError(f"the prompt {name} has no {PLACEHOLDER}: add it where the question goes")
    return Template(name, text)
