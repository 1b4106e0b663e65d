"""lm-evaluation-harness: samples_{task}_{date}.jsonl, one line per question and filter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, accepted_golds, by_task, counted, listing, need, said, table_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record

FILE_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl?(\.gz|\.zst)?")
LIST = re.compile(r"""\[\s*(['"]).*\1\s*\]""", re.DOTALL)  # the harness writes a list of targets as Python does


class LmEval(Layout):
    """Answers are read out of the responses; the filters and the metrics of the harness are not used."""

    name = "lm-eval"
    title = "lm-eval samples"
    about = "lm-evaluation-harness, samples_TASK_DATE.jsonl: doc_id, resps (repeats are samples), target as gold"

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
                    f"{tasks[task]} and {file} hold the same task {task!r}, of two runs or two LLMs: give one of them"
                )
            tasks[task] = file
            rows += _rows(part, task if match or len(opened.paths) > 1 else None, filters)
        _check_apart(rows, [file for task, file in tasks.items() if task == file])
        many = accepted_golds(rows)
        by_task(rows)
        unused = [name for name in dict.fromkeys(filters) if name != "none"]
        word = "filter" if len(unused) == 1 else "filters"
        beside = f"{word} {listing(unused)} not used (answers are read from the responses)" if unused else ""
        number = f"{len(tasks)} tasks" if len(tasks) > 1 else ""
        return Converted(table_of(rows), said(number, counted(rows, "repeats"), beside, many))


def _rows(part: Opened, task: str | None, filters: list[str]) -> list[Row]:
    """The responses of one task; the lines of other filters repeat them."""
    rows: list[Row] = []
    seen: dict[tuple[str, str], Any] = {}
    first: dict[str, Any] = {}
    for number, record in enumerate(part.records(), 1):
        doc = str(need(record, "doc_id", (int, str), f"line {number}"))
        where = f"doc_id {doc} of {task}" if task else f"doc_id {doc}"
        named = str(record.get("filter", "none"))
        texts = _texts(record, where)
        if (doc, named) in seen:
            raise TableError(f"{where} stands twice with the filter {named!r}: keep the lines of one run")
        seen[doc, named] = True
        filters.append(named)
        told = (texts, record.get("target"))
        if first.setdefault(doc, told) != told:
            raise TableError(f"{where} has other responses on its line with the filter {named!r}: keep one run")
        if first[doc] is told:
            common = {"question": doc, "gold": _gold(record), "prompt": _prompt(record), "domain": task}
            rows += [{**common, "response": text} for text in texts]
    return rows


def _check_apart(rows: Sequence[Row], files: Sequence[str]) -> None:
    """Refuse files that ask the same question, where their names do not say of which task they are."""
    first: dict[tuple[Any, Any], str] = {}
    for row in rows:
        file = row["domain"]
        if file in files and row["prompt"] and first.setdefault((row["question"], row["prompt"]), file) != file:
            other = first[row["question"], row["prompt"]]
            raise TableError(f"{other} and {file} ask the same questions, of two runs or two LLMs: give one of them")


def _texts(record: Record, where: str) -> list[str]:
    """The responses to one question; log-likelihoods, which are none, are refused."""
    resps = need(record, "resps", list, where)
    arguments = _arguments(record)
    if any(isinstance(each, list) for request in resps if isinstance(request, list) for each in request) or (
        arguments and len(arguments) < 2
    ):
        raise TableError(
            f"{where} holds log-likelihoods and no response, so there is nothing to vote on: run a task that generates "
            "(output_type: generate_until) with repeats: 8 or more"
        )
    if len(resps) != 1:
        raise TableError(f"{where} has {len(resps)} requests, and one is expected: leave this task out")
    if not isinstance(resps[0], list) or not resps[0] or not all(isinstance(text, str) for text in resps[0]):
        raise TableError(f"{where} has a response that is no text: write the file again")
    return list(resps[0])


def _arguments(record: Record) -> list[Any]:
    """The arguments of the first request: its prompt, then how to generate; older versions wrote a list of lists."""
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
    if isinstance(prompt, list) and len(prompt) == 1:  # a chat, as one text of JSON
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) else None


def _gold(record: Record) -> Any:
    """The target, a list where the harness wrote one down."""
    target = record.get("target")
    if isinstance(target, str) and LIST.fullmatch(target.strip()):
        from ast import literal_eval

        try:
            return literal_eval(target.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return target
    return target if target is None or isinstance(target, list) else str(target)
