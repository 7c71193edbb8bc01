"""`oulibench serve`, as a process of its own."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp")

from oulibench.cli import main
from oulibench.engines.gguf import model_path
from oulibench.errors import OuLiBenchError


@pytest.fixture
def embedded() -> None:
    try:
        model_path("smollm2")
    except OuLiBenchError as error:
        pytest.skip(str(error))


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the base URL that it printed."""
    command = [sys.executable, "-m", "oulibench", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def ask(base_url: str, prompt: str, max_tokens: int) -> str:
    body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": max_tokens, "temperature": 0, "seed": 1}
    call = urllib.request.Request(  # noqa: S310  # the URL of our own server
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(call, timeout=300) as answer:  # noqa: S310
        return str(json.load(answer)["choices"][0]["message"]["content"])


def test_answers_until_it_is_told_to_end(embedded: None, capsys: pytest.CaptureFixture[str]) -> None:
    with serving("--threads", "1", "--context", "1024") as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", url)
        foreign = urllib.request.Request(f"{url}/models", headers={"Origin": "https://example.org"})  # noqa: S310
        with urllib.request.urlopen(foreign, timeout=60) as answer:  # noqa: S310
            assert not answer.headers["Access-Control-Allow-Origin"]
        first = ask(url, "Say one word.", 4)
        assert first
        assert ask(url, "Say one word.", 4) == first
        port = url.removesuffix("/v1").rsplit(":", 1)[1]
        assert main(["serve", "--port", port]) == 2
        assert f"Port {port} " in capsys.readouterr().err
        # an answer that takes long does not hold the end up
        busy = threading.Thread(target=lambda: _quietly(url), daemon=True)
        busy.start()
        time.sleep(0.5)
        assert busy.is_alive()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", int(port))) != 0


def _quietly(url: str) -> None:
    with suppress(OSError, ValueError):
        ask(url, "Write a very long story about the sea, of a thousand words.", 900)


def test_ctrl_c_ends_it(embedded: None) -> None:
    with serving() as (process, url):
        assert url.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    "options",
    [
        ["--host", "0.0.0.0"],  # noqa: S104  # refused: loopback only
        ["--port", "65536"],
        ["--port", "-1"],
        ["--port", "²"],
        ["--threads", "0"],
        ["--context", "-5"],
    ],
)
def test_bad_options(options: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["serve", *options])


def test_a_context_that_ends_the_process_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--context", "1"]) == 2
    assert "--context 1: " in capsys.readouterr().err


def test_bad_model_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--model", str(tmp_path / "missing.gguf")]) == 2
    assert "There is no model file" in capsys.readouterr().err
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04")
    assert main(["serve", "--model", str(other)]) == 2
    assert "no GGUF" in capsys.readouterr().err
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\xff" * 64)
    assert main(["serve", "--model", str(broken)]) == 2
    assert "broken.gguf" in capsys.readouterr().err
