"""lighteval: details_{task}_{date}.parquet, one row per question with the responses of all samples."""

from __future__ import annotations

from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, converted, need
from steelyard.tables.recognition import Converted, Layout, Opened, Record


class Lighteval(Layout):
    """The gold answer is the choice at gold_index; metrics are per question and not used."""

    name = "lighteval"
    title = "lighteval details"
    description = "lighteval, details_TASK_DATE.parquet: doc.id, model_response.text, doc.choices[gold_index] as gold"

    def recognises(self, opened: Opened) -> bool:
        doc, response = opened.first.get("doc"), opened.first.get("model_response")
        return isinstance(doc, dict) and isinstance(response, dict) and "gold_index" in doc and "text" in response

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        seen: set[tuple[str, str]] = set()
        for number, record in enumerate(opened.records(), 1):
            doc = need(record, "doc", dict, f"row {number}")
            task, name = str(doc.get("task_name") or ""), str(doc.get("id") or number - 1)
            location = f"doc {name!r} of {task}"
            if (task, name) in seen:
                raise TableError(f"{location} appears twice, from two runs or two LLMs: pass the files of one run")
            seen.add((task, name))
            rows += _rows(record, doc, location, {"question": name, "domain": task or None})
        tasks = len({row["domain"] for row in rows})
        return converted(rows, first=f"{tasks} tasks" if tasks > 1 else "")


def _rows(record: Record, doc: Record, location: str, common: Row) -> list[Row]:
    response = need(record, "model_response", dict, location)
    texts = response.get("text") or []
    if not texts and response.get("logprobs"):
        raise TableError(
            f"{location} contains log-probabilities of its choices and no response, so there is nothing to vote on: "
            "run a task that generates, with num_samples"
        )
    if not texts or not all(isinstance(text, str) for text in texts):
        raise TableError(f"{location} has no text in model_response: run it again, or remove the row")
    counts = [len(ids) for ids in response.get("output_tokens") or []]
    tokens: list[int | None] = [*counts] if len(counts) == len(texts) and all(counts) else [None] * len(texts)
    common = {**common, "prompt": doc.get("query"), "gold": _gold(doc, location)}
    return [{**common, "response": text, "tokens": count} for text, count in zip(texts, tokens, strict=True)]


def _gold(doc: Record, location: str) -> list[Any] | None:
    """Return the choices at gold_index, None if there are no choices."""
    choices, index = doc.get("choices") or [], doc.get("gold_index")
    if not choices or index is None:
        return None
    indices = index if isinstance(index, list) else [index]
    if not all(isinstance(i, int) and 0 <= i < len(choices) for i in indices):
        raise TableError(f"{location} has the gold_index {index} and {len(choices)} choices: correct it")
    return [choices[i] for i in indices]
