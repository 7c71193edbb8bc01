"""Requests: the prompts of a suite, each with what it asks for and an id."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from oulibench.constraints import AnyConstraint, get_constraint, task_names
from oulibench.constraints.base import TargetSpec, Wording
from oulibench.errors import DataError
from oulibench.jsonl import dump_line
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.suite.demonstrations import Demonstration, demonstrations, overlaps
from oulibench.suite.suites import Suite, suite_data


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt.

    Attributes:
        id: task, target, shots and wording; unique in a suite.
        difficulty: of the target, 1 to 5.
        n: texts asked for.
        shots: demonstrations shown.
        epochs: how often the request is asked.
        policy: the conventions that the answer is checked under, where they are not the defaults.
        system: the system message; None for none.
        prompt: the whole user message: request, demonstrations, and the plea not to repeat them.
        demonstrations: ids of the demonstrations, in their order.
    """

    id: str
    task: str
    family: str
    target: int | str | None
    difficulty: int
    n: int
    shots: int
    epochs: int
    wording: str
    suite: str
    policy: dict[str, Any]
    system: str | None
    prompt: str
    demonstrations: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """The request as JSON-ready data, without its texts."""
        data = asdict(self)
        return {key: value for key, value in data.items() if key not in ("system", "prompt")} | {
            "demonstrations": list(self.demonstrations)
        }


def build_requests(
    suite: Suite,
    tasks: Iterable[str] | None = None,
    shots: Iterable[int] | None = None,
    wording: Wording = "explicit",
    n: int | None = None,
    limit: int | None = None,
    epochs: int | None = None,
    policy: Policy = DEFAULT_POLICY,
    system: bool = False,
    demonstrations_file: Path | None = None,
    targets: Mapping[str, Sequence[TargetSpec]] | None = None,
) -> list[Request]:
    """The requests of a suite, by task, shots and target.

    Args:
        suite: which targets, and the defaults of what follows.
        tasks: names of tasks; all for None.
        shots: numbers of demonstrations. Tasks without demonstrations are asked with none, whatever is given.
        wording: how the prompts are worded.
        n: texts asked for in one prompt.
        limit: at most so many targets per task.
        epochs: how often each request is asked.
        policy: the conventions that answers are checked under; some change what is asked for.
        system: whether a system message precedes.
        demonstrations_file: demonstrations to show instead of the built-in ones.
        targets: by task, what is asked for instead of the benchmark's targets.

    Raises:
        UnknownTaskError: there is no such task.
        DataError: a task has no targets or too few demonstrations, or a demonstration is what is asked for.
        ValueError: a number out of range, or an unknown wording.
    """
    for name, value in (("n", n), ("limit", limit), ("epochs", epochs)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is at least 1, not {value}.")
    given = sorted(set(shots)) if shots is not None else None
    requests: list[Request] = []
    for task in dict.fromkeys(task_names() if tasks is None else tasks):
        constraint = get_constraint(task)
        known = constraint.targets() if targets is None else tuple(targets.get(task, ()))
        chosen = suite.choose(task, known)[:limit]
        if not chosen:
            where = "in the data file targets.toml" if targets is None else "among those given"
            raise DataError(f"The task {task} has no targets {where}.")
        for shown in (suite.shots_of(task) if given is None else given) if constraint.few_shot else (0,):
            for spec in chosen:
                request = _request(
                    constraint,
                    spec,
                    suite,
                    n=n or suite.n_of(task),
                    epochs=epochs or suite.epochs_of(task),
                    shots=shown,
                    wording=wording,
                    policy=policy,
                    system=system,
                    demonstrations_file=demonstrations_file,
                )
                requests.append(request)
    return requests


def _request(
    constraint: AnyConstraint,
    spec: TargetSpec,
    suite: Suite,
    *,
    n: int,
    epochs: int,
    shots: int,
    wording: Wording,
    policy: Policy,
    system: bool,
    demonstrations_file: Path | None,
) -> Request:
    shown = demonstrations(constraint.name, spec.value, shots, constraint.language, demonstrations_file, policy)
    if leaked := [d.id for d in shown if overlaps(d, spec.value)]:
        raise DataError(f"Demonstrations of {constraint.name} are what is asked for: {', '.join(leaked)}.")
    table = constraint.language.table("prompts.toml")
    prompt = constraint.prompt(spec.value, n, wording, policy)
    if shown:
        prompt = _with_demonstrations(prompt, shown, n, table["demonstrations"])
    target = "-" if spec.value is None else spec.value
    return Request(
        id=f"{constraint.name}/{target}/{shots}/{wording}",
        task=constraint.name,
        family=constraint.family,
        target=spec.value,
        difficulty=spec.difficulty,
        n=n,
        shots=shots,
        epochs=epochs,
        wording=wording,
        suite=suite.name,
        policy=changed_policy(policy),
        system=table["system"]["text"] if system else None,
        prompt=prompt,
        demonstrations=tuple(d.id for d in shown),
    )


def _with_demonstrations(request: str, shown: Sequence[Demonstration], n: int, words: dict[str, str]) -> str:
    """Examples carry numbers where the answer is to be numbered, and a dash where it is a lone text."""
    examples = "\n".join(f"{f'{i}.' if n > 1 else '-'} {d.text}" for i, d in enumerate(shown, 1))
    intro = words["intro_one" if len(shown) == 1 else "intro"].format(n=len(shown))
    of_one = "_of_one" if len(shown) == 1 else ""
    after = words[f"after_{'one' if n == 1 else 'many'}{of_one}"].format(n=n)
    return f"{request}\n\n{intro}\n{examples}\n\n{after}"


def fingerprint(requests: Iterable[Request]) -> str:
    """SHA-256 over everything that is asked: the version of the benchmark that a run saw."""
    digest = hashlib.sha256()
    for request in requests:
        digest.update(dump_line(dict(sorted(asdict(request).items()))))
    return digest.hexdigest()


def changed_policy(policy: Policy) -> dict[str, Any]:
    """The conventions that are not the defaults, as a row's `policy` names them."""
    return {f.name: value for f in fields(policy) if (value := getattr(policy, f.name)) != f.default}


# --- tokens ------------------------------------------------------------------------------------------------------

_TOKENS_PER_WORD: Final = 3.0  # Italian words in vocabularies made for English take 2 to 3
_TOKENS_PER_ITEM: Final = 8  # number, line end, a gloss
_SLACK: Final = 2  # longer texts than asked for, remarks
_FRAME: Final = 128  # preamble and closing
REASONING_TOKENS: Final = 32_768
_CHARACTERS_PER_TOKEN: Final = 3.0


def token_limit(request: Request, reasons: bool = False) -> int:
    """How many tokens an answer may have: generous, so that it cuts off what never ends and little else.

    An answer of `n` texts of `words` words each takes about n · (3 · words + 8) tokens; twice that is granted, and 128
    for what is said around the texts. How many words a text takes comes from the target where the target is a length,
    from `data/suites.toml` otherwise. A reasoning model gets 32,768 tokens more, for its reasoning counts as output.
    An answer that the limit cuts off is marked `truncated` in the results.
    """
    limit = _FRAME + _SLACK * _answer_tokens(request)
    return limit + REASONING_TOKENS if reasons else limit


def _answer_tokens(request: Request) -> int:
    lengths = suite_data()["length"]
    entry = lengths.get(request.task, lengths["default"])
    words = entry.get("words", 0.0)
    if isinstance(request.target, int):
        words += entry.get("words_per_target", 0.0) * request.target
    return math.ceil(request.n * float(_TOKENS_PER_WORD * words + _TOKENS_PER_ITEM))


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls and tokens of a run, estimated before anybody is asked."""

    calls: int
    input_tokens: int
    output_tokens: int


def estimate(requests: Iterable[Request]) -> Estimate:
    """Calls and tokens for one model: three characters a token in, the expected length of the answers out."""
    calls = read = written = 0
    for request in requests:
        calls += request.epochs
        characters = len(request.prompt) + len(request.system or "")
        read += request.epochs * math.ceil(characters / _CHARACTERS_PER_TOKEN)
        written += request.epochs * _answer_tokens(request)
    return Estimate(calls, read, written)
