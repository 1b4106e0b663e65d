"""Small HTML tables, which a notebook shows for a pool, verdicts, a ballot or curves. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np


def html_table(title: str, columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Make a table with a caption; the first column is text, the others are numbers.

    >>> html_table("<b>", ["n"], [[1]])
    '<table><caption>&lt;b&gt;</caption><thead><tr><th>n</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    thead = f"<thead><tr>{head}</tr></thead>" if columns else ""
    return f"<table><caption>{_text(title)}</caption>{thead}<tbody>{body}</tbody></table>"


def html_facts(title: str, facts: Mapping[str, object]) -> str:
    """Make a table of facts, one per row; those that are None are left out.

    >>> html_facts("Pool", {"questions": 2000, "score": None})
    '<table><caption>Pool</caption><tbody><tr><td>questions</td><td>2,000</td></tr></tbody></table>'
    """
    return html_table(title, [], [(name, value) for name, value in facts.items() if value is not None])


def pool_facts(pool: Any) -> dict[str, object]:
    """What a pool contains (pool.py imports this module, so its type has no name here)."""
    few, many = int(pool.sizes.min()), int(pool.sizes.max())
    return {
        "questions": pool.n_questions,
        "responses": pool.n_responses,
        "responses per question": many if few == many else f"{few} to {many}",
        "unreadable": int((pool.answer < 0).sum()),
        "score": pool.origin.score,
        "without a score": None if pool.scores is None else int(np.isnan(pool.scores).sum()),
        "sources": len(pool.sources) or None,
        "LLM": pool.origin.llm,
        "file": pool.origin.file,
    }


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return escape(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))
