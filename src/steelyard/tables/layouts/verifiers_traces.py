"""verifiers: traces.jsonl, one line per rollout (episode) with the messages of its traces."""

from __future__ import annotations

from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Marks, Row, accepted, add_marks, converted, listing, mark, need, within
from steelyard.tables.messages import prompt_of, text_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record

GOLD = ("answer", "gold", "target", "ground_truth", "expected_answer", "reference_answer", "solution")


class VerifiersTraces(Layout):
    """The last message of the LLM is the response; rewards are labels or scores (layout_rows.py)."""

    name = "verifiers-traces"
    title = "verifiers traces"
    description = (
        "verifiers, traces.jsonl: task, last sampled message, answer in task.data as gold, rewards as labels or scores"
    )

    def recognises(self, opened: Opened) -> bool:
        return isinstance(opened.first.get("traces"), list) and isinstance(opened.first.get("task"), dict)

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        marks: list[Marks] = []
        hashes: dict[tuple[Any, str], Any] = {}
        golds: list[str] = []
        for number, record in enumerate(opened.records(), 1):
            task = need(record, "task", dict, f"line {number}")
            name, env = _question(task, f"line {number}"), within(record, "env", "id")
            domain = str(env) if env else None
            if hashes.setdefault((domain, name), task.get("hash")) != task.get("hash"):
                raise TableError(
                    f"line {number}: two different tasks are called {name!r}: pass the traces of one taskset"
                )
            data = need(task, "data", dict, f"line {number}")
            fields = [field for field in GOLD if data.get(field) is not None]
            golds += fields
            common = {"question": name, "domain": domain, "prompt": prompt_of(data.get("prompt"))}
            common["gold"] = _gold(data[fields[0]]) if len({str(data[field]) for field in fields}) == 1 else None
            for trace in _traces(record, f"line {number}"):
                rows.append({**common, **_reply(trace)})
                marks.append(_marks(trace))
        gold = f"gold from {listing(golds)}" if any(accepted(row["gold"]) for row in rows) else ""
        return converted(rows, "rollouts", gold, add_marks(rows, marks, "reward"))


def _question(task: Record, location: str) -> str:
    """Return the key of a task if it is more than the hash of its content, else the task's number."""
    key, content, number = task.get("key"), task.get("hash"), within(task, "data", "idx")
    if number is not None and key in (None, content):
        return str(number)
    if key is None and content is None:
        raise TableError(f"{location} has a task without a key, a hash or a number: write the file again, or remove it")
    return str(key if key is not None else content)


def _traces(record: Record, location: str) -> list[Record]:
    """Return the traces of one episode; an episode without any is a rollout without a response."""
    traces: list[Record] = need(record, "traces", list, location)
    agents = list(dict.fromkeys(str(within(trace, "agent", "name")) for trace in traces))
    if len(agents) > 1:
        raise TableError(f"{location} has traces of several agents ({listing(agents)}): keep those of one")
    return traces or [{}]


def _reply(trace: Record) -> Row:
    nodes = within(trace, "nodes")
    sampled = [node for node in (nodes if isinstance(nodes, list) else []) if within(node, "sampled")]
    model = within(trace, "agent", "config", "model")
    root = within(trace, "root_reply")
    text = root if isinstance(root, str) else text_of(within(sampled[-1], "message", "content")) if sampled else None
    return {"response": text or None, "llm": str(model) if model else None, "finish": _finish(trace)}


def _finish(trace: Record) -> str | None:
    """Return the finish reason of the last call that did not fail."""
    calls = within(trace, "calls")
    completed = [call for call in (calls if isinstance(calls, list) else []) if within(call, "error") is None]
    reason = within(completed[-1], "finish_reason") if completed else None
    return reason if isinstance(reason, str) else None


def _marks(trace: Record) -> Marks:
    rewards = within(trace, "rewards")
    items = rewards.items() if isinstance(rewards, dict) else ()
    return {name: mark(within(reward, "score")) for name, reward in items}


def _gold(value: Any) -> Any:
    return value if isinstance(value, list) else str(value)
