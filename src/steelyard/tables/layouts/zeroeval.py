"""ZeroEval: one .json file per LLM, named after it, with a list of questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, accepted_golds, by_task, counted, failures, listing, need, said, table_of
from steelyard.tables.messages import prompt_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record

GOLD = ("answer", "correct_answer")  # fields of the question set that ZeroEval copies beside the output


class ZeroEval(Layout):
    """The outputs are the responses; files of several LLMs together are one table, with the LLM of each response."""

    name = "zeroeval"
    title = "ZeroEval results"
    about = (
        "ZeroEval, one LLM.json per LLM: session_id, output, chat_history as prompt, answer as gold where it is there"
    )

    def recognises(self, opened: Opened) -> bool:
        return {"session_id", "chat_history", "output"} <= opened.first.keys()

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        for part in opened.parts():
            rows += _rows(part, _llm(part.paths[0]) if part.paths else None)
        many = accepted_golds(rows)
        by_task(rows)
        llms = list(dict.fromkeys(str(row["llm"]) for row in rows))
        who = f"LLM {llms[0]}" if len(llms) == 1 else f"{len(llms)} LLMs ({listing(llms)})"
        return Converted(table_of(rows), said(counted(rows), who, many, failures(rows)))


def _llm(path: Path) -> str:
    name = path.name
    for suffix in (".gz", ".zst", ".json", ".jsonl"):
        name = name.removesuffix(suffix)
    return name


def _rows(part: Opened, llm: str | None) -> Iterator[Row]:
    seen: set[tuple[str | None, str]] = set()
    for number, record in enumerate(part.records(), 1):
        name = str(need(record, "session_id", (str, int), f"entry {number}"))
        task = str(record["dataset"]) if record.get("dataset") is not None else None
        told = llm or record.get("generator") or "?"
        where = f"session_id {name!r} of {told}"
        if (task, name) in seen:
            raise TableError(f"{where} stands twice: keep one of them")
        seen.add((task, name))
        output = need(record, "output", (list, str), where)
        for text in (output if isinstance(output, list) else [output]) or [None]:
            if text is not None and not isinstance(text, str):
                raise TableError(f"{where} has an output that is no text: write the file again, or remove it")
            history = record.get("chat_history")
            yield {
                "question": name,
                "response": text or None,
                "gold": _gold(record),
                "prompt": prompt_of(history[-1] if isinstance(history, list) and history else history),
                "domain": task,
                "llm": str(told),
            }


def _gold(record: Record) -> Any:
    found = next((record[name] for name in GOLD if record.get(name) is not None), None)
    return found if found is None or isinstance(found, list) else str(found)
