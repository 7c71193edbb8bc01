"""Wall time of `oulibench run` against a server with a fixed latency.

    python benchmarks/run_latency.py [--requests 500] [--connections 20] [--latency 0.2]

A server on the loopback interface, a process of its own, answers every call after the same time. Nobody can be faster
with so many connections than requests × latency / connections: the bound. Measured from the first call to the last
answer, start-up and report apart; the goal is 1.15 times the bound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from oulibench.cli import main as oulibench

_ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fixed",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Il vento soffia forte sul mare."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
    }
).encode()
_REPLY = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_ANSWER)) + _ANSWER


async def _serve(channel: Connection, latency: float) -> None:
    times: list[float] = []
    calls = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().splitlines()
                    if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                calls += 1
                times.append(time.monotonic())
                await asyncio.sleep(latency)
                writer.write(_REPLY)
                await writer.drain()
                times.append(time.monotonic())
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=256)
    channel.send(server.sockets[0].getsockname()[1])
    while not channel.poll():
        await asyncio.sleep(0.05)
    channel.send((calls, times[0], times[-1]))
    server.close()


def _server(channel: Connection, latency: float) -> None:
    asyncio.run(_serve(channel, latency))


def measure(requests: int, connections: int, latency: float) -> tuple[int, float]:
    """Calls that the server saw, and the seconds from the first one to the last answer."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_server, args=(theirs, latency), daemon=True)
    process.start()
    port = ours.recv()
    with tempfile.TemporaryDirectory() as folder:
        call = ["run", "--model", "openai-api/lab/fixed", "--model-base-url", f"http://127.0.0.1:{port}/v1"]
        call += ["--suite", "single", "--tasks", "lipogram", "--shots", "0", "--limit", "5"]
        call += [
            "--epochs",
            str(requests // 5),
            "--max-connections",
            str(connections),
            "--out",
            str(Path(folder) / "r"),
        ]
        code = oulibench(call)
    ours.send("stop")
    calls, first, last = ours.recv()
    process.join()
    if code != 0:
        sys.exit(f"the run ended with exit code {code}")
    return calls, last - first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=500, help="a multiple of 5 (default: 500)")
    parser.add_argument("--connections", type=int, default=20)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds (default: 0.2)")
    args = parser.parse_args()
    calls, wall = measure(args.requests, args.connections, args.latency)
    bound = args.requests * args.latency / args.connections
    print(f"{calls} calls, {args.connections} connections, {args.latency:g} s each: wall {wall:.2f} s")
    print(f"bound {bound:.2f} s; wall / bound = {wall / bound:.3f} (goal: at most 1.15)")


if __name__ == "__main__":
    main()
