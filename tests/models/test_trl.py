"""The reward of docs/integrations.md trains a tiny model in TRL's own trainer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from tests.upstreams import ROOT

PAGE = ROOT / "docs" / "integrations.md"
VOCABULARY = ["<pad>", "<eos>", "add", *map(str, range(8))]
GROUP = 4


@pytest.fixture(scope="module")
def reward() -> Any:
    block = re.search(r"<!-- integration trl -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block
    names: dict[str, Any] = {}
    exec(compile(block[1], str(PAGE), "exec"), names)
    return names["agrees_with_vote"]


def test_completions_that_agree_with_their_group_are_rewarded(reward: Any) -> None:
    prompts = ["a", "a", "b", "a", "b", "b"]
    texts = ["It is 1/2.", "It is 0.5.", "It is 7.", "It is 3.", "I do not know.", "It is 7."]
    assert reward(prompts=prompts, completions=texts, completion_ids=[]) == [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    chats = [[{"role": "assistant", "content": text}] for text in texts]
    questions = [[{"role": "user", "content": prompt}] for prompt in prompts]
    assert reward(prompts=questions, completions=chats) == [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]


def test_a_group_without_a_readable_answer_is_not_rewarded(reward: Any) -> None:
    assert reward(prompts=["a", "a"], completions=["I do not know.", "Nor do I."]) == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore")  # TRL's own
def test_the_trainer_takes_the_reward(reward: Any, tmp_path: Path) -> None:
    word_level = Tokenizer(WordLevel({token: i for i, token in enumerate(VOCABULARY)}, unk_token="<pad>"))
    word_level.pre_tokenizer = WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=word_level, pad_token="<pad>", eos_token="<eos>")
    config = Qwen2Config(
        vocab_size=len(VOCABULARY), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    seen: list[list[float]] = []

    def recorded(**call: Any) -> list[float]:
        seen.append(reward(**call))
        return seen[-1]

    trainer = GRPOTrainer(
        model=Qwen2ForCausalLM(config),
        processing_class=tokenizer,
        reward_funcs=recorded,
        train_dataset=Dataset.from_dict({"prompt": ["add 1 2", "add 3 4"]}),
        args=GRPOConfig(
            str(tmp_path), max_steps=2, per_device_train_batch_size=GROUP, num_generations=GROUP,
            max_completion_length=4, use_cpu=True, bf16=False, report_to="none", save_strategy="no", logging_steps=1,
        ),
    )  # fmt: skip
    trainer.train()
    assert len(seen) == 2
    assert all(len(rewards) == GROUP and set(rewards) <= {0.0, 1.0} for rewards in seen)
    logged = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    assert logged == pytest.approx([sum(rewards) / GROUP for rewards in seen])
