"""Does a model keep to the form: as many texts as asked for, nothing before or after, an answer at all?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a cell's answers, counted in answers.

    Attributes:
        fewer, exact, more: answers with fewer, as many, more items than asked for; only of answers that hold items and
            whose number asked for is known.
        refused, empty, unreadable, unclosed: answers without items, by their status.
        errors: calls that the provider failed (no fault of the model's).
        truncated: answers cut off by the token limit.
        remarks: answers with text before, between or after the items; None where the stored answers are not at hand.
    """

    answers: int
    fewer: int
    exact: int
    more: int
    refused: int
    empty: int
    unreadable: int
    unclosed: int
    errors: int
    truncated: int
    remarks: int | None


@dataclass(frozen=True, slots=True)
class FormOfAnswer:
    """What is looked at in one answer."""

    requested: int | None
    items: int
    status: str
    error: bool
    truncated: bool
    remarks: bool | None


def measure_form(answers: Iterable[FormOfAnswer]) -> Form:
    """Count the forms of answers."""
    total = truncated = errors = 0
    remarks: int | None = 0
    counted: Counter[str] = Counter()
    for answer in answers:
        total += 1
        truncated += answer.truncated
        errors += answer.error
        remarks = None if remarks is None or answer.remarks is None else remarks + answer.remarks
        if answer.items and answer.requested is not None:
            difference = answer.items - answer.requested
            counted["exact" if difference == 0 else "fewer" if difference < 0 else "more"] += 1
        elif not answer.items and not answer.error:
            counted[answer.status] += 1
    return Form(
        answers=total,
        fewer=counted["fewer"],
        exact=counted["exact"],
        more=counted["more"],
        refused=counted["refusal"],
        empty=counted["no_response"],
        unreadable=counted["unreadable"],
        unclosed=counted["unclosed_reasoning"],
        errors=errors,
        truncated=truncated,
        remarks=remarks,
    )
