"""Items → verdicts: rows in, rows out, one at a time or a file of a million.

Scoring fails closed. A row that cannot be judged (unknown task, target that fits no task, damaged text, an exception in
a checker) comes back with the status `scoring_failed`, `passed` null and the reason; the rows around it are scored, and
the totals say how many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from oulibench.constraints import AnyConstraint, get_constraint
from oulibench.errors import DataError, OuLiBenchError, PolicyError, TargetError
from oulibench.jsonl import Row, dump_lines, parse_line
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import normalise, without_list_mark
from oulibench.verdict import FIELDS, Verdict

if TYPE_CHECKING:
    from oulibench.responses import Reading

SCORING_FAILED: Final = "scoring_failed"
OK: Final = "ok"


def check(task: str, text: str, target: object = None, **policy: Any) -> Verdict:
    """The verdict on one text.

    Args:
        task: a task's name, such as `"lipogram"` (see `oulibench.constraints.task_names`).
        text: the text to judge, as the model wrote it.
        target: what was asked for: a number, a letter, a word, a sentence, a voice, an order; None for palindromes.
        **policy: conventions other than the defaults (see `oulibench.policy.Policy`), such as `words="graphic"`.

    Raises:
        UnknownTaskError, TargetError, PolicyError, TextError: what was given cannot be judged; the message says why.
    """
    return get_constraint(task).check(text, target, Policy.from_mapping(policy))


def score(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Score rows `{"task", "target", "text"}` or `{"task", "target", "response"[, "n"]}`.

    A text gives its row with the verdict's fields and `status`. A response gives one row per item read out of it, with
    `item` (its number, from 1) and `text`; a response without items gives one row with `item` null and the reading's
    status. Unknown fields pass through; `response` itself is not repeated on every item. `policy` is honoured.
    """
    return [scored for block in _batched(rows) for results in score_block(block) for scored in results]


def _batched(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    remaining = iter(rows)
    while block := list(islice(remaining, BLOCK_LINES)):
        yield block


def score_block(rows: Sequence[Mapping[str, Any]], policy: Mapping[str, Any] | None = None) -> list[list[Row]]:
    """`score_row` on each row, with the texts that need a parser parsed many at a time."""
    results: list[list[Row]] = []
    start = 0
    contents: list[str] = []
    parser = str((policy or {}).get("parser", DEFAULT_POLICY.parser))
    for end, row in enumerate(rows, 1):
        contents.extend(_contents_to_parse(row, policy))
        if contents and (len(contents) >= _PARSED_AT_ONCE or end == len(rows)):
            _parse_ahead(contents, parser)
            results.extend(score_row(r, policy) for r in rows[start:end])
            start, contents = end, []
    results.extend(score_row(row, policy) for row in rows[start:])
    return results


_PARSED_AT_ONCE: Final = 512  # well below the number of parses that are remembered


def _contents_to_parse(row: Mapping[str, Any], policy: Mapping[str, Any] | None) -> list[str]:
    try:
        constraint, conventions = _task_and_policy(row, policy)
        if not constraint.parses(conventions):
            return []
        texts = [row["text"]] if "text" in row else [item.text for item in read_row(row).items]
        return [without_list_mark(normalise(text)) for text in texts]
    except Exception:  # whatever is wrong with the row, scoring it will say
        return []


def _parse_ahead(contents: list[str], parser: str) -> None:
    from oulibench.syntax import analyse_many  # loads the parser's runtime

    with suppress(Exception):  # the text that breaks the parser fails by itself, when it is scored
        analyse_many(contents, parser)


def score_row(row: Mapping[str, Any], policy: Mapping[str, Any] | None = None) -> list[Row]:
    """The scored rows of one row; never raises. Where a row has both `text` and `response`, the text is scored.

    `policy` holds for rows, and for keys, whose own policy says nothing.
    """
    try:
        constraint, conventions = _task_and_policy(row, policy)
        target = row.get("target")
        if target is None and "target" not in row:
            _need_no_target(constraint)
        if "text" not in row and "response" in row:
            return _score_response(row, constraint, constraint.parse_target(target), conventions)
        if "text" not in row:
            raise DataError('The row has neither "text" nor "response".')
        return [{**row, "status": OK, **constraint.check(row["text"], target, conventions).fields()}]
    except Exception as error:  # fails closed: one bad row must not take the others with it
        return [failed_row(row if "text" in row else {**row, "item": None, "text": None}, error)]


def failed_row(row: Mapping[str, Any], error: Exception) -> Row:
    """`row` as a `scoring_failed` row that says why."""
    own = isinstance(error, OuLiBenchError)
    reason = str(error) if own else f"The checker failed with {type(error).__name__}: {error}"
    return {**row, "status": SCORING_FAILED, **unjudged(reason)}


def unjudged(reason: str) -> Row:
    """The verdict's fields where there is no verdict."""
    return {**dict.fromkeys(FIELDS), "violations": [], "flags": [], "reason": reason}


def read_row(row: Mapping[str, Any]) -> Reading:
    """What is read out of a row's response; the target, where there is one, helps to tell answers from remarks.

    Raises:
        OuLiBenchError: the row's task, target, policy or response makes no sense.
    """
    constraint, policy = _task_and_policy(row, None)
    target = constraint.parse_target(row["target"]) if row.get("target") is not None else None
    return _read(row, constraint, target, policy)


def _task_and_policy(row: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> tuple[AnyConstraint, Policy]:
    if "task" not in row:
        raise DataError('The row has no "task".')
    return get_constraint(row["task"]), policy_of_row(row.get("policy"), defaults)


def policy_of_row(own: object, defaults: Mapping[str, Any] | None = None) -> Policy:
    """The conventions of a row: its own, and `defaults` where it says nothing (null, as tables have it, says nothing).

    Raises:
        PolicyError: the row's policy is none, or chooses a parser.
    """
    if own is not None and not isinstance(own, Mapping):
        return Policy.from_mapping(own)  # type: ignore[arg-type]  # which says what is wrong with it
    given = {key: value for key, value in (own or {}).items() if value is not None}
    if "parser" in given:
        raise PolicyError("The parser is chosen by whoever scores (--parser), not by a row.")
    merged = {**(defaults or {}), **given}
    return Policy.from_mapping(merged) if merged else DEFAULT_POLICY


def _need_no_target(constraint: AnyConstraint) -> None:
    try:
        constraint.parse_target(None)
    except TargetError:
        raise TargetError(f'The row has no "target", and {constraint.name} needs one.') from None


def _read(row: Mapping[str, Any], constraint: AnyConstraint, target: object, policy: Policy) -> Reading:
    from oulibench.responses import read_response  # rows of texts never need it

    return read_response(
        row["response"],
        task=constraint.name,
        target=target,
        requested=texts_asked_for(row.get("n")),
        unit="stanza" if constraint.unit(policy) == "stanza" else "sentence",
    )


def _score_response(row: Mapping[str, Any], constraint: AnyConstraint, target: object, policy: Policy) -> list[Row]:
    from oulibench.responses import READER_VERSION

    reading = _read(row, constraint, target, policy)
    if not reading.items:
        reason = _NO_ITEMS.get(reading.status, "No item could be read.")
        return [{**row, "item": None, "text": None, "status": reading.status, **unjudged(reason)}]
    kept = {key: value for key, value in row.items() if key != "response"}
    scored: list[Row] = []
    for item in reading.items:
        base = {**kept, "item": item.number, "text": item.text}
        try:
            verdict = constraint.check(item.text, target, policy).fields()
        except Exception as error:  # this item alone
            scored.append(failed_row(base, error))
        else:
            # How the item was read decides its verdict, too.
            signature = f"{verdict['signature']}|reader:{READER_VERSION}"
            scored.append({**base, "status": reading.status, **verdict, "signature": signature})
    return scored


_NO_ITEMS: Final = {
    "refusal": "The model refused.",
    "no_response": "The model gave no answer.",
    "unclosed_reasoning": "The answer stops within its reasoning.",
    "unreadable": "The answer holds nothing that could be read as what was asked for.",
}


def texts_asked_for(n: object) -> int | None:
    """A row's `n`: how many texts were asked for; None where it says nothing.

    Raises:
        DataError: it is no whole number from 1.
    """
    if n is None:
        return None
    if isinstance(n, float) and n.is_integer():
        n = int(n)
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise DataError(f'"n" is the number of texts that were asked for, a whole number from 1; not {n!r}.')
    return n


# --- files -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Totals:
    """What became of the lines of a file.

    Attributes:
        received: non-blank lines read.
        scored: lines of which every item has a verdict, or whose response was read and held none.
        failed: lines that are no rows, or of which an item could not be scored; received = scored + failed.
        rows: rows written.
        passed: rows written whose verdict is passed.
    """

    received: int = 0
    scored: int = 0
    failed: int = 0
    rows: int = 0
    passed: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.received + other.received,
            self.scored + other.scored,
            self.failed + other.failed,
            self.rows + other.rows,
            self.passed + other.passed,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that failed: its number in the file, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """A run of scored lines, ready to be written."""

    output: bytes
    totals: Totals
    problems: tuple[Problem, ...]

    def __add__(self, other: ScoredBlock) -> ScoredBlock:
        return ScoredBlock(self.output + other.output, self.totals + other.totals, self.problems + other.problems)


Transform = Callable[[Sequence[Row]], list[list[Row]]]
"""Rows → for each, the rows that it becomes."""

Lines = list[tuple[int, bytes]]
"""Non-blank lines with their numbers."""


def process_block(
    lines: Lines, transform: Transform = score_block, encode: Callable[[Iterable[Row]], bytes] = dump_lines
) -> ScoredBlock:
    """`transform` the numbered lines' rows; lines that are no rows are problems and give no output."""
    problems: list[Problem] = []
    numbers: list[int] = []
    rows: list[Row] = []
    for number, line in lines:
        try:
            rows.append(parse_line(line))
            numbers.append(number)
        except DataError as error:
            problems.append(Problem(number, str(error)))
    results = transform(rows)
    return tally(numbers, results, encode(chain.from_iterable(results)), problems)


def tally(
    numbers: Sequence[int], results: Sequence[Sequence[Row]], output: bytes, problems: Iterable[Problem] = ()
) -> ScoredBlock:
    """What became of the rows with these numbers, beside lines that had `problems` and are no rows."""
    found = list(problems)
    received = len(numbers) + len(found)
    scored = written = passed = 0
    for number, rows in zip(numbers, results, strict=True):
        failure = next((row["reason"] for row in rows if row.get("status") == SCORING_FAILED), None)
        if failure is None:
            scored += 1
        else:
            found.append(Problem(number, failure))
        written += len(rows)
        passed += sum(row.get("passed") is True for row in rows)
    found.sort(key=attrgetter("line"))
    return ScoredBlock(output, Totals(received, scored, received - scored, written, passed), tuple(found))


def lose(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows whose scoring kills the process that tries, as failures of their own."""
    error = DataError("The process that scored this row died (out of memory?).")
    return [[failed_row(row, error)] for row in rows]


class LineWork:
    """`process_block`, as several processes share it (see `oulibench.parallel.Work`)."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def __call__(self, block: Lines) -> ScoredBlock:
        return process_block(block, self.transform)

    def halves(self, block: Lines) -> tuple[Lines, Lines] | None:
        half = len(block) // 2
        return (block[:half], block[half:]) if half else None

    def join(self, first: ScoredBlock, second: ScoredBlock) -> ScoredBlock:
        return first + second

    def lost(self, block: Lines) -> ScoredBlock:
        return process_block(block, lose)


BLOCK_LINES: Final = 2_000
BLOCK_BYTES: Final = 4_000_000


def blocks_of(source: BinaryIO) -> Iterator[Lines]:
    """Non-blank lines with their numbers, in blocks small enough that a few in flight take little memory."""
    block: Lines = []
    size = 0
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        block.append((number, line))
        size += len(line)
        if len(block) >= BLOCK_LINES or size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def process_lines(source: BinaryIO, transform: Transform = score_block, processes: int = 1) -> Iterator[ScoredBlock]:
    """`transform` the rows of a JSONL stream, block by block and in order, over one process or several.

    Memory is bounded: no more than a few blocks are read ahead. Should a worker process die, its block is tried again
    line by line, and the line that kills it is a failure of its own.
    """
    blocks = blocks_of(source)
    if processes <= 1:
        for block in blocks:
            yield process_block(block, transform)
        return
    from oulibench.parallel import map_units  # multiprocessing is slow to import

    yield from map_units(blocks, LineWork(transform), processes)
