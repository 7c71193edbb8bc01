"""A model's server for the cluster scripts: as vLLM's where they look, and it writes down whatever it is asked.

    python counting_server.py MODEL --port PORT --calls FILE [--seconds S] [--key KEY]

Like vLLM it answers /health to all and /v1 to those alone who know VLLM_API_KEY. Each call's prompt and seed become a
line of FILE when the call comes, and one more when it has been answered.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Server(ThreadingHTTPServer):
    daemon_threads = True
    model: str
    key: str
    calls: Path
    seconds: float
    calls_to_live: int
    answered = 0
    lock = threading.Lock()

    def note(self, what: str, body: dict[str, object]) -> None:
        messages = body["messages"]
        assert isinstance(messages, list)
        line = {"what": what, "prompt": messages[-1]["content"], "seed": body.get("seed"), "model": body.get("model")}
        with self.lock, self.calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        if self.path == "/health":
            self._send(200, {})
        elif self._known() and self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": self.server.model, "max_model_len": 4096}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._known():
            return
        if body.get("model") != self.server.model:
            self._send(404, {"error": {"message": f"The model `{body.get('model')}` does not exist."}})
            return
        self.server.note("asked", body)
        time.sleep(self.server.seconds)
        message = {"role": "assistant", "content": "1. Il mondo gira.\n2. Vado al porto."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": self.server.model}
        self._send(200, {**head, "choices": [choice], "usage": usage})
        self.server.note("answered", body)
        self.server.answered += 1
        if self.server.answered == self.server.calls_to_live:
            os._exit(1)

    def _known(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {self.server.key}":
            return True
        self._send(401, {"error": {"message": "Unauthorized"}})
        return False

    def _send(self, status: int, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--key", default=os.environ.get("VLLM_API_KEY", ""))
    parser.add_argument("--served-model-name")
    parser.add_argument("--calls-to-live", type=int, default=-1, help="end after so many answers")
    parser.add_argument("--dead", action="store_true", help="end at once")
    args = parser.parse_args()
    if args.dead:
        sys.exit("out of memory")
    server = Server(("127.0.0.1", args.port), Handler)
    server.model, server.key = args.served_model_name or args.model, args.key
    server.calls, server.seconds = args.calls, args.seconds
    server.calls_to_live = args.calls_to_live
    server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
