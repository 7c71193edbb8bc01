"""GRPO on a model of 135 million parameters, on a processor: what the gates change.

    python benchmarks/grpo.py --steps 30            # trains on gated rewards
    python benchmarks/grpo.py --steps 30 --ungated  # trains on bare verdicts

Needs the extras trl and local (the embedded model) and gguf. The targets are those to train on, none the benchmark's.
In both runs three figures are logged: the gated reward, the bare one, and the share of texts that pass; the one that is
trained on has weight 1, the others 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from typing import Any

from oulibench.engines.gguf import EMBEDDED_NAME, model_path
from oulibench.rewards.prompts import dataset_rows, training_requests
from oulibench.rewards.trl import make_reward


def main() -> int:
    """Train, and print one line of JSON per step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="lipogram")
    parser.add_argument("--targets", nargs="*", help="of those to train on; default: all")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ungated", action="store_true")
    args = parser.parse_args()

    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    torch.set_num_threads(args.threads)
    path = model_path(EMBEDDED_NAME)
    rows = dataset_rows(
        request
        for request in training_requests([args.task], wordings=["terse"])
        if not args.targets or str(request.target) in args.targets
    )
    gated, bare, passed = make_reward(), make_reward(gates=None), make_reward(gates=None, strict=True)

    class Print(TrainerCallback):  # type: ignore[misc]  # TRL is not installed where types are checked
        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **kwargs: Any) -> None:
            if "reward" in logs:
                kept = {f.name: round(logs[f"rewards/{f.name}/mean"], 4) for f in (gated, bare, passed)}
                words = {"tokens": round(logs["completions/mean_length"], 1), "seconds": round(time.time() - start)}
                print(json.dumps({"step": state.global_step, **kept, **words}), flush=True)

    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    model.is_quantized = False  # no longer: the weights were turned into floats when they were read
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=[gated, bare, passed],
            args=GRPOConfig(
                output_dir=folder,
                reward_weights=[0.0, 1.0, 0.0] if args.ungated else [1.0, 0.0, 0.0],
                per_device_train_batch_size=args.generations,
                num_generations=args.generations,
                max_completion_length=args.tokens,
                max_steps=args.steps,
                learning_rate=args.rate,
                lr_scheduler_type="constant",
                temperature=0.9,
                logging_steps=1,
                log_completions=True,
                num_completions_to_print=1,
                gradient_checkpointing=False,
                save_strategy="no",
                report_to="none",
                use_cpu=True,
                bf16=False,
                seed=args.seed,
                disable_tqdm=True,
            ),
            train_dataset=Dataset.from_list(rows),
            processing_class=AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, padding_side="left"),
            callbacks=[Print()],
        )
        start = time.time()
        trainer.train()
        if completions := [*trainer._logs["completion"]]:
            for messages in completions[-4:]:
                print(json.dumps({"last": messages[0]["content"]}, ensure_ascii=False), file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
