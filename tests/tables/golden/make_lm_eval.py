"""Write the golden samples of lm-evaluation-harness with the harness: pip install lm_eval==0.4.13, python make_lm_eval.py.

A local task with four questions, three repeats and two filters (so that every question stands on two lines), another
with one repeat, and a multiple-choice task, whose lines hold log-likelihoods; the LM is a mock.
"""

import json
import shutil
import tempfile
from pathlib import Path

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

HERE = Path(__file__).parent / "lm_eval"
ANSWERS = {"2 + 3": "5 5 6", "6 * 7": "42 41 42", "9 - 5": "5 5 4", "8 / 2": "4 4 4"}
GOLD = {"2 + 3": "5", "6 * 7": "42", "9 - 5": "4", "8 / 2": "4"}
FILTERS = """filter_list:
- name: strict-match
  filter: [{function: regex, regex_pattern: 'answer is (\\d+)'}, {function: take_first}]
- name: flexible-extract
  filter: [{function: regex, group_select: -1, regex_pattern: '(\\d+)'}, {function: take_first}]
"""


class Mock(LM):
    def __init__(self):
        super().__init__()
        self.said: dict[str, int] = {}

    def generate_until(self, requests, disable_tqdm=False):
        return [self.say(request.args[0]) for request in requests]

    def say(self, prompt):
        question = next(q for q in ANSWERS if q in prompt)
        k = self.said[prompt] = self.said.get(prompt, -1) + 1
        return f"Let us count to 10. The answer is {ANSWERS[question].split()[k % 3]}."

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-float(len(request.args[1])), False) for request in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


with tempfile.TemporaryDirectory() as folder:
    docs = Path(folder, "docs.jsonl")
    lines = [{"question": q, "answer": g, "choices": ["four", g], "gold": 1} for q, g in GOLD.items()]
    docs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    common = f"""dataset_path: json
dataset_kwargs: {{data_files: {{test: {docs}}}}}
test_split: test
doc_to_text: "Q: What is {{{{question}}}}?\\nA:"
metadata: {{version: 1.0}}
"""
    generate = "output_type: generate_until\ndoc_to_target: answer\nmetric_list: [{metric: exact_match}]\n"
    choose = "output_type: multiple_choice\ndoc_to_target: gold\ndoc_to_choice: choices\nmetric_list: [{metric: acc}]\n"
    Path(folder, "sums.yaml").write_text(f"task: sums\nrepeats: 3\n{common}{generate}{FILTERS}")
    Path(folder, "sums_once.yaml").write_text(f"task: sums_once\n{common}{generate}")
    Path(folder, "sums_choice.yaml").write_text(f"task: sums_choice\n{common}{choose}")
    tasks = ["sums", "sums_once", "sums_choice"]
    manager = TaskManager(include_path=folder, include_defaults=False)
    results = lm_eval.simple_evaluate(Mock(), tasks=tasks, task_manager=manager, log_samples=True, bootstrap_iters=0)
    tracker = EvaluationTracker(output_path=str(Path(folder, "out")))
    tracker.general_config_tracker.model_name_sanitized = "mock"
    tracker.date_id = "2026-11-16T04-00-00.000000"
    for task in tasks:
        tracker.save_results_samples(task, results["samples"][task])
    for path in Path(folder, "out", "mock").iterdir():
        shutil.move(path, HERE / path.name)
