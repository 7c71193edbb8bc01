"""The question on a text, what the checker says to it, and what would have kept the request.

All three, and the model's claim, are values of one property: a number (lengths), yes or no (letters), a voice, an
order, or a word (initials). Claim against checker is accuracy, claim against request is claimed compliance, checker
against request is compliance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from oulibench.constraints import AnyConstraint, get_constraint
from oulibench.errors import DataError
from oulibench.language import Language
from oulibench.policy import DEFAULT_POLICY, Policy

Value = int | bool | str
Reads = Literal["number", "yes_no", "voice", "order", "letters"]


@dataclass(frozen=True, slots=True)
class Property:
    """What one text has and was to have.

    Attributes:
        actual: what the checker finds.
        requested: the value that keeps the request.
    """

    actual: Value
    requested: Value

    @property
    def complies(self) -> bool:
        """Whether the text has what the question is about. Narrower than the verdict where that asks for more than the
        question does: Italian words in anagrams and palindromes, a length gate."""
        return self.actual == self.requested


def entry_of(task: str, language: Language) -> Mapping[str, Any] | None:
    """What `reflection.toml` says of a task; None where it asks nothing."""
    entry: Mapping[str, Any] | None = language.table("reflection.toml")["tasks"].get(task)
    return entry


def reflects(task: str) -> bool:
    """Whether there is a question for this task."""
    return entry_of(task, get_constraint(task).language) is not None


def question_on(text: str, task: str, target: object, policy: Policy = DEFAULT_POLICY) -> str:
    """The question on a text that was written for this task and target.

    Raises:
        UnknownTaskError, TargetError: there is no such task, or the target does not fit it.
        DataError: the task has no question.
    """
    constraint = get_constraint(task)
    entry = entry_of(task, constraint.language)
    if entry is None:
        raise DataError(f"The data file reflection.toml has no question for {task}.")
    question = entry["question"]
    if "policy" in entry:
        question = question[getattr(policy, entry["policy"])]
    parsed = constraint.parse_target(target)
    return str(question).format(text=text.strip(), target=parsed)


def property_of(task: str, target: object, verdict: Mapping[str, Any]) -> Property | None:
    """The property that the question is about, out of a verdict's fields.

    None where the checker finds no one value: nothing could be read, or the sentences of the text differ. Such texts
    are not asked about.
    """
    constraint = get_constraint(task)
    wanted = constraint.parse_target(target)
    measured = verdict.get("measured")
    if measured is None or measured == _MIXED or verdict.get("passed") is None:
        return None
    if task in _BY_LETTERS:
        return _letters_property(task, constraint, measured, verdict)
    if not isinstance(measured, type(wanted)):
        return None
    return Property(measured, wanted)


_MIXED: Final = "mixed"
_BY_LETTERS: Final = frozenset(
    {"lipogram", "inverse_lipogram", "tautogram", "word_anagram", "sentence_anagram", "palindrome"}
)


def _letters_property(
    task: str, constraint: AnyConstraint, measured: object, verdict: Mapping[str, Any]
) -> Property | None:
    """A yes or no: the question is on the letters alone, and so is the truth."""
    if task == "palindrome":
        return Property(measured == measured[::-1], True) if isinstance(measured, str) and measured else None
    if task in ("word_anagram", "sentence_anagram"):
        formal = verdict.get("formal")
        return Property(formal, True) if isinstance(formal, bool) else None
    if not isinstance(measured, int):
        return None
    offending = measured > 0
    # A lipogram is asked «does the letter occur?», the others «do all words …?»
    return Property(offending, False) if task == "lipogram" else Property(not offending, True)
