"""A task for Inspect: fractions with several spellings, answered by a mock model and scored by a verifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from inspect_ai import Epochs, Task, task
from inspect_ai import eval as run_tasks
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, mean, scorer
from inspect_ai.solver import TaskState, generate

import steelyard as sy

EPOCHS = 8
SPELLINGS = {
    "1/2": ["1/2", "0.5", r"\frac{1}{2}"],
    "3/4": ["3/4", "0.75"],
    "7": ["7", "7.0"],
    "12": ["12"],
    "-3": ["-3"],
}


class Reply(NamedTuple):
    text: str
    prm: float | None  # None: the scorer gives no score to this epoch


Replies = dict[str, list[Reply]]  # by question


def replies(questions: int, seed: int) -> Replies:
    """Replies of an LLM that is often wrong, and a verifier that is better; the gold answer of all is 1/2."""
    rng = np.random.default_rng(seed)
    made: Replies = {}
    for number in range(questions):
        made[f"Question {seed}-{number}: what is the fraction?"] = [_reply(rng) for _ in range(EPOCHS)]
    return made


def _reply(rng: np.random.Generator) -> Reply:
    right = rng.random() < 0.4
    answer = "1/2" if right else str(rng.choice(["3/4", "7", "12", "-3"], p=[0.7, 0.1, 0.1, 0.1]))
    spelled = str(rng.choice(SPELLINGS[answer]))
    score = float(np.clip(rng.normal(0.75 if right else 0.35, 0.15), 0.02, 0.98))
    return Reply(f"Let me see. The answer is {spelled}.", round(score, 3))


def run(made: Replies, reducer: Any, folder: Path) -> tuple[EvalLog, Path]:
    """Run the task; return the log and its file."""
    calls: Counter[str] = Counter()

    def answer(messages: Sequence[Any], *_: Any) -> ModelOutput:
        question = messages[-1].text
        calls[question] += 1
        reply = made[question][calls[question] - 1]
        output = ModelOutput.from_content("mockllm/model", reply.text)
        output.metadata, output.usage = {"prm": reply.prm}, ModelUsage()  # else it counts tokens with a file of the web
        return output

    @task
    def fractions() -> Task:
        samples = [Sample(id=number, input=question, target="1/2") for number, question in enumerate(made, 1)]
        return Task(
            dataset=MemoryDataset(samples), solver=generate(), scorer=verified(), epochs=Epochs(EPOCHS, reducer)
        )

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    (log,) = run_tasks(
        fractions,
        model=model,
        log_dir=str(folder),
        max_samples=1,
        display="none",
        log_realtime=False,
        log_buffer=1000,
        log_format="eval",
    )
    assert log.status == "success", log.error
    return log, Path(log.location.removeprefix("file://"))


@scorer(metrics={"correct": [accuracy()], "prm": [mean()]})
def verified() -> Scorer:
    """The correctness of the answer, and beside it what a verifier says about the response."""

    async def score(state: TaskState, target: Target) -> Score:
        text, prm = state.output.completion, (state.output.metadata or {})["prm"]
        if prm is None:
            return Score.unscored(reason="grader_failed", answer=text)
        answer = sy.extract_answer(text)
        correct = answer is not None and sy.same_answer(answer, target.text)
        return Score(value={"correct": CORRECT if correct else INCORRECT, "prm": prm}, answer=text)

    return score
