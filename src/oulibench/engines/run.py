"""Driving a run: settings → Inspect AI's eval set → stored answers. Going on with a run is running it again."""

from __future__ import annotations

import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from oulibench.engines.settings import FORMAT, Settings, as_json, differences
from oulibench.errors import DataError, OuLiBenchError
from oulibench.results.runs import RESPONSES, SETTINGS
from oulibench.results.store import write_text
from oulibench.suite import Request, fingerprint
from oulibench.version import __version__

LOGS: Final = "logs"
SAMPLE_RETRIES: Final = 2
"""How often a call is made again after an answer that could not be read at all (broken JSON, a cut connection)."""
CALLS: Final[dict[str, Any]] = {
    "display": "none",
    "log_level": "error",
    "log_level_transcript": "error",  # not a line for every HTTP call
    "log_format": "eval",
    # Asking and reading are apart: an answer is stored before anything is read out of it, and reading takes no time
    # from the calls. The table is made from the stored answers.
    "score": False,
    "log_model_api": False,
    "ctl_server": False,
    "retry_on_error": SAMPLE_RETRIES,
    "fail_on_error": True,
    "continue_on_fail": True,
}
"""How calls are made and logged, whatever is asked."""


class RunError(OuLiBenchError):
    """A run that cannot begin or go on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that is ready to be carried out.

    Attributes:
        record: what `run.json` says.
        calls: calls to all models together.
    """

    folder: Path
    settings: Settings
    requests: Sequence[Request]
    record: dict[str, Any]
    calls: int


def plan_run(settings: Settings, requests: Sequence[Request], folder: Path) -> Plan:
    """The run that these settings make in `folder`, which is new or holds the same run.

    Raises:
        RunError: the folder holds another run; the message names the settings that differ.
        DataError: the folder's run.json cannot be read.
    """
    calls = len(settings.models) * sum(request.epochs for request in requests)
    record = {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "oulibench": __version__,
        "inspect_ai": version("inspect-ai"),
        **as_json(settings),
        "requests": len(requests),
        "calls": calls,
        "sha256": fingerprint(requests),
        "dataset": settings.dataset(),
    }
    if (old := _stored(folder)) is not None:
        if changed := differences(old, record):
            listing = "\n".join(f"  {line}" for line in changed)
            raise RunError(
                f"{folder} holds a run with other settings:\n{listing}\n"
                "Go on with that run by its own settings (--config FOLDER/run.json), or give this one another --out."
            )
        record["created"] = old.get("created", record["created"])
    elif (folder / LOGS).exists() or (folder / RESPONSES).exists():
        raise RunError(f"{folder} holds answers but no {SETTINGS}: give the run another --out.")
    return Plan(folder, settings, requests, record, calls)


def _stored(folder: Path) -> dict[str, Any] | None:
    path = folder / SETTINGS
    if not path.exists():
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file; --out names a folder.")
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if not isinstance(stored, dict):
        raise DataError(f"{path} must hold a JSON object.")
    return stored


def carry_out(plan: Plan) -> None:
    """Make the calls that have no answer yet.

    Calls that fail for good are stored as failed, and made again when the run is run again.

    Raises:
        RunError: a model cannot be had at all (no such provider, no key), or somebody else is carrying the run out.
        KeyboardInterrupt: it was stopped; the answers that had come are in the logs.
    """
    from inspect_ai import eval_set

    from oulibench.engines.export import answered_calls
    from oulibench.engines.progress import Progress, show
    from oulibench.engines.registry import TASKS

    settings = plan.settings
    with alone(plan.folder):
        done = answered_calls(plan.folder / LOGS)
        if done >= plan.calls:
            print(f"all {plan.calls:,} answers are there already; nobody is asked", file=sys.stderr)
            return
        cells = dict.fromkeys((request.task, request.shots, request.wording) for request in plan.requests)
        tasks = [TASKS[task](**_task_args(settings), shots=shots, wording=wording) for task, shots, wording in cells]
        progress = Progress(plan.calls, done)
        show(progress)
        try:
            with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # standard output is for the table
                models = [model_of(name, settings) for name in settings.models]
                # Only now: settings that no model can be had for must not keep the folder from better ones.
                write_settings(plan)
                _, logs = eval_set(
                    tasks,
                    log_dir=str(plan.folder / LOGS),
                    model=models,
                    # Answers go into the log in this folder as they come, not into a database of Inspect AI elsewhere,
                    # which would cost a third of a call's time and stay behind when the folder is moved.
                    log_realtime=False,
                    log_buffer=_log_buffer(plan),
                    # One pass: what failed in spite of the retries below is made again when the run is run again.
                    retry_immediate=False,
                    retry_attempts=1,
                    max_tasks=min(len(tasks) * len(models), max(10, settings.max_connections or 0)),
                    **CALLS,
                    **generation_settings(settings),
                )
            # Inspect AI keeps an interrupt to itself, and gives no logs then.
            if not logs or any(log.status == "cancelled" for log in logs):
                raise KeyboardInterrupt
        except OuLiBenchError:
            raise
        except Exception as error:  # whatever a provider's package raises when it cannot be set up
            raise RunError(plain_message(error)) from error
        finally:
            show(None)
            progress.close()


def write_settings(plan: Plan) -> None:
    """Write `run.json`."""
    write_text(plan.folder / SETTINGS, json.dumps(plan.record, ensure_ascii=False, indent=2) + "\n")


def _log_buffer(plan: Plan) -> int:
    """How many answers are held back before they are written.

    Each write copies the whole log of a task, so there are at most a hundred of them: a run that is killed loses no
    answer of a task of up to 100 calls, and 1% of larger ones.
    """
    calls = Counter[tuple[str, int]]()
    for request in plan.requests:
        calls[request.task, request.shots] += request.epochs
    return max(1, math.ceil(max(calls.values()) / 100))


def _task_args(settings: Settings) -> dict[str, Any]:
    """The settings that make a task; those that are the same for all its calls."""
    names = ("suite", "n", "limit", "epochs", "system", "seed", "max_tokens", "policy", "demonstrations")
    return {name: getattr(settings, name) for name in names}


def generation_settings(settings: Settings) -> dict[str, Any]:
    """The settings that Inspect AI passes to the models; those that are None are left to the provider."""
    given = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_connections": settings.max_connections,
        # More requests in preparation than there are connections, so that none waits for the next request's paperwork.
        "max_samples": None if settings.max_connections is None else 2 * settings.max_connections,
        "max_retries": settings.max_retries,
        "attempt_timeout": settings.timeout,
    }
    return {key: value for key, value in given.items() if value is not None}


def model_of(name: str, settings: Settings) -> Any:
    """The Inspect AI model that a run's settings name."""
    return open_model(name, settings.model_base_url, settings.model_args)


def open_model(name: str, base_url: str | None = None, arguments: Mapping[str, Any] | None = None) -> Any:
    """The Inspect AI model of a full name.

    A server on this machine needs no key, but the client library asks for one: it is given a word in its place.

    Raises:
        RunError: the model cannot be had; the message says what is missing.
    """
    from inspect_ai.model import get_model

    given = dict(arguments or {})
    if base_url and _is_loopback(base_url) and not os.environ.get(_key_variable(name)):
        given["api_key"] = "none"
    try:
        return get_model(name, base_url=base_url, **given)
    except OuLiBenchError:
        raise
    except Exception as error:
        raise RunError(f"The model {name} cannot be used: {plain_message(error)}") from error


def _key_variable(name: str) -> str:
    parts = name.split("/")
    service = parts[1] if parts[0] == "openai-api" and len(parts) > 2 else parts[0]
    return f"{service.upper().replace('-', '_')}_API_KEY"


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def plain_message(error: Exception) -> str:
    """An error's message without the mark-up that Inspect AI puts into it."""
    message = str(getattr(error, "message", "") or error) or type(error).__name__
    try:
        from rich.errors import MarkupError
        from rich.text import Text
    except ImportError:
        return message
    try:
        return Text.from_markup(message).plain.strip()
    except MarkupError:
        return message.strip()


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder against a second run in it, which would ask everything twice."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise RunError(f"{folder} cannot be written: {error.strerror}") from error
    with lock:
        try:
            import fcntl
        except ImportError:  # not a POSIX system
            yield
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise RunError(f"Another process is running {folder}; wait for it or stop it.") from error
        except OSError as error:  # some network file systems are mounted without locks
            print(
                f"note: {folder} cannot be locked ({error.strerror}): see to it that no other process runs it",
                file=sys.stderr,
            )
        yield  # closing the file gives the lock back, and so does the end of the process
