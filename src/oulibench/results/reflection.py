"""Self-assessment: what models say about their own texts, against the checker and against what was asked of them.

`reflections.jsonl` holds the questions and the raw answers; everything here is made of them alone, the texts being
checked again, and can be rebuilt at any time.

Definitions:

- **claim**: what an answer says of the text (`oulibench.reflection.read_claim`); an answer without one is unreadable
- **accuracy**: claims that are what the checker finds / claims
- **bias, MAE**: mean of claim − found, and of its absolute value, for counts
- **claimed**: claims that are what had been asked for / claims: how often the model says that it complied
- **complied**: texts that are what had been asked for / claims: how often it did
- **over-claiming**: claims of compliance on texts that do not comply / claims on texts that do not comply
- **under-claiming**: claims of the contrary on texts that comply / claims on texts that comply
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from oulibench.errors import DataError, OuLiBenchError
from oulibench.jsonl import Row, dump_line, parse_line
from oulibench.reflection import Value, property_of, read_claim
from oulibench.results.intervals import Interval, Settings, success_interval
from oulibench.results.runs import Run
from oulibench.results.systems import Part, part_of
from oulibench.results.table import rate, reading_order, shown
from oulibench.results.tally import Answer, CellKey
from oulibench.scoring import score_block

REFLECTIONS: Final = "reflections.jsonl"
CLAIMS: Final = "claims.jsonl"

READ: Final = "ok"
UNREADABLE: Final = "unreadable"
NO_RESPONSE: Final = "no_response"
NOT_ASSESSABLE: Final = "not_assessable"


@dataclass(frozen=True, slots=True)
class Claim:
    """One answer of a model to a question on one of its texts.

    Attributes:
        request, epoch: of the answer that the text was read out of.
        conversation: `same` or `separate`.
        status: `ok`, `unreadable`, `no_response` (the call failed), `not_assessable` (the checker finds no one value).
        claim, actual, requested: values of the property that was asked about; None where there is none.
    """

    key: CellKey
    conversation: str
    request: str
    epoch: int
    item: int
    text: str
    response: str
    status: str
    claim: Value | None
    actual: Value | None
    requested: Value | None

    @property
    def correct(self) -> bool:
        return self.status == READ and self.claim == self.actual

    @property
    def claims_compliance(self) -> bool:
        return self.status == READ and self.claim == self.requested

    @property
    def complies(self) -> bool:
        return self.actual is not None and self.actual == self.requested


@dataclass(frozen=True, slots=True)
class SelfAssessment:
    """How well one system knows its own texts of one task, with one number of demonstrations.

    Attributes:
        asked: questions put; asked = claims + unreadable + failed + not assessable.
        claims: answers with a claim; of these `correct`, `claimed`, `complied`, `over` and `under` are counted.
        interval: of the accuracy, over the answers that the texts stood in; None where it was not computed.
        absolute_error, bias: means over the claims, in words or characters; None where the property is no count.
    """

    key: CellKey
    conversation: str
    asked: int
    claims: int
    unreadable: int
    failed: int
    not_assessable: int
    correct: int
    claimed: int
    complied: int
    over: int
    under: int
    absolute_error: float | None
    bias: float | None
    interval: Interval | None
    examples: tuple[tuple[str, str], ...]

    @property
    def accuracy(self) -> float | None:
        return rate(self.correct, self.claims)

    @property
    def unreadable_share(self) -> float | None:
        return rate(self.unreadable, self.claims + self.unreadable)

    @property
    def claimed_share(self) -> float | None:
        return rate(self.claimed, self.claims)

    @property
    def complied_share(self) -> float | None:
        return rate(self.complied, self.claims)

    @property
    def over_claiming(self) -> float | None:
        return rate(self.over, self.claims - self.complied)

    @property
    def under_claiming(self) -> float | None:
        return rate(self.under, self.complied)

    def fields(self) -> dict[str, Any]:
        """JSON-ready, in a fixed order."""
        return {
            "model": self.key.system,
            "task": self.key.task,
            "shots": self.key.shots,
            "conversation": self.conversation,
            "asked": self.asked,
            "claims": self.claims,
            "unreadable": self.unreadable,
            "failed": self.failed,
            "not_assessable": self.not_assessable,
            "accuracy": _rounded(self.accuracy),
            "interval": self.interval.fields() if self.interval else None,
            "mean_absolute_error": _rounded(self.absolute_error),
            "bias": _rounded(self.bias),
            "claimed": _rounded(self.claimed_share),
            "complied": _rounded(self.complied_share),
            "over_claiming": _rounded(self.over_claiming),
            "under_claiming": _rounded(self.under_claiming),
            "unreadable_share": _rounded(self.unreadable_share),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


# --- reading -----------------------------------------------------------------------------------------------------

_AT_ONCE: Final = 500


def read_claims(
    run: Run, names: Mapping[Part, str], number: int = 0, on_problem: Callable[[str], None] | None = None
) -> Iterator[Claim]:
    """The claims of a run that has `reflections.jsonl`; none where it has not.

    Args:
        run: the run; its policy is the one that texts are checked under.
        names: names of the systems (`oulibench.results.systems.system_names`).
        number: the run's place among the runs that were named.
        on_problem: called with a line that names a bad line of the file, and why; the others are read.

    Raises:
        DataError: the file cannot be read.
    """
    rows = _rows(run, on_problem or (lambda _: None))
    while block := list(islice(rows, _AT_ONCE)):
        texts = [{key: row.get(key) for key in ("task", "target", "text")} for row in block]
        for row, scored in zip(block, score_block(texts, run.policy), strict=True):
            system = names.get(part_of(number, row)) or part_of(number, row)[1]
            yield _claim(row, scored[0], system)


def _rows(run: Run, on_problem: Callable[[str], None]) -> Iterator[Row]:
    path = run.folder / REFLECTIONS
    if run.responses is None or not path.is_file():
        return
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = parse_line(line)
                    if wrong := [key for key, kind in _TYPES.items() if not isinstance(row.get(key), kind)]:
                        raise DataError(f"the row has no good {wrong[0]!r}")
                except DataError as error:
                    on_problem(f"{path}:{number}: {error}")
                    continue
                yield row
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


_TYPES: Final[dict[str, type]] = {"task": str, "id": str, "text": str, "epoch": int, "item": int}


def _claim(row: Row, verdict: Mapping[str, Any], system: str) -> Claim:
    task, response, shots = row["task"], row.get("response"), row.get("shots")
    claim = actual = requested = None
    try:
        found = property_of(task, row.get("target"), verdict)
    except OuLiBenchError:
        found = None
    if not isinstance(response, str) or (row.get("error") and not response):
        response, status = "", NO_RESPONSE
    elif found is None:
        status = NOT_ASSESSABLE
    else:
        claim = read_claim(response, task, row["text"])
        status = UNREADABLE if claim is None else READ
    if found is not None:
        actual, requested = found.actual, found.requested
    return Claim(
        key=CellKey(system, task, shots if isinstance(shots, int) else 0),
        conversation=str(row.get("conversation") or "separate"),
        request=row["id"],
        epoch=row["epoch"],
        item=row["item"],
        text=row["text"],
        response=response,
        status=status,
        claim=claim,
        actual=actual,
        requested=requested,
    )


def write_claims(run: Run, claims: Iterable[Claim]) -> None:
    """Write `claims.jsonl`: every answer with what was read out of it, for people who want to see.

    Raises:
        DataError: it cannot be written.
    """
    path = run.folder / CLAIMS
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as stream:
            for c in claims:
                row = {
                    "model": c.key.system, "id": c.request, "epoch": c.epoch, "item": c.item, "task": c.key.task,
                    "shots": c.key.shots, "conversation": c.conversation, "text": c.text, "response": c.response,
                    "status": c.status, "claim": c.claim, "actual": c.actual, "requested": c.requested,
                    "correct": c.correct if c.status == READ else None,
                }  # fmt: skip
                stream.write(dump_line(row))
        part.replace(path)
    except OSError as error:
        raise DataError(f"{error.filename or path}: {error.strerror}") from error


# --- counting ----------------------------------------------------------------------------------------------------

_EXAMPLES: Final = 3


def self_assessments(claims: Iterable[Claim], settings: Settings | None = None) -> list[SelfAssessment]:
    """The figures per system, task, shots and conversation, in reading order.

    Args:
        claims: the claims.
        settings: seed and resamples of the intervals; None computes none (they need the extra `report`).
    """
    groups: dict[tuple[CellKey, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        groups[claim.key, claim.conversation].append(claim)
    ordered = sorted(groups, key=lambda group: (*reading_order(group[0]), group[1]))
    return [_assess(key, conversation, groups[key, conversation], settings) for key, conversation in ordered]


def _assess(key: CellKey, conversation: str, claims: Sequence[Claim], settings: Settings | None) -> SelfAssessment:
    read = [c for c in claims if c.status == READ]
    errors = [c.claim - c.actual for c in read if _is_count(c.claim) and _is_count(c.actual)]  # type: ignore[operator]
    by_status = {s: sum(c.status == s for c in claims) for s in (UNREADABLE, NO_RESPONSE, NOT_ASSESSABLE)}
    over = [c for c in read if c.claims_compliance and not c.complies]
    under = [c for c in read if c.complies and not c.claims_compliance]
    wrong = [c for c in (*over, *under, *read) if not c.correct]
    return SelfAssessment(
        key=key,
        conversation=conversation,
        asked=len(claims),
        claims=len(read),
        unreadable=by_status[UNREADABLE],
        failed=by_status[NO_RESPONSE],
        not_assessable=by_status[NOT_ASSESSABLE],
        correct=sum(c.correct for c in read),
        claimed=sum(c.claims_compliance for c in read),
        complied=sum(c.complies for c in read),
        over=len(over),
        under=len(under),
        absolute_error=sum(map(abs, errors)) / len(errors) if errors else None,
        bias=sum(errors) / len(errors) if errors else None,
        interval=success_interval(_answers(read), settings, "reflection", *key, conversation) if settings else None,
        examples=tuple(
            (c.text, f"{_said(c.claim)} ≠ {_said(c.actual)}") for c in list(dict.fromkeys(wrong))[:_EXAMPLES]
        ),
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _said(value: Value | None) -> str:
    return {True: "sì", False: "no"}[value] if isinstance(value, bool) else str(value)


def _answers(claims: Sequence[Claim]) -> list[Answer]:
    """The claims on the texts of one answer are not independent: they are counted as the items of one answer."""
    answers: dict[tuple[str, int], Answer] = {}
    for claim in claims:
        place = (claim.request, claim.epoch)
        answer = answers.setdefault(place, Answer(len(answers), *place, None, None, None))
        answer.items += 1
        answer.passed += claim.correct
    return list(answers.values())


COLUMNS: Final = (
    "model", "task", "shots", "conversation", "asked", "unreadable", "accuracy", "MAE", "bias", "claimed", "complied",
    "over-claiming", "under-claiming",
)  # fmt: skip
"""The table's columns for people; `SelfAssessment.fields` has all of them."""


def lines_of(found: Sequence[SelfAssessment]) -> list[tuple[str, ...]]:
    """The cells of the table for people, one tuple a line, in the order of `COLUMNS`."""
    return [
        (
            a.key.system,
            a.key.task,
            str(a.key.shots),
            a.conversation,
            str(a.asked),
            shown(a.unreadable_share),
            shown(a.accuracy),
            shown(a.absolute_error),
            shown(a.bias),
            shown(a.claimed_share),
            shown(a.complied_share),
            shown(a.over_claiming),
            shown(a.under_claiming),
        )
        for a in found
    ]
