"""lm-evaluation-harness itself, on the tasks that it is given: through a server, and through transformers."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"  # read when the libraries are imported

pytest.importorskip("lm_eval")
pytest.importorskip("scipy")

import requests  # type: ignore[import-untyped,unused-ignore]
from lm_eval import simple_evaluate  # type: ignore[import-not-found,import-untyped,unused-ignore]
from lm_eval.tasks import TaskManager  # type: ignore[import-not-found,import-untyped,unused-ignore]
from scipy.stats import spearmanr
from tests.engines.fake_server import FakeServer, Reply

from oulibench.cli import main
from oulibench.constraints import task_names
from oulibench.engines.gguf import model_path
from oulibench.engines.lm_eval import tasks_folder
from oulibench.engines.lm_eval.answers import sample_row
from oulibench.errors import DataError, OuLiBenchError, UnknownTaskError
from oulibench.suite import build_requests, load_suite, token_limit
from oulibench.suite.dataset import checksum


def manager(**options: Any) -> TaskManager:
    """The harness's index of our tasks alone; reading its own takes long."""
    metadata = {"oulibench": options} if options else None
    return TaskManager(include_path=str(tasks_folder()), include_defaults=False, metadata=metadata)


def evaluate(tasks: list[str], options: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    found = simple_evaluate(tasks=tasks, task_manager=manager(**(options or {})), log_samples=True, **settings)
    assert found is not None
    json.dumps(found["samples"], allow_nan=False, default=str)
    return dict(found)


def through(server: str, tasks: list[str], options: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    arguments = {"base_url": f"{server}/chat/completions", "model": "served", "max_retries": 1, "timeout": 600}
    arguments |= settings.pop("arguments", {})
    return evaluate(
        tasks, options, model="local-chat-completions", model_args=arguments, apply_chat_template=True, **settings
    )


def same_as_oulibench_score(found: dict[str, Any], tmp_path: Path) -> int:
    """Hold every figure against `oulibench score` on the logged samples; returns how many items there were."""
    items_in_all = 0
    for task, samples in found["samples"].items():
        source, scored = tmp_path / f"{task}.in.jsonl", tmp_path / f"{task}.out.jsonl"
        rows = [sample_row(json.loads(json.dumps(sample, default=str))) for sample in samples]
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert main(["score", str(source), "-o", str(scored)]) == 0
        items = [json.loads(line) for line in scored.read_text(encoding="utf-8").splitlines()]
        items = [item for item in items if item["text"] is not None]
        asked = sum(row["n"] for row in rows)
        passed = [item for item in items if item["passed"]]
        expected = {
            "sr": len(passed) / len(items) if items else math.nan,
            "passed_per_requested": len([item for item in passed if item["item"] <= item["n"]]) / asked,
            "yield": len(items) / asked,
            "scoring_failed": 0,
        }
        if rows[0]["family"] == "quantitative":
            pairs = [(float(item["target"]), item["measured"]) for item in items]
            varied = len({p[0] for p in pairs}) > 1 and len({p[1] for p in pairs}) > 1
            expected["spearman"] = (
                float(spearmanr([p[0] for p in pairs], [p[1] for p in pairs]).statistic) if varied else math.nan
            )
        figures = {key.removesuffix(",none"): v for key, v in found["results"][task].items() if key.endswith(",none")}
        figures = {key: value for key, value in figures.items() if not key.endswith("_stderr")}
        assert figures == pytest.approx(expected, nan_ok=True), task
        items_in_all += len(items)
    return items_in_all


# --- what is asked -----------------------------------------------------------------------------------------------


def test_all_tasks_and_groups_load() -> None:
    loaded = manager()
    assert loaded.all_groups == sorted(
        ["oulibench", "oulibench_quantitative", "oulibench_syntactic", "oulibench_stylistic"]
        + [f"oulibench_{k}shot" for k in (5, 10, 15)]
    )
    found = loaded.load(["oulibench", "oulibench_5shot", "oulibench_10shot", "oulibench_15shot"])
    assert [name for name in found["tasks"] if "shot" not in name] == [f"oulibench_{task}" for task in task_names()]
    assert len(found["tasks"]) == 11 + 3 * 5
    assert found["group_map"]["oulibench_syntactic"] == ["oulibench_voice", "oulibench_word_order"]
    with pytest.raises(KeyError, match="oulibench_lipogram_7shot"):
        loaded.load(["oulibench_lipogram_7shot"])


@pytest.mark.parametrize("options", [{}, {"suite": "quick"}, {"suite": "quick", "n": 2, "wording": "technical"}])
def test_prompts_are_the_suites(options: dict[str, Any]) -> None:
    tasks = manager(**options).load(["oulibench", "oulibench_5shot", "oulibench_10shot", "oulibench_15shot"])["tasks"]
    asked: dict[str, Any] = {}
    for task in tasks.values():
        task.build_all_requests(limit=None, rank=0, world_size=1)
        for instance in task.instances:
            asked[instance.doc["id"]] = instance.arguments
    settings = {key: options[key] for key in ("n", "wording") if key in options}
    expected = [
        request
        for request in build_requests(load_suite(options.get("suite", "paper")), shots=[0, 5, 10, 15], **settings)
        if request.task != "word_order" or not request.shots
    ]
    assert set(asked) == {request.id for request in expected}
    for request in expected:
        prompt, generation = asked[request.id]
        assert prompt == request.prompt
        # nothing but the model's own end of text stops an answer, and the limit is what the prompt needs
        assert generation == {
            "until": [],
            "do_sample": False,
            "temperature": 0.0,
            "max_gen_toks": token_limit(request),
        }


def test_token_limit_for_models_that_reason() -> None:
    (task,) = manager(reasons=True).load(["oulibench_palindrome"])["tasks"].values()
    task.build_all_requests(limit=None, rank=0, world_size=1)
    (request,) = build_requests(load_suite("paper"), ["palindrome"], [0])
    assert task.instances[0].arguments[1]["max_gen_toks"] == token_limit(request, reasons=True)


def test_signature_is_kept_with_the_results() -> None:
    versions: dict[str, str] = {}
    for name, options in (
        ("oulibench_lipogram", {}),
        ("oulibench_lipogram_5shot", {}),
        ("oulibench_lipogram", {"suite": "quick"}),
        ("oulibench_lipogram", {"wording": "technical"}),
        ("oulibench_tautogram", {}),
    ):
        (task,) = manager(**options).load([name])["tasks"].values()
        kept = task.dump_config()["metadata"]
        assert kept["version"] == task.VERSION
        assert kept["oulibench"]["signature"].startswith(f"task:{task.config.dataset_kwargs['task']}|v:")
        assert "|reader:" in kept["oulibench"]["signature"]
        assert kept["oulibench"]["dataset"] == checksum()
        versions[f"{name} {options}"] = task.VERSION
    assert len(set(versions.values())) == len(versions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suit": "quick"}, "no option suit"),
        ({"suite": "unknown"}, "no suite"),
        ({"n": "5"}, "cannot be '5'"),
        ({"n": True}, "cannot be True"),
        ({"reasons": 1}, "cannot be 1"),
        ({"task": 5}, "cannot be 5"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        manager(**options).load(["oulibench_lipogram"])


@pytest.mark.parametrize("options", [{"n": 0}, {"wording": "shouted"}, {"task": "sonnet"}])
def test_bad_values(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, UnknownTaskError)):
        manager(**options).load(["oulibench_lipogram"])


def test_tasks_of_ones_own(tmp_path: Path) -> None:
    common = tasks_folder() / "_oulibench"

    def load(lines: str) -> Any:
        (tmp_path / "own.yaml").write_text(f"include: {common}\ntask: own\n{lines}", encoding="utf-8")
        found = TaskManager(include_path=[str(tasks_folder()), str(tmp_path)], include_defaults=False).load(["own"])
        return found["tasks"]["own"]

    own = load("num_fewshot: 3\ndataset_kwargs:\n  task: word_order\n  suite: quick\n  n: 4\n  wording: terse\n")
    expected = build_requests(load_suite("quick"), ["word_order"], [3], "terse", 4)
    assert [doc["prompt"] for doc in own.eval_docs] == [request.prompt for request in expected]
    sampled = load("dataset_kwargs:\n  task: palindrome\ngeneration_kwargs:\n  do_sample: true\n  temperature: 0.7\n")
    sampled.build_all_requests(limit=None, rank=0, world_size=1)
    (limit,) = {token_limit(request) for request in build_requests(load_suite("paper"), ["palindrome"])}
    assert [instance.arguments[1] for instance in sampled.instances] == [
        {"until": [], "do_sample": True, "temperature": 0.7, "max_gen_toks": limit}
    ]
    with pytest.raises(DataError, match="has no demonstrations"):
        load("num_fewshot: 5\ndataset_kwargs:\n  task: tautogram\n")
    with pytest.raises(DataError, match="fewer than the 500"):
        load("num_fewshot: 500\ndataset_kwargs:\n  task: lipogram\n")
    with pytest.raises(DataError, match="must name the benchmark's task"):
        load("dataset_kwargs:\n  suite: quick\n")
    with pytest.raises(DataError, match="must be a mapping"):
        load("dataset_kwargs: lipogram\n")


# --- through a server --------------------------------------------------------------------------------------------

LINES = ["Il gatto dorme sul divano.", "Marco corre.", "La nonna cucina la pasta.", "Oggi piove molto.", "Vado via."]
ANSWER = "<think>\nForse così:\n\n1. No.\n</think>\n\n" + "\n\n".join(f"{i}. {x}" for i, x in enumerate(LINES, 1))


@pytest.mark.parametrize("concurrent", [1, 2])
def test_whole_answers_and_no_hidden_stop(concurrent: int, tmp_path: Path) -> None:
    def reply(body: dict[str, Any], nth: int) -> Reply:
        if "lettera" in body["messages"][0]["content"]:
            return Reply(raw=json.dumps({"choices": [{"index": 0, "message": {"content": None}}]}).encode())
        return Reply(ANSWER)

    tasks = ["oulibench_word_length_5shot", "oulibench_lipogram"]
    with FakeServer(reply) as server:
        found = through(server.url, tasks, {"suite": "quick"}, arguments={"num_concurrent": concurrent})
    expected = build_requests(load_suite("quick"), ["word_length"], [5])
    expected += build_requests(load_suite("quick"), ["lipogram"], [0])
    assert sorted(server.prompts()) == sorted(request.prompt for request in expected)
    by_prompt = {request.prompt: request for request in expected}
    for call in server.calls:
        (message,) = call["messages"]
        assert message["role"] == "user"
        assert call["stop"] == []
        assert call["temperature"] == 0
        assert call["max_tokens"] == token_limit(by_prompt[message["content"]])
    # 5, 2, 5, 3 and 2 words, for 5, 15 and 30 words asked for
    lengths = found["results"]["oulibench_word_length_5shot"]
    targets = [int(str(request.target)) for request in expected if request.task == "word_length"]
    right = sum(length == target for target in targets for length in (5, 2, 5, 3, 2))
    assert right == 2
    assert lengths["sr,none"] == pytest.approx(right / 15)
    assert lengths["yield,none"] == 1
    assert lengths["spearman,none"] == pytest.approx(0)  # the same answer, whatever is asked
    nothing = found["results"]["oulibench_lipogram"]
    assert math.isnan(nothing["sr,none"])
    assert nothing["passed_per_requested,none"] == nothing["yield,none"] == nothing["scoring_failed,none"] == 0
    assert same_as_oulibench_score(found, tmp_path) == 15
    assert found["n-shot"] == {"oulibench_word_length_5shot": 5, "oulibench_lipogram": 0}


def test_number_of_demonstrations_of_the_harness(caplog: pytest.LogCaptureFixture) -> None:
    tasks = ["oulibench_lipogram", "oulibench_char_length_10shot", "oulibench_tautogram"]
    with FakeServer() as server:
        found = through(server.url, tasks, {"suite": "quick"}, num_fewshot=5, limit=1)
    assert found["n-shot"] == {"oulibench_lipogram": 5, "oulibench_char_length_10shot": 10, "oulibench_tautogram": 0}
    quick = load_suite("quick")
    expected = build_requests(quick, ["lipogram"], [5], limit=1) + build_requests(quick, ["tautogram"], limit=1)
    expected += build_requests(quick, ["char_length"], [10], limit=1)
    assert sorted(server.prompts()) == sorted(request.prompt for request in expected)
    assert "oulibench_char_length_10shot keeps its 10 demonstrations" in caplog.text
    assert "oulibench_tautogram is asked without demonstrations" in caplog.text
    (five,) = manager(suite="quick").load(["oulibench_lipogram_5shot"])["tasks"].values()
    assert found["versions"]["oulibench_lipogram"] == five.VERSION


def test_groups_are_plain_means_over_tasks() -> None:
    with FakeServer() as server:
        found = through(server.url, ["oulibench"], {"suite": "quick", "n": 2}, limit=1)
    results = found["results"]
    for group, tasks in {
        "oulibench": [f"oulibench_{task}" for task in task_names()],
        "oulibench_quantitative": ["oulibench_word_length", "oulibench_char_length"],
        "oulibench_syntactic": ["oulibench_voice", "oulibench_word_order"],
    }.items():
        for metric in ("sr", "passed_per_requested", "yield"):
            mean = sum(results[task][f"{metric},none"] for task in tasks) / len(tasks)
            assert results[group][f"{metric},none"] == pytest.approx(mean)
    assert results["oulibench_lipogram"]["sr,none"] > 0
    assert "spearman,none" not in results["oulibench_stylistic"]


def test_options_for_generation_win() -> None:
    with FakeServer() as server:
        through(server.url, ["oulibench_palindrome"], gen_kwargs={"max_gen_toks": 7, "temperature": 0.5, "top_p": 0.9})
    (call,) = server.calls
    assert (call["max_tokens"], call["temperature"], call["top_p"], call["stop"]) == (7, 0.5, 0.9, [])


def test_predict_only() -> None:
    with FakeServer() as server:
        found = through(server.url, ["oulibench_palindrome"], predict_only=True)
    assert found["samples"]["oulibench_palindrome"][0]["filtered_resps"] == [Reply().text]


def test_a_server_that_is_not_there_or_fails() -> None:
    with pytest.raises(requests.exceptions.ConnectionError):
        through("http://127.0.0.1:9/v1", ["oulibench_palindrome"])
    with FakeServer(lambda body, nth: Reply(status=500)) as server, pytest.raises(requests.exceptions.HTTPError):
        through(server.url, ["oulibench_palindrome"])


def test_a_chat_server_without_chat_template() -> None:
    with FakeServer() as server, pytest.raises(AssertionError, match="apply_chat_template"):
        evaluate(
            ["oulibench_palindrome"],
            model="local-chat-completions",
            model_args={"base_url": f"{server.url}/chat/completions", "model": "served", "max_retries": 1},
        )


@pytest.fixture
def embedded() -> Iterator[str]:
    """The base URL of `oulibench serve`."""
    pytest.importorskip("xllamacpp")
    try:
        model_path("smollm2")
    except OuLiBenchError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "oulibench", "serve", "--context", "2048"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(30) == 0


def test_embedded_model_through_its_server(embedded: str, tmp_path: Path) -> None:
    tasks = ["oulibench_word_length_5shot", "oulibench_lipogram", "oulibench_voice"]
    found = through(
        embedded, tasks, {"suite": "quick", "n": 3}, limit=2, gen_kwargs={"max_gen_toks": 24}, bootstrap_iters=0
    )
    assert same_as_oulibench_score(found, tmp_path) > 0


# --- transformers ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer trained on our own prompts."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([request.prompt for request in build_requests(load_suite("paper"))], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **dict(zip(("bos_token", "eos_token", "pad_token"), ("<s>", "</s>", "</s>"), strict=True)),
    )


def saved(tokenizer: Any, folder: Path, only: str | None = None) -> str:
    """A tiny GPT-2 with random weights; with `only`, one that writes nothing but that token."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=1024,
        n_embd=32,
        n_layer=1,
        n_head=2,
        initializer_range=0.5,
        tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = transformers.GPT2LMHeadModel(config)
    if only is not None:
        (token,) = tokenizer.encode(only, add_special_tokens=False)
        with torch.no_grad():
            model.transformer.ln_f.weight.zero_()
            model.transformer.ln_f.bias.fill_(1)
            model.lm_head.weight.zero_()
            model.lm_head.weight[token] = 1
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_transformers_model(vocabulary: Any, tmp_path: Path) -> None:
    found = evaluate(
        ["oulibench_quantitative", "oulibench_lipogram_5shot", "oulibench_word_order"],
        {"suite": "quick", "n": 3},
        model="hf",
        model_args={"pretrained": saved(vocabulary, tmp_path / "model"), "dtype": "float32"},
        device="cpu",
        batch_size=4,
        gen_kwargs={"max_gen_toks": 64, "do_sample": True, "temperature": 1.0},
    )
    assert same_as_oulibench_score(found, tmp_path) > 3
    quick = load_suite("quick")
    expected = [request.prompt for request in build_requests(quick, ["lipogram"], [5], n=3)]
    logged = [sample["arguments"][0][0] for sample in found["samples"]["oulibench_lipogram_5shot"]]
    assert logged == expected


def test_blank_lines_do_not_stop_a_transformers_model(vocabulary: Any, tmp_path: Path) -> None:
    found = evaluate(
        ["oulibench_palindrome"],
        {"n": 1},
        model="hf",
        model_args={"pretrained": saved(vocabulary, tmp_path, only="\n"), "dtype": "float32"},
        device="cpu",
        gen_kwargs={"max_gen_toks": 24},
    )
    (sample,) = found["samples"]["oulibench_palindrome"]
    assert sample["filtered_resps"] == ["\n" * 24]
    assert found["results"]["oulibench_palindrome"]["yield,none"] == 0


@pytest.mark.slow  # the command reads all of the harness's own tasks; the commands of docs/lm-eval.md do it, too
def test_command_line(vocabulary: Any, tmp_path: Path) -> None:
    """As the documentation says it, with the harness's own tasks beside ours."""
    model = saved(vocabulary, tmp_path / "model")
    path = subprocess.run(
        [sys.executable, "-m", "oulibench", "lm-eval-path"], capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()
    command = [sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--model_args", f"pretrained={model}"]
    command += ["--device", "cpu", "--include_path", path, "--tasks", "oulibench_palindrome,oulibench_syntactic"]
    command += ["--metadata", '{"oulibench": {"suite": "quick", "n": 2}}', "--gen_kwargs", "max_gen_toks=16"]
    command += ["--limit", "1", "--log_samples", "--output_path", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "oulibench_syntactic" in done.stdout
    assert len(list((tmp_path / "out").rglob("samples_oulibench_*.jsonl"))) == 3
    (results,) = (tmp_path / "out").rglob("results_*.json")
    kept = json.loads(results.read_text(encoding="utf-8"))["configs"]["oulibench_voice"]["metadata"]["oulibench"]
    assert (kept["suite"], kept["n"], kept["shots"]) == ("quick", 2, 0)
