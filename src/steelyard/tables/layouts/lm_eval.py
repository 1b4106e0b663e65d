"""lm-evaluation-harness: samples_{task}_{date}.jsonl, one line per question and filter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, converted, listing, need
from steelyard.tables.recognition import Converted, Layout, Opened, Record

FILE_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl?(\.gz|\.zst)?")
LIST = re.compile(r"""\[\s*(['"]).*\1\s*\]""", re.DOTALL)  # the harness writes a list of targets as a Python literal


class LmEval(Layout):
    """Answers are read from the responses; the harness's filters and metrics are not used."""

    name = "lm-eval"
    title = "lm-eval samples"
    description = "lm-evaluation-harness, samples_TASK_DATE.jsonl: doc_id, resps (repeats are samples), target as gold"

    def recognises(self, opened: Opened) -> bool:
        return {"doc_id", "resps", "target"} <= opened.first.keys()

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        filters: list[str] = []
        tasks: dict[str, str] = {}
        for part in opened.parts():
            file = part.paths[0].name if part.paths else "standard input"
            match = FILE_NAME.fullmatch(file)
            task = match["task"] if match else file
            if task in tasks:
                raise TableError(
                    f"{tasks[task]} and {file} contain the task {task!r}, from two runs or two LLMs: pass one of them"
                )
            tasks[task] = file
            rows += _rows(part, task if match or len(opened.paths) > 1 else None, filters)
        _check_different_tasks(rows, [file for task, file in tasks.items() if task == file])
        unused = [name for name in dict.fromkeys(filters) if name != "none"]
        noun = "filter" if len(unused) == 1 else "filters"
        filter_note = f"{noun} {listing(unused)} not used (answers are read from the responses)" if unused else ""
        number = f"{len(tasks)} tasks" if len(tasks) > 1 else ""
        return converted(rows, "repeats", filter_note, first=number)


def _rows(part: Opened, task: str | None, filters: list[str]) -> list[Row]:
    """Return the responses of one task; they are repeated on the lines of each filter."""
    rows: list[Row] = []
    seen: dict[tuple[str, str], Any] = {}
    first: dict[str, Any] = {}
    for number, record in enumerate(part.records(), 1):
        doc = str(need(record, "doc_id", (int, str), f"line {number}"))
        location = f"doc_id {doc} of {task}" if task else f"doc_id {doc}"
        filter_name = str(record.get("filter", "none"))
        texts = _texts(record, location)
        if (doc, filter_name) in seen:
            raise TableError(f"{location} appears twice with the filter {filter_name!r}: keep the lines of one run")
        seen[doc, filter_name] = True
        filters.append(filter_name)
        content = (texts, record.get("target"))
        if first.setdefault(doc, content) != content:
            raise TableError(
                f"{location} has other responses on its line with the filter {filter_name!r}: keep one run"
            )
        if first[doc] is content:
            common = {"question": doc, "gold": _gold(record), "prompt": _prompt(record), "domain": task}
            rows += [{**common, "response": text} for text in texts]
    return rows


def _check_different_tasks(rows: Sequence[Row], files: Sequence[str]) -> None:
    """Refuse files with the same question, if their names do not identify their tasks."""
    first: dict[tuple[Any, Any], str] = {}
    for row in rows:
        file = row["domain"]
        if file in files and row["prompt"] and first.setdefault((row["question"], row["prompt"]), file) != file:
            other = first[row["question"], row["prompt"]]
            raise TableError(f"{other} and {file} ask the same questions, from two runs or two LLMs: pass one of them")


def _texts(record: Record, location: str) -> list[str]:
    """Return the responses to one question; refuse a record that contains only log-likelihoods."""
    resps = need(record, "resps", list, location)
    arguments = _arguments(record)
    if any(isinstance(entry, list) for request in resps if isinstance(request, list) for entry in request) or (
        arguments and len(arguments) < 2
    ):
        raise TableError(
            f"{location} contains log-likelihoods and no response, so there is nothing to vote on: run a task that "
            "generates (output_type: generate_until) with repeats: 8 or more"
        )
    if len(resps) != 1:
        raise TableError(f"{location} has {len(resps)} requests, but one is expected: leave this task out")
    if not isinstance(resps[0], list) or not resps[0] or not all(isinstance(text, str) for text in resps[0]):
        raise TableError(f"{location} has a response that is not text: write the file again")
    return list(resps[0])


def _arguments(record: Record) -> list[Any]:
    """Return the arguments of the first request, prompt first; older versions wrote a list of lists."""
    arguments = record.get("arguments")
    first: Any = None
    if isinstance(arguments, dict):
        first = arguments.get("gen_args_0")
    elif isinstance(arguments, list) and arguments:
        first = arguments[0]
    if isinstance(first, dict):
        return list(first.values())
    return first if isinstance(first, list) else []


def _prompt(record: Record) -> str | None:
    arguments = _arguments(record)
    prompt = arguments[0] if arguments else None
    if isinstance(prompt, list) and len(prompt) == 1:  # a chat as JSON text
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) else None


def _gold(record: Record) -> Any:
    """Return the target, parsed if the harness wrote a list."""
    target = record.get("target")
    if isinstance(target, str) and LIST.fullmatch(target.strip()):
        from ast import literal_eval

        try:
            return literal_eval(target.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return target
    return target if target is None or isinstance(target, list) else str(target)
