"""Blocks of lines over several processes, in order, within bounded memory, surviving the death of a worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from oulibench.errors import DataError
from oulibench.jsonl import dump_line, parse_line
from oulibench.scoring import Problem, ScoredBlock, Totals, Transform, failed_row, process_block

Block = list[tuple[int, bytes]]


def map_blocks(blocks: Iterator[Block], transform: Transform, processes: int) -> Iterator[ScoredBlock]:
    """`process_block` on each block, at most two per process in flight."""
    pool = _pool(processes)
    waiting: deque[tuple[Block, Future[ScoredBlock]]] = deque()
    try:
        for block in blocks:
            try:
                waiting.append((block, pool.submit(process_block, block, transform)))
            except BrokenProcessPool:
                pool = _pool(processes)
                waiting.append((block, pool.submit(process_block, block, transform)))
            if len(waiting) > 2 * processes:
                yield _result(*waiting.popleft(), transform)
        while waiting:
            yield _result(*waiting.popleft(), transform)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    # Forking a process that runs threads (a parser's runtime) can hang; a fork server starts from a clean one.
    return ProcessPoolExecutor(processes, mp_context=get_context("forkserver"))


def _result(block: Block, future: Future[ScoredBlock], transform: Transform) -> ScoredBlock:
    try:
        return future.result()
    except BrokenProcessPool:
        return _one_by_one(block, transform)


def _one_by_one(block: Block, transform: Transform) -> ScoredBlock:
    """The block again, halved until the line that kills its worker stands alone."""
    try:
        with _pool(1) as pool:
            return pool.submit(process_block, block, transform).result()
    except BrokenProcessPool:
        if len(block) == 1:
            return _lost(*block[0])
    half = len(block) // 2
    first, second = _one_by_one(block[:half], transform), _one_by_one(block[half:], transform)
    return ScoredBlock(first.output + second.output, first.totals + second.totals, first.problems + second.problems)


def _lost(number: int, line: bytes) -> ScoredBlock:
    """A line whose scoring kills the process that tries, as a failure of its own."""
    error = DataError("The process that scored this row died (out of memory?).")
    row = failed_row(parse_line(line), error)  # a line that is no row never reaches a checker
    return ScoredBlock(dump_line(row), Totals(received=1, failed=1, rows=1), (Problem(number, str(error)),))
