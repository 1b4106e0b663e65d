"""Write the golden logs of Inspect with Inspect itself: pip install inspect-ai==0.3.285, python make_inspect_log.py.

Three questions, three epochs, a mock model. One message has parts (reasoning and text), one target is a list, one text
is long enough to be stored as an attachment, and the scorer `doubt` leaves one sample unscored (NaN).
"""

import shutil
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput, get_model
from inspect_ai.model._model import ModelAPI
from inspect_ai.model._model_output import ChatCompletionChoice
from inspect_ai.scorer import Score, match, mean, scorer
from inspect_ai.solver import generate

HERE = Path(__file__).parent / "inspect_log"
ANSWERS = {"What is 2 + 3?": ["5", "5", "6"], "What is 6 * 7?": ["42", "41", "42"], "What is 9 - 5?": ["4", "5", "5"]}
SAID: dict[str, int] = {}


async def without_network(self: ModelAPI, text: str) -> int:
    return len(text) // 4


def mock(messages, tools, choice, config):
    question = messages[-1].text
    k = SAID[question] = SAID.get(question, -1) + 1
    text = f"It is small. ANSWER: {ANSWERS[question][k]}"
    if question == "What is 6 * 7?":
        text = "Six times seven is six times six and one more six, and one counts it on the fingers twice. " * 2 + text
    content = [ContentReasoning(reasoning="ANSWER: 0, or not?"), ContentText(text=text)] if k == 1 else text
    message = ChatMessageAssistant(content=content, model="mockllm/model", source="generate")
    return ModelOutput(model="mockllm/model", choices=[ChatCompletionChoice(message=message, stop_reason="stop")])


@scorer(metrics=[mean()])
def doubt():
    async def score(state, target):
        unscored = state.sample_id == "q2" and state.epoch == 3
        return Score(value=float("nan") if unscored else 0.25 * state.epoch)

    return score


targets = ["5", ["42"], "4"]
samples = [Sample(id=f"q{i}", input=q, target=t) for i, (q, t) in enumerate(zip(ANSWERS, targets, strict=True))]
ModelAPI.count_text_tokens = without_network
for suffix in ("eval", "json"):
    SAID.clear()
    task = Task(name="sums", dataset=samples, solver=generate(), scorer=[match(numeric=True), doubt()], epochs=3)
    log = eval(
        task, model=get_model("mockllm/model", custom_outputs=mock), log_format=suffix, log_dir=str(HERE / "logs"),
        display="none", max_samples=1, max_connections=1, log_realtime=False, log_model_api=False,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    if suffix == "json":  # the events are what is long in a log, and nothing is read from them
        for sample in log.samples:
            sample.events, sample.events_data, sample.attachments = [], None, {}
        write_eval_log(log, log.location)
    shutil.move(log.location, HERE / f"sums.{suffix}")
shutil.rmtree(HERE / "logs")
