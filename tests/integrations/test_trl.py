"""Steps of TRL's GRPOTrainer with the reward functions, on a tiny model of random weights made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
pytest.importorskip("datasets")

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from oulibench.constraints import task_names
from oulibench.rewards import DEFAULT_GATES, reward
from oulibench.rewards.prompts import dataset_rows, training_requests
from oulibench.rewards.trl import answer_text, constraint_reward, make_reward, prompt_text
from oulibench.suite import build_requests, load_suite

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Pieces of Italian words, learnt from the benchmark's prompts."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    prompts = [request.prompt for request in build_requests(load_suite("quick"), task_names())]
    inner.train_from_iterator(prompts, trainer)
    names = {"pad_token": "<|pad|>", "eos_token": "<|end|>"}
    return PreTrainedTokenizerFast(tokenizer_object=inner, padding_side="left", chat_template=TEMPLATE, **names)


def tiny_model(tokenizer: Any) -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=1024,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


@pytest.mark.parametrize("conversational", [True, False], ids=["messages", "texts"])
def test_grpo_trains_on_our_rewards(conversational: bool, tokenizer: Any, tmp_path: Path) -> None:
    """The trainer's table of completions holds, for each, what `oulibench.rewards` gives it; and the weights move."""
    torch.set_num_threads(1)
    requests = [r for r in training_requests(["word_length", "lipogram"]) if r.target in (8, "l")]
    rows = dataset_rows(requests, conversational)
    rows.append({**rows[0], "task": None, "target": None})  # somebody else's prompt, for somebody else's reward
    functions = [
        make_reward("word_length", gates=None),
        make_reward("lipogram", gates=None),
        constraint_reward,
        length_of_answer,
    ]
    model = tiny_model(tokenizer)
    before = {name: weights.clone() for name, weights in model.named_parameters()}
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=functions,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            per_device_train_batch_size=12,
            num_generations=4,
            max_completion_length=16,
            max_steps=2,
            learning_rate=1e-2,
            logging_steps=1,
            log_completions=True,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            seed=0,
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{**row, "difficulty": 1} for row in rows]),
        processing_class=tokenizer,
    )
    trainer.train()

    logged = [
        row for step in (1, 2) for row in read_parquet(tmp_path / "completions" / f"completions_{step:05}.parquet")
    ]
    assert len(logged) == 24
    asked = {prompt_text(row["prompt"]): row for row in rows[:2]}
    judged = 0
    for row in logged:
        assert isinstance(row["completion"], str) is not conversational
        prompt, answer = prompt_text(row["prompt"]), answer_text(row["completion"])
        given = asked[prompt]
        if row["constraint_reward"] is None:  # the row without a task
            assert row["word_length_reward_ungated"] is row["lipogram_reward_ungated"] is None
            continue
        judged += 1
        for name, gates in ((f"{given['task']}_reward_ungated", None), ("constraint_reward", DEFAULT_GATES)):
            expected = reward(given["task"], answer, given["target"], n=given["n"], prompt=prompt, gates=gates)
            assert row[name] == pytest.approx(expected), answer
        other = {"word_length": "lipogram", "lipogram": "word_length"}[given["task"]]
        assert row[f"{other}_reward_ungated"] is None
    assert judged == 16
    assert len({row["word_length_reward_ungated"] for row in logged}) > 2  # rewards differ: there is a gradient

    first = trainer.state.log_history[0]
    of_task = [value for row in logged[:12] if (value := row["word_length_reward_ungated"]) is not None]
    assert len(of_task) == 4
    assert first["rewards/word_length_reward_ungated/mean"] == pytest.approx(sum(of_task) / 4, abs=1e-6)
    assert any(not torch.equal(before[name], weights) for name, weights in trainer.model.named_parameters())


def length_of_answer(completions: list[Any], **columns: Any) -> list[float]:
    """A reward of somebody else's, which speaks where ours do not."""
    assert set(columns) >= {"prompts", "completion_ids", "task", "target", "n", "difficulty", "trainer_state"}
    return [len(answer_text(completion)) / 1000 for completion in completions]


def read_parquet(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Dataset.from_parquet(str(path), cache_dir=str(path.parent / "cache")).to_list()
    return rows


def test_rows_of_all_tasks_make_a_dataset() -> None:
    """Columns of one type each, with nothing lost on the way."""
    rows = dataset_rows(training_requests(wordings=("explicit", "terse")))
    assert Dataset.from_list(rows).to_list() == rows
    shown = dataset_rows(build_requests(load_suite("quick")), benchmark_targets=True)
    assert Dataset.from_list(shown).to_list() == shown
