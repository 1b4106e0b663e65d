"""lighteval: details_{task}_{date}.parquet, one row per question with the texts of all samples."""

from __future__ import annotations

from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, accepted_golds, by_task, counted, need, said, table_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record


class Lighteval(Layout):
    """The texts are the responses, and gold_index says which choice is the gold; metrics are per question: not used."""

    name = "lighteval"
    title = "lighteval details"
    about = "lighteval, details_TASK_DATE.parquet: doc.id, model_response.text, doc.choices[gold_index] as gold"

    def recognises(self, opened: Opened) -> bool:
        doc, response = opened.first.get("doc"), opened.first.get("model_response")
        return isinstance(doc, dict) and isinstance(response, dict) and "gold_index" in doc and "text" in response

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        seen: set[tuple[str, str]] = set()
        for number, record in enumerate(opened.records(), 1):
            doc = need(record, "doc", dict, f"row {number}")
            task, name = str(doc.get("task_name") or ""), str(doc.get("id") or number - 1)
            where = f"doc {name!r} of {task}"
            if (task, name) in seen:
                raise TableError(f"{where} stands twice, of two runs or two LLMs: give the files of one run")
            seen.add((task, name))
            rows += _rows(record, doc, where, {"question": name, "domain": task or None})
        many = accepted_golds(rows)
        tasks = len({row["domain"] for row in rows})
        by_task(rows)
        return Converted(table_of(rows), said(f"{tasks} tasks" if tasks > 1 else "", counted(rows), many))


def _rows(record: Record, doc: Record, where: str, common: Row) -> list[Row]:
    response = need(record, "model_response", dict, where)
    texts = response.get("text") or []
    if not texts and response.get("logprobs"):
        raise TableError(
            f"{where} holds log-probabilities of its choices and no response, so there is nothing to vote on: "
            "run a task that generates, with num_samples"
        )
    if not texts or not all(isinstance(text, str) for text in texts):
        raise TableError(f"{where} has no text in model_response: run it again, or remove the row")
    counts = [len(each) for each in response.get("output_tokens") or []]
    tokens: list[int | None] = [*counts] if len(counts) == len(texts) and all(counts) else [None] * len(texts)
    common = {**common, "prompt": doc.get("query"), "gold": _gold(doc, where)}
    return [{**common, "response": text, "tokens": count} for text, count in zip(texts, tokens, strict=True)]


def _gold(doc: Record, where: str) -> list[Any] | None:
    """The choices that gold_index points at; without choices there is no gold."""
    choices, index = doc.get("choices") or [], doc.get("gold_index")
    if not choices or index is None:
        return None
    wanted = index if isinstance(index, list) else [index]
    if not all(isinstance(each, int) and 0 <= each < len(choices) for each in wanted):
        raise TableError(f"{where} has the gold_index {index} and {len(choices)} choices: correct it")
    return [choices[each] for each in wanted]
