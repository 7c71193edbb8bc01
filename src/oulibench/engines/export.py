"""Inspect AI logs → `responses.jsonl`: one line per model, request and epoch, in the order of the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspect_ai.log import EvalSample, list_eval_logs, read_eval_log, read_eval_log_samples
from inspect_ai.model import ChatMessage

from oulibench.engines.tasks import TRUNCATED, answer_of
from oulibench.errors import DataError
from oulibench.jsonl import Row, dump_line
from oulibench.suite import Request

_REQUEST_FIELDS: Final = ("id", "task", "family", "target", "difficulty", "n", "shots", "wording", "suite")


@dataclass(frozen=True, slots=True)
class Exported:
    """What became of the calls of a run; calls = answered + failed + missing.

    Attributes:
        answered: calls with an answer.
        failed: calls that the provider failed.
        missing: calls that were not made yet.
        truncated: answers that the token limit cut off.
        errors: up to five different error messages of failed calls.
    """

    answered: int
    failed: int
    missing: int
    truncated: int
    errors: tuple[str, ...]


def export_responses(log_dir: Path, target: Path, models: Sequence[str], requests: Sequence[Request]) -> Exported:
    """Write `responses.jsonl` out of the logs; the old one stays until the new one is whole.

    Where several logs hold the same call, an answer beats an error and a newer log an older one.

    Raises:
        DataError: a log or the target cannot be read or written.
    """
    rows = _newest(log_dir)
    answered = failed = missing = truncated = 0
    errors: dict[str, None] = {}
    part = target.with_name(target.name + ".part")
    try:
        with part.open("wb") as stream:
            for model in models:
                for request in requests:
                    for epoch in range(1, request.epochs + 1):
                        row = rows.get((model, request.id, epoch))
                        if row is None:
                            missing += 1
                            continue
                        answered += row["error"] is None
                        failed += row["error"] is not None
                        truncated += row["truncated"]
                        if row["error"] is not None:
                            errors.setdefault(f"{model}: {row['error']}"[:300])
                        stream.write(dump_line(row))
        part.replace(target)
    except OSError as error:
        raise DataError(f"{error.filename or target}: {error.strerror}") from error
    return Exported(answered, failed, missing, truncated, tuple(errors)[:5])


def answered_calls(log_dir: Path) -> int:
    """How many calls the logs hold an answer for."""
    return sum(row["error"] is None for row in _newest(log_dir).values())


def _newest(log_dir: Path) -> dict[tuple[str, str, int], Row]:
    rows: dict[tuple[str, str, int], Row] = {}
    if not log_dir.is_dir():
        return rows
    for model, sample in logged_samples(log_dir):
        if sample.error is not None and sample.error.message.startswith("CancelledError("):
            continue  # the run was stopped while it waited: the model did not fail, the call was not made to the end
        row = response_row(model, sample)
        key = (model, row["id"], row["epoch"])
        if key not in rows or row["error"] is None or rows[key]["error"] is not None:
            rows[key] = row
    return rows


def logged_samples(log_dir: Path) -> Iterator[tuple[str, EvalSample]]:
    """The samples of all logs, older logs first."""
    for log in list_eval_logs(str(log_dir), descending=False):
        header = read_eval_log(log, header_only=True)
        for sample in read_eval_log_samples(
            log, all_samples_required=False, resolve_attachments=True, exclude_fields={"events", "store"}
        ):
            yield str(header.eval.model), sample


def response_row(model: str, sample: EvalSample) -> Row:
    """A line of `responses.jsonl`."""
    request = sample.metadata
    return {
        **{key: request.get(key) for key in _REQUEST_FIELDS},
        "model": model,
        "epoch": sample.epoch,
        "demonstrations": request.get("demonstrations", []),
        "prompt": _prompt(sample.input),
        **answer_fields(sample),
    }


def answer_fields(sample: EvalSample) -> Row:
    """What came back, as it is stored."""
    output = sample.output
    response, error = answer_of(output)
    if sample.error is not None:
        error = _short(sample.error.message)
    stop_reason = output.stop_reason if output.choices else None
    usage = output.usage
    return {
        "response": response,
        "stop_reason": stop_reason,
        "truncated": stop_reason in TRUNCATED,
        "error": error,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "seconds": None if output.time is None else round(output.time, 3),
    }


def _short(message: str) -> str:
    """What happened, without the request that Inspect AI puts before it (often as the repr of a text)."""
    parts = [part.strip() for part in re.split(r"\n|\\n", message)]
    last = next((part for part in reversed(parts) if part), "unknown error")
    return last if len(parts) == 1 else last.removesuffix("')").removesuffix('")').replace("\\'", "'")


def _prompt(messages: str | list[ChatMessage]) -> Any:
    """The user message."""
    if isinstance(messages, str):
        return messages
    return next((message.text for message in messages if message.role == "user"), "")
