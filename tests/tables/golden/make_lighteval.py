"""Write the golden details of lighteval with its own tracker: pip install lighteval==0.13.0, python make_lighteval.py.

Four questions with four samples each, one of them multiple choice (gold_index points at the choice), and a second file
of a task that only compares log probabilities.
"""

import shutil
import tempfile
from pathlib import Path

from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

HERE = Path(__file__).parent / "lighteval"
QUESTIONS = [
    ("What is 2 + 3?", ["5"], 0, "5 5 6 5"),
    ("What is 6 * 7?", ["42"], [0], "42 41 42 42"),
    ("What is 9 - 5?", ["4"], 0, "5 5 4 5"),
    ("What is 8 / 2?", ["3", "4", "5"], 1, "4 4 4 3"),
]

with tempfile.TemporaryDirectory() as folder:
    tracker = EvaluationTracker(output_dir=folder, save_details=True)
    tracker.general_config_logger.model_name = "org/mock"
    for i, (question, choices, gold, answers) in enumerate(QUESTIONS):
        doc = Doc(query=question, choices=choices, gold_index=gold, id=str(i), task_name="sums|0", num_samples=4)
        doc.sampling_methods = [SamplingMethod.GENERATIVE]
        texts = [f"Let me think. The answer is {answer}." for answer in answers.split()]
        response = ModelResponse(input=question, text=texts, output_tokens=[[1, 2, 3, 4]] * 4, reasonings=[None] * 4)
        tracker.details_logger.log("sums|0", doc, response, {"avg@n:n=4": 0.75})
        doc = Doc(query=question, choices=["four", "five"], gold_index=i % 2, id=str(i), task_name="sums_choice|0")
        doc.sampling_methods = [SamplingMethod.LOGPROBS]
        response = ModelResponse(logprobs=[-0.5, -1.5], argmax_logits_eq_gold=[False, False], output_tokens=[[1], [2]])
        tracker.details_logger.log("sums_choice|0", doc, response, {"acc": float(i % 2 == 0)})
    tracker.save()
    for path in Path(folder).rglob("details_*.parquet"):
        task = path.name.removeprefix("details_").partition("|")[0]
        shutil.move(path, HERE / f"details_{task}|0_2026-11-16T04-00-00.000000.parquet")
