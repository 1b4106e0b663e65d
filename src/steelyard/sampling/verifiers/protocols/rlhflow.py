"""RLHFlow's process reward models: a chat in which the user says a step and the assistant answers "+".

user: question + " " + step 1, assistant: "+", user: step 2, assistant: "+", ... in the model's own chat template.
The score of a step is the softmax over the logits of "+" and "-" at the token before its "+", which predicts it.
The place of every "+" is known from putting the turns together, so nothing is searched in the ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.sampling.verifiers.chat_layout import Chat, learn
from steelyard.sampling.verifiers.protocol import WORDS, Array, Rendered, TokenProtocol, Verifier, two_way
from steelyard.sampling.verifiers.tokens import Tokens

GOOD, BAD = "+", "-"


def render(question: str, steps: Sequence[str], tokens: Tokens) -> Rendered:
    """Lay out a question and its steps as turns; a step is read at the token before the assistant's "+"."""
    chat = _chat(tokens)
    turns = [step.strip() for step in steps]
    turns[0] = f"{question} {turns[0]}".strip()
    joints = [chat.head, *[chat.between] * (len(turns) - 1)]
    texts = [f"{joint.after}{turn}{chat.middle.before}" for joint, turn in zip(joints, turns, strict=True)]
    answer = [*chat.middle.ids, *tokens.fixed(chat.middle.after)]
    ids: list[int] = []
    positions = []
    for joint, text in zip(joints, tokens.plain(texts), strict=True):
        ids += joint.ids
        ids += text
        ids += answer
        positions.append(len(ids) - 1)
        ids.append(tokens.one(GOOD))
    return Rendered([*ids, *chat.tail.ids, *tokens.fixed(chat.tail.after)], positions)


def _chat(tokens: Tokens) -> Chat:
    if "rlhflow" not in tokens.learned:
        tokens.learned["rlhflow"] = learn(tokens)
    chat: Chat = tokens.learned["rlhflow"]
    return chat


def read(outputs: Array, positions: Sequence[int]) -> Array:
    """Softmax over ["+", "-"] at each position."""
    return two_way(outputs, positions, good=0)


PROTOCOL = TokenProtocol(
    description='a chat: the user says a step, the assistant "+"; "+" against "-" is read at the token that '
    "predicts it",
    verifiers=(
        Verifier("rlhflow-mistral", "RLHFlow/Llama3.1-8B-PRM-Mistral-Data", "ki"),
        Verifier("rlhflow-deepseek", "RLHFlow/Llama3.1-8B-PRM-Deepseek-Data", "blank-lines"),
    ),
    head=WORDS,
    words=(GOOD, BAD),
    context=8192,
    needs={GOOD: 10, BAD: 12, "<|reserved_special_token_0|>": 128002},
    render=render,
    read=read,
    served='--runner pooling --convert classify --hf-overrides \'{"classifier_from_token": ["+", "-"], '
    '"method": "no_post_processing"}\' --pooler-config \'{"task": "token_classify"}\'',
)
