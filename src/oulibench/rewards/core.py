"""Completions → rewards: the verdicts of `oulibench.scoring` as numbers that a trainer can use.

A row is `{"task", "target", "completion"}` and, where there is more to say, `n`, `prompt`, `demonstrations`, `policy`.
Its reward is the verdict's partial score (or, with `strict`, 1 for a text that passes and 0 for any other), and 0 where
a gate closes (`oulibench.rewards.gates`).

- Without `n` the completion is one text. What a reasoning model thinks before its answer, and the tokens of a chat
  template, are no part of it; an answer that stops within its reasoning earns 0.
- With `n` the completion is read as a response to a request for n texts (`oulibench.responses`), and its reward is the
  mean over the texts asked for, or over the texts given if those are more: a missing text counts 0, and so does one
  that repeats an earlier one.

A row without a task of ours has no reward (None). A row that is set up wrongly (a target that fits not its task, a
completion that is no string) raises at once, since silent zeros would train on nothing. A completion never raises,
whatever is in it: one that cannot be judged earns 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oulibench.behaviour.duplicates import text_key
from oulibench.constraints import AnyConstraint, get_constraint, tasks_of_this_process
from oulibench.errors import DataError, OuLiBenchError, TextError, UnknownTaskError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.responses import Unit, read_response
from oulibench.responses.reasoning import without_reasoning, without_template
from oulibench.rewards.gates import (
    DEFAULT_GATES,
    ClosedGate,
    Gates,
    Shown,
    closed_by_syntax,
    closed_gates,
    syntax_threshold,
)
from oulibench.scoring import policy_of_row, texts_asked_for
from oulibench.suite.demonstrations import all_demonstrations
from oulibench.text import fold, normalise, without_list_mark, words
from oulibench.verdict import Verdict

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


@dataclass(frozen=True, slots=True)
class ExplainedText:
    """What one text of a completion earned.

    Attributes:
        text: the text, as it was read out of the completion.
        reward: what it earned.
        score: the verdict's partial score, before gates; None where the text could not be judged.
        passed: whether it satisfies its constraint; None where the text could not be judged.
        closed: the gates that closed on it, with the reason of each.
        reason: the verdict's reason, or why there is no verdict.
    """

    text: str
    reward: float
    score: float | None
    passed: bool | None
    closed: tuple[ClosedGate, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reward and where it comes from.

    Attributes:
        reward: as `reward` gives it; None where the task is none of ours.
        texts: what each text earned.
        asked: the number of texts that the reward is the mean of.
        reason: why there is no text, where there is none.
    """

    reward: float | None
    texts: tuple[ExplainedText, ...]
    asked: int
    reason: str

    @property
    def score(self) -> float | None:
        """The mean partial score, as if all gates were open; None where nothing was judged."""
        scores = [text.score for text in self.texts if text.score is not None]
        return sum(scores) / self.asked if scores else None

    @property
    def closed(self) -> tuple[str, ...]:
        """The names of the gates that closed on any text, in alphabetical order."""
        return tuple(sorted({gate.gate for text in self.texts for gate in text.closed}))

    @property
    def why(self) -> str:
        """The reward's reasons, for a person: of each text the gates that closed, or the verdict."""
        reasons = [" ".join(f"[{g.gate}] {g.why}" for g in text.closed) or text.reason for text in self.texts]
        return "\n".join(reasons) if reasons else self.reason


def reward(
    task: str,
    completion: str,
    target: object = None,
    *,
    n: int | None = None,
    prompt: str | None = None,
    demonstrations: Sequence[str] = (),
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
) -> float | None:
    """The reward of one completion (see `score_completions`)."""
    return score_completions([_row(task, completion, target, n, prompt, demonstrations)], gates, strict, policy)[0]


def explain(
    task: str,
    completion: str,
    target: object = None,
    *,
    n: int | None = None,
    prompt: str | None = None,
    demonstrations: Sequence[str] = (),
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
) -> Explanation:
    """The reward of one completion with the verdicts and gates that it comes from; same arguments, same reward."""
    return explain_row(_row(task, completion, target, n, prompt, demonstrations), gates, strict, policy)


def explain_row(
    row: Mapping[str, Any],
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
) -> Explanation:
    """The reward of one row with the verdicts and gates that it comes from (see `score_completions`)."""
    case = _read(0, row, policy)
    if case is None:
        return Explanation(None, (), 0, f"{row.get('task')!r} is no task of the benchmark.")
    (texts,) = _judge([case], _Settings(gates, strict, policy), explained=True)
    explained = tuple(text.explained(strict) for text in texts)
    return Explanation(_mean(texts, case.asked, strict), explained, case.asked, case.reason)


def _row(
    task: str, completion: str, target: object, n: int | None, prompt: str | None, demonstrations: Sequence[str]
) -> dict[str, Any]:
    return {
        "task": task,
        "completion": completion,
        "target": target,
        "n": n,
        "prompt": prompt,
        "demonstrations": demonstrations,
    }


def score_completions(
    rows: Iterable[Mapping[str, Any]],
    gates: Gates | None = DEFAULT_GATES,
    strict: bool = False,
    policy: Mapping[str, Any] | None = None,
    processes: int = 1,
) -> list[float | None]:
    """The reward of each row, in [0, 1]; None for rows without a task of ours.

    Args:
        rows: `{"task", "target", "completion"}` with, optionally, `n` (how many texts were asked for), `prompt` and
            `demonstrations` (texts, or ids of the benchmark's own), which completions must not copy, and `policy`.
        gates: thresholds against gaming; None opens all gates.
        strict: 1 for a text that passes, 0 for any other, instead of partial scores.
        policy: conventions where a row's own say nothing (see `oulibench.policy.Policy`).
        processes: over how many processes to spread the rows. They are started at the first such call and kept.

    Raises:
        TargetError, PolicyError, DataError: a row is set up wrongly; the message names the row.
        MissingExtraError: the parser that the policy names is not installed.
    """
    rows = list(rows)
    settings = _Settings(gates, strict, policy)
    here = tasks_of_this_process()
    if processes <= 1 or len(rows) < 2 * processes or (here and any(row.get("task") in here for row in rows)):
        return _score_block(0, rows, settings)
    return _score_in_pool(rows, settings, processes)


class _Settings(NamedTuple):
    gates: Gates | None
    strict: bool
    policy: Mapping[str, Any] | None


def _score_block(first: int, rows: Sequence[Mapping[str, Any]], settings: _Settings) -> list[float | None]:
    """The rewards of rows of which the first has the number `first`."""
    cases = [_read(first + i, row, settings.policy) for i, row in enumerate(rows)]
    rewards: list[float | None] = []
    block: list[_Case | None] = []
    waiting = 0
    for case in cases:
        block.append(case)
        waiting += len(case.texts) if case else 0
        if waiting >= _PARSED_AT_ONCE:
            rewards.extend(_rewards(block, settings))
            block, waiting = [], 0
    rewards.extend(_rewards(block, settings))
    return rewards


_PARSED_AT_ONCE: Final = 512  # texts; well below the number of parses that are remembered


def _rewards(cases: Sequence[_Case | None], settings: _Settings) -> Iterator[float | None]:
    judged = iter(_judge([case for case in cases if case is not None], settings))
    for case in cases:
        yield None if case is None else _mean(next(judged), case.asked, settings.strict)


def _score_unit(unit: tuple[int, Sequence[Mapping[str, Any]], _Settings]) -> list[float | None]:
    return _score_block(*unit)


_pools: dict[int, ProcessPoolExecutor] = {}


def _pool(processes: int) -> ProcessPoolExecutor:
    if processes not in _pools:
        import atexit

        from oulibench.parallel import start_pool  # multiprocessing is slow to import

        _pools[processes] = start_pool(processes, _score_unit)
        atexit.register(_pools[processes].shutdown)
    return _pools[processes]


def _score_in_pool(rows: Sequence[Mapping[str, Any]], settings: _Settings, processes: int) -> list[float | None]:
    """Blocks small enough that no process waits long for the others; one whose process dies is tried once more."""
    from concurrent.futures.process import BrokenProcessPool

    from oulibench.parallel import do_unit

    size = max(1, min(_PARSED_AT_ONCE, -(-len(rows) // (4 * processes))))
    starts = range(0, len(rows), size)
    for attempt in (1, 2):
        try:
            pool = _pool(processes)
            with _main_unseen():
                waiting: list[Future[list[float | None]]] = [
                    pool.submit(do_unit, (start, rows[start : start + size], settings)) for start in starts
                ]
            return [reward for block in waiting for reward in block.result()]
        except BrokenProcessPool as error:
            _pools.pop(processes).shutdown(wait=False, cancel_futures=True)
            if attempt == 2:
                raise DataError("A process that scored completions died, twice (out of memory?).") from error
    raise AssertionError


@contextmanager
def _main_unseen() -> Iterator[None]:
    """Processes that are started import the program's main module anew. They need nothing of it, and a script that
    trains would train again.
    """
    main = vars(sys.modules["__main__"])
    held: dict[str, Any] = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.pop("__file__", None)
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(held)


class _Case(NamedTuple):
    """A row, read."""

    constraint: AnyConstraint
    target: Any
    policy: Policy
    texts: tuple[str, ...]
    asked: int
    reason: str
    shown: Shown


def _read(number: int, row: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> _Case | None:
    try:
        constraint = get_constraint(row.get("task"))  # type: ignore[arg-type]
    except UnknownTaskError:
        return None
    try:
        policy = policy_of_row(row.get("policy"), defaults)
        target = constraint.parse_target(row.get("target"))
        completion = row.get("completion")
        if not isinstance(completion, str):
            raise DataError(f'"completion" is the text that the model wrote, not {type(completion).__name__}.')
        n = texts_asked_for(row.get("n"))
        shown = _shown(row)
    except OuLiBenchError as error:
        raise type(error)(f"Row {number}: {error}") from error
    try:
        texts, reason = _texts(completion, constraint, target, n, policy)
    except TextError as error:
        texts, reason = (), str(error)
    return _Case(constraint, target, policy, texts, max(n or 1, len(texts)), reason, shown)


def _shown(row: Mapping[str, Any]) -> Shown:
    prompt, demonstrations = row.get("prompt"), row.get("demonstrations")
    if not prompt and not demonstrations:
        return _NOTHING_SHOWN
    if prompt is not None and not isinstance(prompt, str):
        raise DataError(f'"prompt" is a text, not {type(prompt).__name__}.')
    if isinstance(demonstrations, str) or not all(isinstance(d, str) for d in demonstrations or ()):
        raise DataError('"demonstrations" is a list of texts.')
    known = _demonstrations(row["task"]) if demonstrations else {}
    return Shown(_words_of(prompt or ""), tuple(_words_of(known.get(d, d)) for d in demonstrations or ()))


_NOTHING_SHOWN: Final = Shown((), ())


@cache
def _demonstrations(task: str) -> dict[str, str]:
    """The benchmark's own demonstrations for a task: id → text."""
    return {demonstration.id: demonstration.text for demonstration in all_demonstrations(task)}


@lru_cache(maxsize=1024)
def _words_of(text: str) -> tuple[str, ...]:
    try:
        return tuple(words(fold(without_list_mark(normalise(text)))))
    except TextError:
        return ()


def _texts(
    completion: str, constraint: AnyConstraint, target: Any, n: int | None, policy: Policy
) -> tuple[tuple[str, ...], str]:
    """The texts of a completion, and why there is none where there is none."""
    if n is not None:
        unit: Unit = "stanza" if constraint.unit(policy) == "stanza" else "sentence"
        reading = read_response(completion, task=constraint.name, target=target, requested=n, unit=unit)
        return tuple(item.text for item in reading.items), _NO_TEXTS.get(reading.status, "")
    steps: list[str] = []
    answer = without_reasoning(normalise(completion), steps)
    if answer is None:
        return (), _NO_TEXTS["unclosed_reasoning"]
    text = without_template(answer, steps).strip()
    return ((text,), "") if text else ((), _NO_TEXTS["no_response"])


def _content(text: str) -> str:
    return without_list_mark(normalise(text))


@dataclass(slots=True)
class _Judged:
    """A text on its way to a reward."""

    text: str
    content: str = ""
    closed: tuple[ClosedGate, ...] = ()
    verdict: Verdict | None = None
    error: str = ""

    def worth(self, strict: bool) -> float:
        """What it earns if no gate closes."""
        if self.verdict is None:
            return 0.0
        return float(self.verdict.passed) if strict else self.verdict.score

    def explained(self, strict: bool) -> ExplainedText:
        found = self.verdict
        return ExplainedText(
            self.text,
            0.0 if self.closed else self.worth(strict),
            found.score if found else None,
            found.passed if found else None,
            self.closed,
            found.reason if found else self.error,
        )


def _judge(cases: Sequence[_Case], settings: _Settings, explained: bool = False) -> list[list[_Judged]]:
    """The texts of each case. Unless they are to be explained, a text that earns nothing anyway is judged no further.

    Gates that need no parse come first and verdicts that need none second, so that little is parsed, and all of that
    in one go.
    """
    gates, strict, _ = settings
    judged = [[_Judged(text) for text in case.texts] for case in cases]
    to_parse: dict[str, list[str]] = {}
    for case, texts in zip(cases, judged, strict=True):
        parses = case.constraint.parses(case.policy)
        gated = syntax_threshold(case.constraint, gates) is not None
        for text in texts:
            if parses or gates is not None:
                _open(text, case, gates)
            if text.error or (text.closed and not explained):
                continue
            if not parses:
                _check(text, case)
            elif len(text.content) > LONGEST_PARSED:
                text.error = f"More than {LONGEST_PARSED:,} characters are not parsed for a reward."
                continue
            else:
                to_parse.setdefault(case.policy.parser, []).append(text.content)
            if gated and (parses or explained or text.worth(strict) > 0) and len(text.content) <= LONGEST_PARSED:
                to_parse.setdefault(DEFAULT_POLICY.parser, []).append(text.content)
        if gates is not None and gates.repetition is not None and len(texts) > 1:
            _close_repeated(texts)
    _parse_ahead(to_parse)
    for case, texts in zip(cases, judged, strict=True):
        parses = case.constraint.parses(case.policy)
        threshold = syntax_threshold(case.constraint, gates)
        for text in texts:
            if text.error or (text.closed and not explained):
                continue
            if parses:
                _check(text, case)
            if threshold is not None and (explained or text.worth(strict) > 0):
                _close_by_syntax(text, threshold)
    return judged


LONGEST_PARSED: Final = 5_000
"""Characters. A longer text earns nothing where its syntax is looked at: one completion must not hold up a step."""


def _open(text: _Judged, case: _Case, gates: Gates | None) -> None:
    """See which of the gates that need no parse close on a text."""
    try:
        text.content = _content(text.text)
        if gates is not None:
            text.closed = closed_gates(text.content, case.constraint, case.target, case.policy, gates, case.shown)
    except Exception as error:
        text.error = _fault_of_text(error)


def _check(text: _Judged, case: _Case) -> None:
    try:
        text.verdict = case.constraint.check(text.text, case.target, case.policy)
    except Exception as error:
        text.error = _fault_of_text(error)


def _fault_of_text(error: Exception) -> str:
    """Why a text cannot be judged. What is no fault of the text (a parser that is not installed) is raised: whatever a
    completion holds, training goes on, but it must not go on with nothing but zeros.
    """
    if isinstance(error, OuLiBenchError) and not isinstance(error, TextError):
        raise error
    return str(error)


def _close_repeated(texts: Sequence[_Judged]) -> None:
    seen: set[str] = set()
    for text in texts:
        key = text_key(text.text)
        if key in seen:
            text.closed = (*text.closed, ClosedGate("repetition", "It repeats an earlier text of the response."))
        seen.add(key)


def _close_by_syntax(text: _Judged, threshold: float) -> None:
    try:
        if len(text.content) > LONGEST_PARSED:
            closed: ClosedGate | None = ClosedGate("syntax", f"More than {LONGEST_PARSED:,} characters are not parsed.")
        else:
            closed = closed_by_syntax(text.content, threshold)
    except Exception as error:
        text.verdict, text.error = None, _fault_of_text(error)
        return
    if closed:
        text.closed = (*text.closed, closed)


_NO_TEXTS: Final = {
    "refusal": "The model refused.",
    "no_response": "The model gave no answer.",
    "unclosed_reasoning": "The answer stops within its reasoning.",
    "unreadable": "The answer holds nothing that could be read as what was asked for.",
}


def _parse_ahead(contents: Mapping[str, Sequence[str]]) -> None:
    if contents:
        from oulibench.syntax import analyse_many  # loads the parser's runtime

        for parser, texts in contents.items():
            with suppress(Exception):  # the text that breaks the parser fails by itself
                analyse_many(texts, parser)


def _mean(texts: Sequence[_Judged], asked: int, strict: bool) -> float:
    return sum(text.worth(strict) for text in texts if not text.closed) / asked
