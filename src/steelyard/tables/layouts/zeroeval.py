"""ZeroEval: one .json file per LLM, named after it, with a list of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, converted, listing, need
from steelyard.tables.messages import prompt_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record

GOLD = ("answer", "correct_answer")  # fields that ZeroEval copies from the question set


class ZeroEval(Layout):
    """The outputs are the responses; files of several LLMs are one table, with the LLM of each response."""

    name = "zeroeval"
    title = "ZeroEval results"
    description = (
        "ZeroEval, one LLM.json per LLM: session_id, output, chat_history as prompt, answer as gold where it is there"
    )

    def recognises(self, opened: Opened) -> bool:
        return {"session_id", "chat_history", "output"} <= opened.first.keys()

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        for part in opened.parts():
            llm = re.sub(r"(\.jsonl?)?(\.gz|\.zst)?$", "", part.paths[0].name) if part.paths else None
            rows += _rows(part, llm)
        llms = list(dict.fromkeys(str(row["llm"]) for row in rows))
        llm_note = f"LLM {llms[0]}" if len(llms) == 1 else f"{len(llms)} LLMs ({listing(llms)})"
        return converted(rows, "samples", llm_note)


def _rows(part: Opened, llm: str | None) -> Iterator[Row]:
    seen: set[tuple[str | None, str]] = set()
    for number, record in enumerate(part.records(), 1):
        name = str(need(record, "session_id", (str, int), f"entry {number}"))
        task = str(record["dataset"]) if record.get("dataset") is not None else None
        model = llm or record.get("generator") or "?"
        location = f"session_id {name!r} of {model}"
        if (task, name) in seen:
            raise TableError(f"{location} appears twice: keep one of them")
        seen.add((task, name))
        output = need(record, "output", (list, str), location)
        for text in (output if isinstance(output, list) else [output]) or [None]:
            if text is not None and not isinstance(text, str):
                raise TableError(f"{location} has an output that is not text: write the file again, or remove it")
            history = record.get("chat_history")
            yield {
                "question": name,
                "response": text or None,
                "gold": _gold(record),
                "prompt": prompt_of(history[-1] if isinstance(history, list) and history else history),
                "domain": task,
                "llm": str(model),
            }


def _gold(record: Record) -> Any:
    gold = next((record[name] for name in GOLD if record.get(name) is not None), None)
    return gold if gold is None or isinstance(gold, list) else str(gold)
