"""A server on the loopback interface that speaks enough of the OpenAI chat API, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server does with one call."""

    text: str = "1. Il mondo gira.\n2. Vado al porto."
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish_reason: str = "stop"
    raw: bytes | None = None


Behaviour = Callable[[dict[str, Any], int], Reply]
"""(the call's body, how often this prompt had been asked before, from 0) → what to do."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class FakeServer:
    """Records every call.

    Attributes:
        calls: bodies of the calls received, in order.
        answered: calls that got their answer.
        started, ended: when the first call came and the last answer went, by the monotonic clock.
    """

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour: Behaviour = behaviour or (lambda body, nth: Reply())
        self.calls: list[dict[str, Any]] = []
        self.answered = 0
        self.started: float | None = None
        self.ended = 0.0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def prompts(self) -> list[str]:
        return [call["messages"][-1]["content"] for call in self.calls]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _reply(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            self.started = self.started or time.monotonic()
            self.calls.append(body)
            # A prompt asked with another seed is another epoch, not the same call again.
            key = json.dumps([body["messages"], body.get("seed")])
            nth = self._seen[key]
            self._seen[key] += 1
        return self.behaviour(body, nth)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path != "/v1/chat/completions":
                    self._send(404, {}, b'{"error": {"message": "no such path"}}')
                    return
                reply = server._reply(body)
                time.sleep(reply.delay)
                self._send(reply.status, reply.headers, reply.raw if reply.raw is not None else _body(reply))
                with server._lock:
                    server.answered += 1
                    server.ended = time.monotonic()

            def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _body(reply: Reply) -> bytes:
    if reply.status != 200:
        return json.dumps({"error": {"message": f"status {reply.status}", "type": "server_error"}}).encode()
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text},
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
    }
    return json.dumps(answer).encode()
