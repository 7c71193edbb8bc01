"""Units of work over several processes, in order, within bounded memory, surviving the death of a worker."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, Generic, Protocol, TypeVar

U = TypeVar("U")
R = TypeVar("R")


class Work(Protocol[U, R]):
    """What is done to a unit; and how a unit that kills its process is taken apart, so that only its guilty part is
    lost. It and the units travel between processes.
    """

    def __call__(self, unit: U, /) -> R: ...

    def halves(self, unit: U, /) -> tuple[U, U] | None:
        """The unit in two; None for one that cannot be divided."""

    def join(self, first: R, second: R, /) -> R:
        """The result of a unit out of the results of its halves."""

    def lost(self, unit: U, /) -> R:
        """The result of a unit that kills the process that works on it."""


def map_units(units: Iterator[U], work: Work[U, R], processes: int) -> Iterator[R]:
    """`work` on each unit, at most two per process in flight."""
    pool = start_pool(processes, work)
    waiting: deque[tuple[U, Future[R]]] = deque()
    try:
        for unit in units:
            try:
                waiting.append((unit, pool.submit(do_unit, unit)))
            except BrokenProcessPool:
                pool = start_pool(processes, work)
                waiting.append((unit, pool.submit(do_unit, unit)))
            if len(waiting) > 2 * processes:
                yield _result(*waiting.popleft(), work)
        while waiting:
            yield _result(*waiting.popleft(), work)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Apart(Generic[U, R]):
    """`work` in one process of its own, which is replaced when it dies."""

    def __init__(self, work: Work[U, R]) -> None:
        self._work = work
        self._pool = start_pool(1, work)

    def __call__(self, unit: U) -> R:
        try:
            future: Future[R] = self._pool.submit(do_unit, unit)
        except BrokenProcessPool:  # it died between two units
            self._pool = start_pool(1, self._work)
            future = self._pool.submit(do_unit, unit)
        return _result(unit, future, self._work)


_work: Any = None  # a worker process is told once what it does


def _begin(work: Any) -> None:
    global _work
    _work = work
    Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """Without it, a worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def do_unit(unit: Any) -> Any:
    """In a worker process: what its pool was started for, on `unit`."""
    return _work(unit)


def start_pool(processes: int, work: Any) -> ProcessPoolExecutor:
    """Processes for `work`, which is done by submitting `do_unit`. They end when this process does, however it ends."""
    # Forking a process that runs threads (a parser's runtime) can hang; a fork server starts from a clean one.
    return ProcessPoolExecutor(processes, mp_context=get_context("forkserver"), initializer=_begin, initargs=(work,))


def _result(unit: U, future: Future[R], work: Work[U, R]) -> R:
    try:
        return future.result()
    except BrokenProcessPool:
        return _piece_by_piece(unit, work)


def _piece_by_piece(unit: U, work: Work[U, R]) -> R:
    """The unit again, halved until what kills its worker stands alone."""
    try:
        with start_pool(1, work) as pool:
            again: Future[R] = pool.submit(do_unit, unit)
            return again.result()
    except BrokenProcessPool:
        halves = work.halves(unit)
        if halves is None:
            return work.lost(unit)
    first, second = halves
    return work.join(_piece_by_piece(first, work), _piece_by_piece(second, work))
