"""Stage questions: make the problems, tokenise them, trim the vocabulary to what they use. Needs no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from recipes.grid.config import SEED, Sizes
from recipes.grid.corpus import JUDGE, PROMPT
from recipes.grid.log import timed
from recipes.grid.problems import Problem, mistakes, solution, splits
from recipes.grid.ragged import Ragged, save
from recipes.grid.weights import join_parts

END = "<|im_end|>"


def run(work: Path, sizes: Sizes, _: object = None) -> None:
    """Write corpus.npz, corpus.json and the test questions as text."""
    with timed(work, "questions", "corpus") as record:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(work, gguf_file=join_parts(work).name)
        made = splits(dict(sizes.splits), SEED, sizes.levels)
        texts = {f"{name}_prompts": [PROMPT.format(p.text) for p in some] for name, some in made.items()}
        for name in ("train", "solver"):
            texts |= {f"{name}_{style}": [solution(p, style) for p in made[name]] for style in ("verbose", "terse")}
            texts[f"{name}_flawed"] = [_wrong(p) for p in made[name]]
        texts["few"] = [JUDGE, "Yes", "No", "\n", END]
        ids = {name: tokenizer(some, add_special_tokens=False)["input_ids"] for name, some in texts.items()}
        kept = sorted({token for some in ids.values() for row in some for token in row})
        ours = {token: i for i, token in enumerate(kept)}
        ragged = {name: Ragged.of([[ours[t] for t in row] for row in some], np.uint16) for name, some in ids.items()}
        few = ragged.pop("few")
        arrays = {key: array for name, rows in ragged.items() for key, array in rows.named(name).items()}
        save(work / "corpus.npz", {"judge": few[0], **arrays})
        about = {
            "strings": [tokenizer.decode([token]) for token in kept],
            "kept": kept,
            **{name: int(few[i][0]) for i, name in enumerate(("yes", "no", "newline", "end"), 1)},
            "splits": {name: _about(some) for name, some in made.items()},
            "solutions": [name for name in ragged if not name.endswith("prompts")],
        }
        (work / "corpus.json").write_text(json.dumps(about))
        lines = (json.dumps({"prompt": p.text, "gold": p.answer, **_labels(p)}) for p in made["test"])
        (work / "test.jsonl").write_text("\n".join(lines) + "\n")
        record["tokens"] = len(kept)
        record["longest"] = {name: int(rows.lengths.max()) for name, rows in ragged.items()}
        record["mean"] = {name: round(float(rows.lengths.mean()), 1) for name, rows in ragged.items()}


def _wrong(problem: Problem) -> str:
    """The same problem solved with the first of its typical mistakes; nothing where it has none."""
    mistaken = next(mistakes(problem), None)
    return solution(mistaken, "verbose") if mistaken else ""


def _labels(problem: Problem) -> dict[str, Any]:
    return {"domain": problem.domain, "level": problem.level, "steps": len(problem.steps)}


def _about(problems: list[Problem]) -> dict[str, list[Any]]:
    return {
        "answers": [p.answer for p in problems],
        "domains": [p.domain for p in problems],
        "levels": [p.level for p in problems],
    }
