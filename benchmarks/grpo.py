"""What a policy learns from rewards with gates and without: GRPO on a processor.

    python benchmarks/grpo.py             # trains on gated rewards
    python benchmarks/grpo.py --ungated   # trains on bare verdicts

The model is a small transformer of random weights whose tokens are whole Italian words, those of the benchmark's
demonstrations: it knows no Italian but all its words are, and it learns in minutes. `--embedded` takes SmolLM2-135M
instead, which needs the extra local, gguf and a few seconds to a minute a step. The targets are those to train on, none
the benchmark's. Both runs log three figures: the gated reward, the bare one, and the share of texts that pass; the one
that is trained on has weight 1, the others 0. Needs the extra trl.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from typing import Any, Final

from oulibench.constraints import task_names
from oulibench.language import ITALIAN
from oulibench.rewards.prompts import dataset_rows, training_requests
from oulibench.rewards.trl import answer_text, make_reward
from oulibench.text import words

VOCABULARY: Final = 600
GATED: Final = make_reward()
BARE: Final = make_reward(gates=None)
PASSED: Final = make_reward(gates=None, strict=True)


def main() -> int:
    """Train, and print a line of JSON for every ten steps, then some of the last completions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="lipogram")
    parser.add_argument("--targets", nargs="*", help="of those to train on; default: all")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch", type=int, default=32, help="completions a step, 8 to a prompt")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ungated", action="store_true")
    parser.add_argument("--embedded", action="store_true")
    args = parser.parse_args()

    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rows = dataset_rows(
        request
        for request in training_requests([args.task], wordings=["terse"])
        if not args.targets or str(request.target) in args.targets
    )
    model, tokenizer = embedded() if args.embedded else tiny(rows)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=[GATED, BARE, PASSED],
            args=GRPOConfig(
                output_dir=folder,
                reward_weights=[0.0, 1.0, 0.0] if args.ungated else [1.0, 0.0, 0.0],
                per_device_train_batch_size=args.batch,
                num_generations=8,
                max_completion_length=args.tokens,
                max_steps=args.steps,
                learning_rate=args.rate,
                lr_scheduler_type="constant",
                logging_steps=10,
                save_strategy="no",
                report_to="none",
                use_cpu=True,
                bf16=False,
                seed=args.seed,
                disable_tqdm=True,
                log_level="error",
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        start = time.perf_counter()
        trainer.train()
    for logs in trainer.state.log_history:
        if "reward" in logs:
            kept = {f.name: round(logs[f"rewards/{f.name}/mean"], 3) for f in (GATED, BARE, PASSED)}
            print(json.dumps({"step": logs["step"], **kept, "tokens": round(logs["completions/mean_length"], 1)}))
    print(json.dumps({"seconds": round(time.perf_counter() - start)}))
    for completion in list(trainer._logs["completion"])[-6:]:
        print(json.dumps({"completion": answer_text(completion)}, ensure_ascii=False))
    return 0


def tiny(rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    """A model of random weights that writes words of the demonstrations, and its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    counted: Counter[str] = Counter()
    for task in task_names():
        source = ITALIAN.data("demonstrations", f"{task}.jsonl")
        for line in source.read_text(encoding="utf-8").splitlines() if source.is_file() else ():
            counted.update(words(json.loads(line)["text"].lower()))
    written = [word for word, _ in counted.most_common(VOCABULARY)]
    # Of a prompt it sees the letters, as they stand between the quotation marks.
    known = ["<pad>", "<end>", "<unk>", *dict.fromkeys([*written, *"abcdefghilmnopqrstuvz"])]
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(known)}, unk_token="<unk>"))  # noqa: S106
    inner.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    names = {"pad_token": "<pad>", "eos_token": "<end>", "unk_token": "<unk>"}
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, padding_side="left", chat_template=template, **names)
    config = LlamaConfig(
        vocab_size=len(known),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config), tokenizer


def embedded() -> tuple[Any, Any]:
    """SmolLM2-135M-Instruct in single precision, out of its GGUF file."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from oulibench.engines.gguf import EMBEDDED_NAME, model_path

    path = model_path(EMBEDDED_NAME)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    model.is_quantized = False  # no longer: the weights were turned into floats when they were read
    return model, AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, padding_side="left")


if __name__ == "__main__":
    raise SystemExit(main())
