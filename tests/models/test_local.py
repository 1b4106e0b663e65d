"""Tiny models of the real architectures through the whole path, on the CPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners.local import Local
from steelyard.sampling.verifiers.scored_items import Item
from tests.models import tiny
from tests.models.items import drawn, samples, scored
from tests.running import steelyard
from tests.runs.runs_small import small_run

NAMES = ("qwen-prm", "skywork-1.5b", "rlhflow-deepseek", "math-shepherd", "versaprm")
ITEMS = drawn(16, seed=0)
torch.set_num_threads(1)  # of little use for tiny models, and a burden beside other tests


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Local]:
    folder = tiny.make(request.param, tmp_path_factory.mktemp("models") / request.param)
    return folder, Local(token_protocol(request.param), str(folder), budget=2000)


Model = tuple[Path, Local]


def token_protocol(name: str) -> TokenProtocol:
    protocol, _ = find_verifier(name)
    assert isinstance(protocol, TokenProtocol)
    return protocol


def test_batched_single_and_shuffled_scores_are_the_same(model: Model) -> None:
    _, local = model
    batched = scored(local, ITEMS)
    shuffled = [ITEMS[i] for i in np.random.default_rng(1).permutation(len(ITEMS))]
    again = {id(item): scores for item, scores in zip(shuffled, scored(local, shuffled), strict=True)}
    for item, together in zip(ITEMS, batched, strict=True):
        assert len(together.steps) == len(item.steps)
        assert scored(local, [item])[0].steps == pytest.approx(together.steps, abs=1e-4)
        assert again[id(item)].steps == pytest.approx(together.steps, abs=1e-4)
    spread = np.concatenate([scores.steps for scores in batched])
    assert spread.std() > 0.05, "scores that are all the same would agree with anything"


def test_samples_of_a_question_read_behind_one_prefix_have_the_scores_of_each_read_alone(model: Model) -> None:
    _, local = model
    items = samples(3, 5, seed=0)
    assert local.detected["batches"] == "packed"
    assert min(branch.shared for branch in local._prepare(items).branches) > 10, "the question is read once"
    for item, scores in zip(items, scored(local, items), strict=True):
        assert scored(local, [item])[0].steps == pytest.approx(scores.steps, abs=1e-4)


def test_the_scores_are_those_of_the_plain_model(model: Model) -> None:
    """The reference: one response at a time, all logits, heads written out."""
    folder, local = model
    protocol = local.protocol
    weights = load_file(folder / "model.safetensors")
    whole = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    items = samples(1, 3, seed=2)
    for item, scores in zip(items, scored(local, items), strict=True):
        made = protocol.render(item.question, protocol.prepare(item.steps), local.tokens)
        with torch.no_grad():
            out = whole(torch.tensor([made.ids]), output_hidden_states=True)
        expected = reference(protocol, out.logits[0], out.hidden_states[-1][0], weights, made.positions, local)
        assert scores.steps == pytest.approx(expected, abs=1e-4)


def reference(
    protocol: TokenProtocol, logits: Any, hidden: Any, weights: Any, positions: list[int], local: Local
) -> list[float]:
    if protocol.head == "token-head":
        head = torch.nn.Sequential(
            torch.nn.Linear(tiny.HIDDEN, tiny.HIDDEN), torch.nn.ReLU(), torch.nn.Linear(tiny.HIDDEN, 2)
        )
        head.load_state_dict({name.removeprefix("score."): weights[name] for name in weights if "score" in name})
        return head(hidden[positions]).softmax(-1)[:, 1].tolist()  # type: ignore[no-any-return]
    if protocol.head == "value-head":
        values = hidden[positions] @ weights["v_head.summary.weight"].T + weights["v_head.summary.bias"]
        return values.sigmoid()[:, 0].tolist()  # type: ignore[no-any-return]
    plus, minus = local.tokens.one("+"), local.tokens.one("-")
    return logits[positions][:, [plus, minus]].softmax(-1)[:, 0].tolist()  # type: ignore[no-any-return]


def test_a_step_depends_only_on_what_stands_before_it(model: Model) -> None:
    _, local = model
    item = Item("Why?", ["First we add.", "Then we stop."])
    longer = Item("Why?", [*item.steps, "Nonsense follows."])
    one, other = scored(local, [item])[0].steps, scored(local, [longer])[0].steps
    assert other[:2] == pytest.approx(one, abs=1e-4)


def test_a_long_response_is_scored_by_its_tail_and_marked(model: Model) -> None:
    folder, local = model
    steps = [f"Step {i}: we add {i} and {i + 1} to see." for i in range(600)]
    short = Local(local.protocol, str(folder), context=512)
    cut, whole = scored(short, [Item("Why?", steps), Item("Why?", steps[:2])])
    assert (cut.truncated, whole.truncated) == (True, False)
    assert 0 < len(cut.steps) < 60
    kept = steps[-len(cut.steps) :]
    assert scored(local, [Item("Why?", kept)])[0].steps == pytest.approx(cut.steps, abs=1e-4)


def test_code_that_comes_with_a_model_is_never_run(tmp_path: Path) -> None:
    folder = tiny.make("qwen-prm", tmp_path / "m")
    assert "SystemExit" in (folder / "modeling_qwen2_rm.py").read_text()
    assert scored(Local(token_protocol("qwen-prm"), str(folder)), ITEMS[:1])
    assert not list(tmp_path.rglob("__pycache__"))


def test_what_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    folder = tiny.make("math-shepherd", tmp_path / "m")
    with pytest.raises(VerifierError, match="different tokenizer"):
        Local(token_protocol("versaprm"), str(folder))
    content = load_file(folder / "model.safetensors")
    save_file(
        {k: v for k, v in content.items() if "layers.1." not in k}, folder / "model.safetensors", {"format": "pt"}
    )
    with pytest.raises(VerifierError, match="tensors are missing"):
        Local(token_protocol("math-shepherd"), str(folder))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(VerifierError, match=r"must be a folder with \.safetensors"):
        Local(token_protocol("math-shepherd"), str(folder))
    with pytest.raises(VerifierError, match="pass a folder or a Hugging Face name"):
        Local(token_protocol("math-shepherd"), str(tmp_path / "nowhere"))


def test_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    folder = tiny.make("skywork-7b", tmp_path / "m")
    with pytest.raises(VerifierError, match=r"no tensor 'score.0.weight'"):
        Local(token_protocol("qwen-prm"), str(folder))


def test_a_checkpoint_in_several_files_is_the_same(tmp_path: Path) -> None:
    folder = tiny.make("math-shepherd", tmp_path / "m")
    before = scored(Local(token_protocol("math-shepherd"), str(folder)), ITEMS[:3])
    whole = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    (folder / "model.safetensors").unlink()
    whole.save_pretrained(folder, max_shard_size="2MB")
    assert (folder / "model.safetensors.index.json").is_file()
    after = scored(Local(token_protocol("math-shepherd"), str(folder)), ITEMS[:3])
    assert [scores.steps for scores in after] == [pytest.approx(scores.steps, abs=1e-6) for scores in before]


def test_score_local_from_the_command_line_and_again(tmp_path: Path) -> None:
    folder = tiny.make("math-shepherd", tmp_path / "m")
    run = small_run(tmp_path / "run", questions=3, samples=4)
    words = ("score", run, "--verifier", "math-shepherd", "--local", "--model", folder, "--json")
    done = steelyard(*words)
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["new"], said["failures"], said["found"]["device"]) == (12, {}, "cpu")
    table = pl.read_parquet(run / "table.parquet")
    assert table["math-shepherd"].list.len().to_list() == [2] * 12
    assert table["math-shepherd"].explode().is_between(0, 1).all()
    assert json.loads(steelyard(*words).out)["new"] == 0
