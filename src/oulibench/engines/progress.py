"""Plain progress of a run on standard error: one line that counts answers, or a line now and then in a log file."""

from __future__ import annotations

import sys
import time
from typing import Final, TextIO

from inspect_ai.hooks import Hooks, ModelRetry, SampleEnd, hooks

_EVERY: Final = 15.0
"""Seconds between two lines where standard error is no terminal."""


class Progress:
    """Counts what has been answered.

    Attributes:
        total: calls that the run makes in all.
        done: calls that have their answer, or have failed for good.
        failed: of these, the failed ones.
        retries: attempts that were tried again.
    """

    def __init__(self, total: int, done: int, stream: TextIO | None = None) -> None:
        self.total, self.done, self.failed, self.retries = total, done, 0, 0
        self._stream = stream or sys.stderr
        self._start = self._last = time.monotonic()
        self._done_before = done

    def answered(self, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        self._show()

    def retried(self, model: str, seconds: float, why: str) -> None:
        self.retries += 1
        if seconds >= 10:
            self._line(f"{model}: {why}; next try in {seconds:.0f} s")

    def _show(self) -> None:
        now = time.monotonic()
        if self._stream.isatty():
            print(f"\r{self._state(now)}\033[K", end="", file=self._stream, flush=True)
        elif now - self._last >= _EVERY or self.done >= self.total:
            self._last = now
            print(self._state(now), file=self._stream, flush=True)

    def _state(self, now: float) -> str:
        state = f"{self.done:,} of {self.total:,} answers"
        if self.failed:
            state += f", {self.failed:,} failed"
        asked = self.done - self._done_before
        if asked and self.done < self.total:
            state += f", about {_span((now - self._start) / asked * (self.total - self.done))} left"
        return state

    def _line(self, text: str) -> None:
        print(f"\r{text}\033[K" if self._stream.isatty() else text, file=self._stream, flush=True)

    def close(self) -> None:
        if self._stream.isatty():
            print(file=self._stream)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


_current: list[Progress] = []


def show(progress: Progress | None) -> None:
    """Send what Inspect AI reports to `progress`; None ends it."""
    _current[:] = [progress] if progress else []


@hooks(name="oulibench_progress", description="plain progress of oulibench run")
class _ProgressHooks(Hooks):
    def enabled(self) -> bool:
        return bool(_current)

    async def on_sample_end(self, data: SampleEnd) -> None:
        for progress in _current:
            progress.answered(failed=data.sample.error is not None)

    async def on_model_retry(self, data: ModelRetry) -> None:
        for progress in _current:
            why = " ".join(str(part) for part in (data.status_code, data.exception_type) if part)
            progress.retried(data.model_name, data.wait_time, why or "the call failed")
