"""`oulibench serve`: a local model as an OpenAI-compatible server, for tools that speak to one."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_OK
from oulibench.engines.gguf import CONTEXT, EMBEDDED_NAME, HOST, default_threads, model_path, start_server
from oulibench.errors import DataError

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_DESCRIPTION = """\
Serve the embedded model, or any GGUF file, as an OpenAI-compatible server (/v1/chat/completions, /v1/completions) until
Ctrl-C or SIGTERM. It listens on the loopback interface alone and answers one request at a time, so that the same seed
gives the same answer. The base URL is the one line on standard output, printed when the model is ready.
"""
_EXAMPLE = """\
example:
  $ oulibench serve --port 8077
  http://127.0.0.1:8077/v1
"""


_LEAST_CONTEXT = 16


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="serve a local model to OpenAI clients on this machine",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        metavar="M",
        default=EMBEDDED_NAME,
        help=f"{EMBEDDED_NAME} (the embedded model, default) or the path of a GGUF file",
    )
    parser.add_argument("--port", type=_whole(0, 65_535), metavar="N", default=0, help="default: the system chooses")
    parser.add_argument("--threads", type=_whole(1, 4_096), metavar="N", help="default: half of the cores")
    parser.add_argument(
        "--context",
        type=_whole(0, 2**31 - 1),
        metavar="N",
        default=CONTEXT,
        help=f"tokens of prompt and answer together (default: {CONTEXT}; 0: the model's own)",
    )


def _whole(least: int, most: int) -> Any:
    def whole(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return whole


def main(args: argparse.Namespace) -> int:
    if 0 < args.context < _LEAST_CONTEXT:  # llama.cpp ends the process where it is less than two
        raise DataError(f"--context {args.context}: fewer than {_LEAST_CONTEXT} tokens hold no prompt and answer.")
    path = model_path(args.model)
    ended = Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, lambda *_: ended.set())
    server = _start(path, args.threads or default_threads(), args.context, args.port)
    print(f"{server.listening_address}/v1", flush=True)
    print(f"serving {path.name}; Ctrl-C ends it", file=sys.stderr, flush=True)
    while not ended.wait(1):  # without a limit, some platforms would not see the signal
        pass
    print("ended", file=sys.stderr, flush=True)
    # The server's own end waits for the answer that is being written, minutes perhaps; there is nothing to save.
    os._exit(EXIT_OK)


def _start(path: Path, threads: int, context: int, port: int) -> Any:
    if port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: not what is closing
            try:
                probe.bind((HOST, port))
            except OSError as error:
                raise DataError(
                    f"Port {port} cannot be had: {error.strerror}. Without --port a free one is chosen."
                ) from error
    try:
        return start_server(path, threads, context, port)
    except RuntimeError as error:
        raise DataError(f"llama.cpp cannot serve {path}: {error}") from error
