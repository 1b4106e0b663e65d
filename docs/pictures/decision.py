"""decision.svg: which method to use, by what you have."""

from __future__ import annotations

from docs.pictures.shapes import QUIET, arrow, box, picture, text

WIDTH, STEP = 620, 104
QUESTION, ACTION = "#eef3fb", "#eaf6ec"
# Two lines per question, and two of advice if the answer is no.
STEPS = (
    (("Do the responses", "have scores?"), ("One LLM: majority", "Several: committee or consensus")),
    (("Are 20 or more", "questions labelled?"), ("vanilla: add up the scores", "Label 50 questions when you can")),
    (
        ("Same LLM, verifier and", "N as you will deploy?"),
        ("Sample and score like that first", "The weights depend on all three"),
    ),
    (("steelyard fit:", "is there a gain?"), ("The plan is majority vote", "Try another verifier or more labels")),
)
LAST = ("steelyard vote --plan", "Fit again when vote warns of drift")


def decision() -> str:
    """The picture."""
    parts = []
    for i, (question, action) in enumerate(STEPS):
        y = 12 + i * STEP
        parts += [box(10, y, 250, 58, QUESTION), box(336, y, 274, 58, ACTION)]
        for line, shift in zip(question, (25, 45), strict=True):
            parts.append(text(135, y + shift, line, bold=True, middle=True))
        parts += [
            text(473, y + 25, action[0], middle=True),
            text(473, y + 45, action[1], size=13, middle=True, ink=QUIET),
        ]
        parts += [arrow(260, y + 29, 334, y + 29), text(296, y + 22, "no", size=13, middle=True, ink=QUIET)]
        parts += [arrow(135, y + 58, 135, y + STEP - 2), text(146, y + 84, "yes", size=13, ink=QUIET)]
    y = 12 + len(STEPS) * STEP
    parts += [box(10, y, 250, 58, ACTION), text(135, y + 25, LAST[0], bold=True, middle=True)]
    parts += [text(135, y + 45, LAST[1], size=13, middle=True, ink=QUIET)]
    return picture(WIDTH, y + 70, "Which method to use", parts)
