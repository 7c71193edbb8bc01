"""Models that judge: the same questions as people are asked, through Inspect AI, never in place of people.

Each item is asked several times at a stated temperature. An answer is read strictly: one JSON object with a point of
the scale for every dimension. Anything else is no rating, and is counted. A judge's rating of an item is the median
(the lower one) of its readable samples.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any, Final

from oulibench.annotation.sampling import Unit
from oulibench.annotation.scheme import Scheme, describe
from oulibench.annotation.store import Rating, now
from oulibench.errors import DataError
from oulibench.jsonl import Row, dump_line, read_jsonl
from oulibench.language import ITALIAN, Language
from oulibench.responses.reasoning import without_reasoning

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import Model

JUDGES: Final = "judges"
PREFIX: Final = "judge:"
_KEPT: Final = 2_000
"""Characters of an answer that are kept beside what was read out of it; the logs hold the whole."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How a judge is asked; all of it stands with every judgement.

    Attributes:
        model: a short name or an Inspect AI name, provider/model.
        samples: how often each item is asked.
        temperature: stated, not the provider's default.
        seed: sent with the request, where the provider takes one.
        max_tokens: limit of an answer.
    """

    model: str
    samples: int = 3
    temperature: float = 0.7
    seed: int = 0
    max_tokens: int = 300

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise DataError("A judge is asked at least once per item.")
        if not 0 <= self.temperature <= 2:
            raise DataError(f"The temperature is a number from 0 to 2, not {self.temperature}.")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer of a judge: its values, or None with the reason why none could be read."""

    unit: str
    sample: int
    values: Mapping[str, int] | None
    reason: str
    answer: str


# --- asking -----------------------------------------------------------------------------------------------------------


def judge_prompt(unit: Unit, scheme: Scheme, language: Language = ITALIAN) -> tuple[str, str]:
    """System and user message that ask for a judgement of a unit. The text stands in them as a JSON string."""
    table = language.table("annotation", "judge.toml")
    rule = describe(unit.task, unit.target, "it", unit.policy)
    form = json.dumps({d.id: f"{d.values[0]}–{d.values[-1]}" for d in scheme.dimensions}, ensure_ascii=False)
    filled = {
        "rule": rule.text,
        "tolerance": table["tolerance"]["severe"] if rule.severe else "",
        "sentence": json.dumps(unit.text, ensure_ascii=False),
        "rubric": rubric(scheme),
        "form": form,
    }
    # One pass over the template: braces in a sentence are no places to fill.
    user = re.sub(r"\{(\w+)\}", lambda place: filled.get(place[1], place[0]), table["user"])
    return table["system"], user


def rubric(scheme: Scheme) -> str:
    """The scheme's questions and points, in Italian, as a person reads them in the guide."""
    blocks = []
    for dimension in scheme.dimensions:
        lines = [f"{dimension.id} — {dimension.label['it']}: {dimension.question['it']}"]
        lines += [f"  {p.value} = {p.label['it']}. {p.guideline['it']}" for p in dimension.points]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_judgement(answer: str, scheme: Scheme) -> tuple[dict[str, int] | None, str]:
    """The values that an answer gives, or None and why none can be read. Nothing is guessed."""
    text = without_reasoning(answer[:100_000], [])
    if text is None:
        return None, "the reasoning is not closed"
    if not text.strip():
        return None, "no answer"
    objects = list(_objects(text))
    if not objects:
        return None, "no JSON object"
    read = [_values(found, scheme) for found in objects]
    if len({json.dumps(values, sort_keys=True) for values, _ in read}) > 1:
        return None, "several objects that differ"
    return read[0]


def _objects(text: str) -> Iterable[Any]:
    """The outermost JSON objects in a text; a few at most."""
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    start = text.find("{")
    for _ in range(20):
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            start = text.find("{", start + 1)
            continue
        yield found
        start = text.find("{", end)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different, or one that fits nothing."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else {"": "a key twice"}


def _values(found: Any, scheme: Scheme) -> tuple[dict[str, int] | None, str]:
    values: dict[str, int] = {}
    for dimension in scheme.dimensions:
        if dimension.id not in found:
            return None, f"no {dimension.id}"
        value = found[dimension.id]
        if isinstance(value, str) and value.strip() in map(str, dimension.values):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value not in dimension.values:
            return None, f"{dimension.id} is no point of the scale"
        values[dimension.id] = value
    return values, ""


# --- running ----------------------------------------------------------------------------------------------------------


def load_model(name: str, base_url: str | None = None, arguments: Mapping[str, Any] | None = None) -> Model:
    """The Inspect AI model of a name, short or full.

    Raises:
        OuLiBenchError: there is no such model, or it cannot be had; the message says what is missing.
    """
    from oulibench.engines.models import clean_base_url, resolve_model
    from oulibench.engines.run import open_model

    model: Model = open_model(resolve_model(name), clean_base_url(base_url) if base_url else None, arguments)
    return model


def run_judge(
    units: Sequence[Unit],
    scheme: Scheme,
    settings: JudgeSettings,
    folder: Path,
    *,
    base_url: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    language: Language = ITALIAN,
) -> Path:
    """Ask a judge about the units that it has not judged yet, and write what it says under `folder`/judges.

    Answers that are there are not asked for again; a call that failed altogether (no connection, say) leaves none and
    is made when the judge is called again. Returns the file of judgements.

    Raises:
        OuLiBenchError: the model cannot be had, or the folder cannot be written.
    """
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig, ResponseSchema
    from inspect_ai.solver import generate

    version = language.table("annotation", "judge.toml")["version"]
    path = judgement_file(folder, scheme, settings, version)
    meta = {**asdict(settings), "prompt_version": version, "scheme": scheme.name}
    logs = path.with_suffix("")
    _gather(logs, path, scheme, meta)  # what a call before this one was answered and did not live to write
    done = {(row["item_id"], row["sample"]) for row in _rows(path)}
    numbers = range(1, settings.samples + 1)
    wanted = [(unit, number) for unit in units for number in numbers if (unit.id, number) not in done]
    if not wanted:
        return path
    model = load_model(settings.model, base_url, arguments)
    samples = []
    for unit, number in wanted:
        system, user = judge_prompt(unit, scheme, language)
        messages: list[ChatMessage] = [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
        # The sample's number is part of its id and of its seed: samples of one item differ, and each can be repeated.
        samples.append(Sample(id=f"{unit.id}/{number}", input=messages, metadata={"seed": settings.seed + number}))
    config = GenerateConfig(
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        max_connections=max_connections,
        response_schema=ResponseSchema(name="judgement", json_schema=_json_schema(scheme)),
    )
    tasks = [
        Task(
            name="judge",
            dataset=MemoryDataset([s for s in samples if (s.metadata or {})["seed"] == settings.seed + number]),
            solver=generate(),
            config=config.merge(GenerateConfig(seed=settings.seed + number)),
        )
        for number in numbers
        if any((s.metadata or {})["seed"] == settings.seed + number for s in samples)
    ]
    logs.mkdir(parents=True, exist_ok=True)
    eval(
        tasks,
        model=model,
        log_dir=str(logs),
        log_format="eval",
        log_buffer=5,
        display="none",
        log_level="error",
        fail_on_error=False,
        score=False,
        max_tasks=1,
    )
    _gather(logs, path, scheme, meta)
    return path


def _gather(logs: Path, path: Path, scheme: Scheme, meta: Mapping[str, Any]) -> None:
    """Write the answers that the logs hold and the file does not: an answer that has come is never asked for again."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    if not logs.is_dir():
        return
    done = {(row["item_id"], row["sample"]) for row in _rows(path)}
    found: dict[tuple[str, int], Judgement] = {}
    for info in list_eval_logs(str(logs), descending=False):
        for judgement in _judgements(read_eval_log(info).samples or [], scheme):
            if (judgement.unit, judgement.sample) not in done:
                found.setdefault((judgement.unit, judgement.sample), judgement)
    if found:
        before = path.read_bytes() if path.is_file() else b""
        part = path.with_suffix(".part")
        with part.open("wb") as stream:
            stream.write(before + b"".join(dump_line(_row(judgement, meta)) for judgement in found.values()))
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)


def _judgements(samples: Iterable[EvalSample], scheme: Scheme) -> Iterable[Judgement]:
    """What answered calls say, in the order of items and samples."""
    from oulibench.engines.tasks import answer_of

    found = []
    for sample in samples:
        if sample.error is not None or sample.output is None:
            continue
        answer, error = answer_of(sample.output)
        if error is not None:
            continue
        unit, _, number = str(sample.id).rpartition("/")
        values, reason = read_judgement(answer, scheme)
        if values is None and sample.output.stop_reason == "max_tokens":
            reason += " (the answer was cut off)"
        found.append(Judgement(unit, int(number), values, reason, answer[:_KEPT]))
    return sorted(found, key=lambda judgement: (judgement.unit, judgement.sample))


def _row(judgement: Judgement, meta: Mapping[str, Any]) -> Row:
    return {
        "item_id": judgement.unit,
        "sample": judgement.sample,
        "values": None if judgement.values is None else dict(judgement.values),
        "reason": judgement.reason,
        "answer": judgement.answer,
        "time": now(),
        **meta,
    }


def _json_schema(scheme: Scheme) -> Any:
    from inspect_ai.util import JSONSchema

    return JSONSchema(
        type="object",
        properties={d.id: JSONSchema(type="integer", enum=list(d.values)) for d in scheme.dimensions},
        required=[d.id for d in scheme.dimensions],
        additionalProperties=False,
    )


# --- what is stored ---------------------------------------------------------------------------------------------------


def judgement_file(folder: Path, scheme: Scheme, settings: JudgeSettings, version: int) -> Path:
    """Where the judgements of these settings are kept (the logs of the calls are in the folder of that name)."""
    decisive = {**asdict(settings), "scheme": scheme.source, "version": version}
    del decisive["samples"]  # more samples are added to those that are there
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:8]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", settings.model.rsplit("/", 1)[-1]).strip("-") or "model"
    return folder / JUDGES / f"{slug[:40]}-{digest}.jsonl"


def _rows(path: Path) -> list[Row]:
    return list(read_jsonl(path)) if path.is_file() else []


@dataclass(frozen=True, slots=True)
class Judged:
    """All that one judge said, under one setting.

    Attributes:
        name: the model, with temperature and number of samples.
        ratings: one per item with a readable sample: the median (the lower one) of its samples' values.
        samples: each readable sample as a rating of its own (`person` is the sample's number).
        unreadable: answers without a rating, by reason; `answers`: all answers.
    """

    name: str
    ratings: tuple[Rating, ...]
    samples: tuple[Rating, ...]
    unreadable: Mapping[str, int]
    answers: int


def read_judges(folder: Path, units: Iterable[str], only: Path | None = None) -> list[Judged]:
    """The judges whose judgements of these units are kept under `folder`/judges, in the order of their files' names, or
    the one whose file is `only`.

    Raises:
        DataError: a file does not hold judgements.
    """
    known = set(units)
    judges = []
    for path in sorted((folder / JUDGES).glob("*.jsonl")) if only is None else [only]:
        rows = [row for row in _rows(path) if row.get("item_id") in known]
        if rows:
            try:
                judges.append(_judged(rows))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise DataError(f"{path} does not hold judgements ({error!r}).") from error
    return judges


def _judged(rows: Sequence[Row]) -> Judged:
    first = rows[0]
    asked = max(row["sample"] for row in rows)
    samples_asked = f"{asked} sample{'s' if asked != 1 else ''}"
    name = f"{first['model']} (temperature {first['temperature']:g}, {samples_asked})"
    by_unit: dict[str, list[Mapping[str, int]]] = {}
    samples = []
    reasons: Counter[str] = Counter()
    for row in rows:
        if row["values"] is None:
            reasons[str(row["reason"])] += 1
            continue
        values = {str(k): int(v) for k, v in row["values"].items()}
        by_unit.setdefault(row["item_id"], []).append(values)
        samples.append(Rating(f"sample {row['sample']}", row["item_id"], values, time=row["time"]))
    person = PREFIX + str(first["model"])
    ratings = tuple(
        Rating(person, unit, {d: median_low([values[d] for values in given]) for d in given[0]})
        for unit, given in by_unit.items()
    )
    return Judged(name, ratings, tuple(samples), dict(sorted(reasons.items())), len(rows))
