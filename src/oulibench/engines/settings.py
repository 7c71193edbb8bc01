"""The settings of a run: what `run.json` holds and `--config` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_type_hints

from oulibench.constraints import get_constraint, task_names
from oulibench.constraints.base import Wording
from oulibench.engines.models import EMBEDDED, clean_base_url, resolve_model
from oulibench.errors import DataError
from oulibench.policy import Policy
from oulibench.suite import Request, Suite, build_requests, load_suite
from oulibench.suite.dataset import dataset_record

FORMAT: Final = 1
"""Version of run.json."""

Conversation = Literal["same", "separate"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run asks, whom, and how.

    Attributes:
        models: Inspect AI names.
        suite: name of the suite; the values below that are None come from it.
        tasks: names of tasks, in the benchmark's order.
        shots: numbers of demonstrations.
        wording: how prompts are worded; several wordings make a study of them.
        n: texts asked for in one prompt.
        limit: at most so many targets per task.
        epochs: how often each request is asked.
        system: whether a system message precedes.
        demonstrations: path of a file of demonstrations to show instead of the built-in ones.
        policy: the conventions of the checks that are not the defaults.
        temperature, top_p: None leaves them to the provider.
        seed: of the first epoch, the next ones follow; None sends no seed.
        max_tokens: token limit of an answer; None sizes it to what is asked.
        model_args: arguments of the provider, such as `{"device": "cuda:0"}`.
        model_base_url: where the model's server is; None for the provider's own.
        max_connections: calls under way at a time; None leaves it to Inspect AI.
        max_retries: how often a call is tried again after a rate limit or a server error.
        timeout: seconds after which an attempt is given up and tried again; None waits.
        reflect: whether the models are asked about their own texts once all answers are stored.
        reflect_items: texts per answer that are asked about.
        reflect_in: in which conversation: `same`, after the answer itself, or `separate`.
    """

    models: tuple[str, ...] = (EMBEDDED,)
    suite: str = "quick"
    tasks: tuple[str, ...] = ()
    shots: tuple[int, ...] | None = None
    wording: Wording | tuple[Wording, ...] = "explicit"
    n: int | None = None
    limit: int | None = None
    epochs: int | None = None
    system: bool = False
    demonstrations: str | None = None
    policy: dict[str, Any] = field(default_factory=dict)
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = 0
    max_tokens: int | None = None
    model_args: dict[str, Any] = field(default_factory=dict)
    model_base_url: str | None = None
    max_connections: int | None = None
    max_retries: int = 7
    timeout: int | None = None
    reflect: bool = False
    reflect_items: int = 5
    reflect_in: Conversation = "separate"

    @property
    def wordings(self) -> tuple[Wording, ...]:
        return self.wording if isinstance(self.wording, tuple) else (self.wording,)

    def requests(self) -> list[Request]:
        """Everything that is asked of each model, in order.

        Raises:
            DataError: the settings make no benchmark.
        """
        try:
            return [request for wording in self.wordings for request in self._requests_in(wording)]
        except ValueError as error:
            raise error if isinstance(error, DataError) else DataError(str(error)) from error

    def _requests_in(self, wording: Wording) -> list[Request]:
        return build_requests(
            self.suite_data(),
            self.tasks,
            self.shots,
            wording,
            self.n,
            self.limit,
            self.epochs,
            Policy.from_mapping(self.policy),
            self.system,
            Path(self.demonstrations) if self.demonstrations is not None else None,
        )

    def suite_data(self) -> Suite:
        return load_suite(self.suite)

    def dataset(self) -> dict[str, str]:
        """The version and checksum of the dataset that the requests are of."""
        return dataset_record(Path(self.demonstrations) if self.demonstrations is not None else None)


HOW_NOT_WHAT: Final = frozenset(
    {"model_base_url", "max_connections", "max_retries", "timeout", "reflect", "reflect_items", "reflect_in"}
)
"""Settings that may differ when a run goes on: they change how the answers are fetched, or what is asked afterwards."""

_ABOUT_THE_RUN: Final = frozenset(
    {"format", "created", "oulibench", "inspect_ai", "requests", "calls", "sha256", "dataset"}
)


def make_settings(given: Mapping[str, Any]) -> Settings:
    """Settings out of `run.json` or the command line: names resolved, absent ones the defaults.

    Raises:
        DataError: an unknown setting or a value that it does not have; the message names it.
    """
    known = {f.name for f in fields(Settings)}
    if unknown := set(given) - known - _ABOUT_THE_RUN:
        raise DataError(f"Unknown settings: {', '.join(sorted(unknown))}. Known ones: {', '.join(sorted(known))}.")
    if given.get("format", FORMAT) != FORMAT:
        raise DataError(f"The settings have the format {given['format']!r}; this version reads {FORMAT}.")
    values = {key: _tuple(value) for key, value in given.items() if key in known}
    for key, value in values.items():
        _check(key, value)
    settings = Settings(**values)
    names = settings.tasks or task_names()
    for task in names:
        get_constraint(task)  # raises for unknown ones
    return replace(
        settings,
        models=tuple(dict.fromkeys(resolve_model(m) for m in settings.models)),
        tasks=tuple(dict.fromkeys(names)),
        shots=None if settings.shots is None else tuple(sorted(set(settings.shots))),
        wording=_wording(settings.wordings),
        policy=_policy(settings.policy),
        model_base_url=clean_base_url(settings.model_base_url) if settings.model_base_url else None,
    )


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _wording(wordings: tuple[Wording, ...]) -> Wording | tuple[Wording, ...]:
    """One wording by its name, as it always stood in `run.json`; several as a list."""
    distinct = tuple(dict.fromkeys(wordings))
    return distinct[0] if len(distinct) == 1 else distinct


def _policy(policy: dict[str, Any]) -> dict[str, Any]:
    from oulibench.suite.requests import changed_policy

    return changed_policy(Policy.from_mapping(policy))


_RANGES: Final[dict[str, tuple[float, float]]] = {
    "n": (1, 1000),
    "limit": (1, 10**6),
    "epochs": (1, 10**4),
    "temperature": (0, 2),
    "top_p": (0, 1),
    "max_tokens": (1, 10**7),
    "max_connections": (1, 10**4),
    "max_retries": (0, 1000),
    "timeout": (1, 10**6),
    "seed": (0, 2**31 - 1),
    "reflect_items": (1, 1000),
}


def _check(key: str, value: Any) -> None:
    """Whether `value` is of the kind that the setting has."""
    hint = get_type_hints(Settings)[key]
    if value is None and type(None) in get_args(hint):
        return
    if key in ("models", "tasks", "shots") or (key == "wording" and isinstance(value, tuple)):
        kind = int if key == "shots" else str
        if not isinstance(value, tuple) or not all(type(v) is kind for v in value):
            raise DataError(f"The setting {key} is a list of {'numbers' if kind is int else 'names'}, not {value!r}.")
        if kind is int and any(v < 0 for v in value):
            raise DataError("A number of demonstrations (shots) is at least 0.")
        if key != "tasks" and not value:
            raise DataError(f"The setting {key} is empty.")
    elif key in ("policy", "model_args"):
        if not isinstance(value, dict):
            raise DataError(f"The setting {key} is an object, not {value!r}.")
        if key == "model_args" and any("key" in name.lower() for name in value):
            raise DataError("Keys do not go into the settings, which are stored: put them into the environment.")
    elif key in _RANGES:
        low, high = _RANGES[key]
        whole = key not in ("temperature", "top_p")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not low <= value <= high:
            raise DataError(f"The setting {key} is a {'whole ' * whole}number from {low:g} to {high:g}, not {value!r}.")
    elif key in ("system", "reflect"):
        if not isinstance(value, bool):
            raise DataError(f"The setting {key} is true or false, not {value!r}.")
    elif key == "reflect_in":
        if value not in get_args(Conversation):
            raise DataError(f"The setting reflect_in is {' or '.join(get_args(Conversation))}, not {value!r}.")
    elif not isinstance(value, str):
        raise DataError(f"The setting {key} is a text, not {value!r}.")


def read_config(path: Path) -> dict[str, Any]:
    """The settings in a file: a `run.json`, or any JSON object with some of its settings.

    Raises:
        DataError: it cannot be read or holds no object.
    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path} is no JSON file: {error}") from error
    if not isinstance(config, dict):
        raise DataError(f'{path} must hold a JSON object such as {{"suite": "quick"}}.')
    return config


def as_json(settings: Settings) -> dict[str, Any]:
    """The settings as JSON-ready data."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(settings).items()}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The settings that decide what is asked and differ between two runs, one line each."""
    names = [f.name for f in fields(Settings) if f.name not in HOW_NOT_WHAT]
    found = [
        f"{name}: {_shown(old.get(name))} there, {_shown(new.get(name))} now"
        for name in names
        if old.get(name) != new.get(name)
    ]
    if not found and old.get("sha256") != new.get("sha256"):
        version = f"{_version(old)} there, {_version(new)} now"
        found.append(f"the prompts themselves (another version of the package: {version})")
    return found


def _version(record: Mapping[str, Any]) -> str:
    dataset = record.get("dataset")
    named = f" with dataset {dataset.get('version')}" if isinstance(dataset, Mapping) else ""
    return f"{record.get('oulibench')}{named}"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
