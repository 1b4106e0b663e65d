"""free: any text, compared by similarity; the answer is the response without its thoughts.

`free` compares words; `free:json`, `free:characters` and so on name another similarity (similarities/), and
`free:column:NAME` compares the values of a column, such as the outputs of executed code. A response that declines to
answer casts no vote (../abstentions.py).
"""

from __future__ import annotations

from steelyard.answers.abstentions import abstains
from steelyard.answers.kind import NOTHING, Extracted, Kind, without_thoughts

ABSTAINED = Extracted(None, "declined")
VALUES = ("json", "column")  # similarities of values, not of prose
DECLINED = "declined to answer or are empty"


class FreeText(Kind):
    """A kind whose answers are whole responses."""

    @property
    def unreadable(self) -> str:
        """Responses decline to answer; values are unreadable."""
        return super().unreadable if self.similarity in VALUES else DECLINED

    def extract(self, response: str, *, cut: bool = False) -> Extracted:  # noqa: ARG002
        """Return the text after the thoughts; none if the response declines to answer."""
        text = without_thoughts(response).strip()
        if not text:
            return NOTHING
        return ABSTAINED if self.similarity not in VALUES and abstains(text) else Extracted(text, "response")


def prose(text: str) -> str:
    """The text; nothing if it declines to answer."""
    return "" if abstains(text) else text.strip()


KIND = FreeText("free", (), (), str.strip, prose, similarity="tokens")
