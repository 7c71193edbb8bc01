"""Asking models about the texts that they wrote, once these are stored and checked.

One question per text, each in a conversation of its own: a separate one, or a continuation of the one in which the text
was written. What was answered before, in this folder, is never asked again.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from oulibench.behaviour.duplicates import text_key
from oulibench.engines.export import answer_fields, logged_samples
from oulibench.engines.progress import Progress, show
from oulibench.engines.run import (
    CALLS,
    Plan,
    RunError,
    alone,
    generation_settings,
    model_of,
    plain_message,
    write_settings,
)
from oulibench.engines.settings import Settings
from oulibench.engines.tasks import ask
from oulibench.errors import DataError, OuLiBenchError
from oulibench.jsonl import Row, dump_line
from oulibench.policy import Policy
from oulibench.reflection import property_of, question_on, reflects
from oulibench.results.answers import stored_answers
from oulibench.results.reflection import REFLECTIONS
from oulibench.results.runs import Run, read_items

LOGS: Final = "logs-reflect"
ANSWER_TOKENS: Final = 128
"""Token limit where none is set: one word is asked for, and some models say it in a sentence that quotes the text."""

_KEPT: Final = (
    "id", "model", "task", "family", "target", "difficulty", "n", "shots", "wording", "suite", "epoch", "item", "text",
)  # fmt: skip

Key = tuple[str, str, int, int, str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one model on one of its texts.

    Attributes:
        fields: what stands in `reflections.jsonl` beside the answer; `prompt` is the question.
        messages: the conversation that the question ends.
    """

    fields: Row
    messages: tuple[ChatMessage, ...]

    @property
    def key(self) -> Key:
        return _key(self.fields)


def _key(row: Mapping[str, Any]) -> Key:
    """What makes two questions the same: not the text's number alone, for a text may be read otherwise some day."""
    return row["model"], row["id"], row["epoch"], row["item"], row["conversation"], row["prompt"]


@dataclass(frozen=True, slots=True)
class Reflected:
    """What became of the questions; questions = answered + failed + missing."""

    questions: int
    answered: int
    failed: int
    missing: int
    errors: tuple[str, ...]


# --- what is asked -----------------------------------------------------------------------------------------------


def choose(rows: Sequence[Row], most: int, seed: int) -> list[Row]:
    """The texts of one answer that are asked about: at most `most`, drawn by seed; a repeated text counts once.

    Texts in which the checker finds no one value (see `oulibench.reflection.property_of`) are not asked about.
    """
    askable: dict[str, Row] = {}
    for row in rows:
        if row.get("item") is not None and isinstance(row.get("text"), str) and _has_property(row):
            askable.setdefault(text_key(row["text"]), row)
    found = list(askable.values())
    if len(found) > most:
        first = found[0]
        draw = random.Random(f"{seed}/{first['model']}/{first['id']}/{first['epoch']}")  # noqa: S311  # not a secret
        found = sorted(draw.sample(found, most), key=lambda row: int(row["item"]))
    return found


def _has_property(row: Row) -> bool:
    try:
        return property_of(row["task"], row["target"], row) is not None
    except OuLiBenchError:
        return False


def plan_questions(
    items: Iterable[Row],
    answers: Mapping[tuple[str, str, int], Row],
    settings: Settings,
    systems: Mapping[str, str | None],
) -> Iterator[Question]:
    """The questions on scored rows, in their order.

    Args:
        items: rows of `items.jsonl`, those of one answer one after the other.
        answers: rows of `responses.jsonl` by model, request and epoch; needed where the conversation is the same.
        settings: how many texts, in which conversation, the policy and the seed.
        systems: the system message of each request, by its id.
    """
    policy = Policy.from_mapping(settings.policy)
    for (model, request, epoch), rows in groupby(items, key=lambda row: (row["model"], row["id"], row["epoch"])):
        for row in choose(list(rows), settings.reflect_items, settings.seed or 0):
            if not reflects(row["task"]):
                continue
            prompt = question_on(row["text"], row["task"], row["target"], policy)
            messages: list[ChatMessage] = []
            if system := systems.get(request):
                messages.append(ChatMessageSystem(content=system))
            if settings.reflect_in == "same":
                answer = answers[model, request, epoch]
                messages.append(ChatMessageUser(content=answer["prompt"]))
                messages.append(ChatMessageAssistant(content=answer["response"]))
            messages.append(ChatMessageUser(content=prompt))
            fields = {key: row.get(key) for key in _KEPT} | {"conversation": settings.reflect_in, "prompt": prompt}
            yield Question(fields, tuple(messages))


# --- asking ------------------------------------------------------------------------------------------------------


def reflect(plan: Plan, run: Run) -> Reflected:
    """Ask what has no answer yet, and write `reflections.jsonl`.

    Raises:
        RunError: a model cannot be had, or somebody else is carrying the run out.
        DataError: the run's files cannot be read or written.
    """
    settings = plan.settings
    with alone(plan.folder):
        answers = {(row["model"], row["id"], row["epoch"]): row for row in stored_answers(run) if row.get("response")}
        systems = {request.id: request.system for request in plan.requests}
        questions = list(plan_questions(read_items(run), answers, settings, systems))
        stored = stored_reflections(plan.folder / LOGS)
        missing = [q for q in questions if q.key not in stored or stored[q.key]["error"] is not None]
        try:
            if missing:
                _ask(plan, missing, len(questions))
                stored = stored_reflections(plan.folder / LOGS)
        finally:
            if missing:  # interrupted or not: what was answered is kept
                stored = stored_reflections(plan.folder / LOGS)
            _write(plan, stored)
    rows = [stored.get(question.key) for question in questions]
    failed = [row for row in rows if row is not None and row["error"] is not None]
    errors = dict.fromkeys(f"{row['model']}: {row['error']}"[:300] for row in failed)
    answered = sum(row is not None for row in rows) - len(failed)
    return Reflected(len(rows), answered, len(failed), len(rows) - answered - len(failed), tuple(errors)[:5])


def _ask(plan: Plan, questions: Sequence[Question], total: int) -> None:
    settings = plan.settings
    progress = Progress(total, total - len(questions))
    show(progress)
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # standard output is for the table
            tasks = []
            for name in settings.models:
                samples = [_sample(q) for q in questions if q.fields["model"] == name]
                if samples:
                    solver = ask(seed=settings.seed, max_tokens=settings.max_tokens)
                    dataset = MemoryDataset(samples, name="reflection")
                    tasks.append(
                        Task(dataset=dataset, solver=solver, model=model_of(name, settings), name="reflection")
                    )
            write_settings(plan)
            eval(
                tasks,
                model=None,
                log_dir=str(plan.folder / LOGS),
                log_buffer=min(10, max(1, len(questions) // 3)),
                max_tasks=max(10, len(tasks)),
                **CALLS,
                **generation_settings(settings),
            )
    except OuLiBenchError:
        raise
    except Exception as error:  # whatever a provider's package raises when it cannot be set up
        raise RunError(plain_message(error)) from error
    finally:
        show(None)
        progress.close()


def _sample(question: Question) -> Sample:
    fields = question.fields
    return Sample(
        id=f"{fields['id']}#{fields['epoch']}#{fields['item']}",
        input=list(question.messages),
        metadata={**fields, "token_limit": ANSWER_TOKENS},
    )


# --- what was answered -------------------------------------------------------------------------------------------


def stored_reflections(log_dir: Path) -> dict[Key, Row]:
    """The answers that the logs hold; an answer beats an error and a newer log an older one."""
    rows: dict[Key, Row] = {}
    if not log_dir.is_dir():
        return rows
    for _, sample in logged_samples(log_dir):
        asked = {key: sample.metadata.get(key) for key in (*_KEPT, "conversation", "prompt")}
        row = {**asked, **answer_fields(sample)}
        key = _key(row)
        if key not in rows or row["error"] is None or rows[key]["error"] is not None:
            rows[key] = row
    return rows


def _write(plan: Plan, stored: Mapping[Key, Row]) -> None:
    """`reflections.jsonl`: everything that was ever answered here, in the order of the run's requests."""
    if not stored:
        return
    models = {name: i for i, name in enumerate(plan.settings.models)}
    requests = {request.id: i for i, request in enumerate(plan.requests)}

    def place(row: Row) -> tuple[Any, ...]:
        model, request = models.get(row["model"], len(models)), requests.get(row["id"], len(requests))
        return model, request, row["epoch"], row["item"], row["conversation"], row["prompt"]

    target = plan.folder / REFLECTIONS
    part = target.with_name(target.name + ".part")
    try:
        with part.open("wb") as stream:
            stream.writelines(dump_line(row) for row in sorted(stored.values(), key=place))
        part.replace(target)
    except OSError as error:
        raise DataError(f"{error.filename or target}: {error.strerror}") from error


def say(reflected: Reflected) -> None:
    """The totals of the questions, on standard error."""
    line = f"{reflected.questions:,} questions on own texts = answered {reflected.answered:,}"
    line += f" + failed {reflected.failed:,}"
    if reflected.missing:
        line += f" + not asked {reflected.missing:,}"
    print(line, file=sys.stderr)
    for error in reflected.errors:
        print(f"  {error}", file=sys.stderr)
