"""What a system does in a cell beside passing or failing: the measurements of `oulibench.behaviour`, with examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oulibench.behaviour.anagram_shortcuts import TASKS as ANAGRAMS
from oulibench.behaviour.anagram_shortcuts import Shortcuts, measure_shortcuts
from oulibench.behaviour.code_switching import UNCERTAIN, guess_languages
from oulibench.behaviour.compliance import Form, FormOfAnswer, measure_form
from oulibench.behaviour.copying import NOT_ASSESSABLE, find_copies
from oulibench.behaviour.known_palindromes import TASK as PALINDROMES
from oulibench.behaviour.known_palindromes import KnownPalindromes, measure_known
from oulibench.behaviour.repetition import Repetition, measure_repetition
from oulibench.results.table import rate
from oulibench.results.tally import Cell, CellKey, Item

Demonstrations = Callable[[str, int | str | None, Sequence[str]], Mapping[str, str]]
"""(task, target, ids) → the texts of those demonstrations that are known, by id."""

EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class Copying:
    """Copies of demonstrations in a few-shot cell.

    Attributes:
        items: items whose demonstrations are known.
        exact, near: copies word for word, and nearly so.
        sr_with, sr_without: success rate over those items, and over those that are no copies.
        unknown: items whose demonstrations could not be found again.
        examples: item and demonstration.
    """

    items: int
    exact: int
    near: int
    sr_with: float | None
    sr_without: float | None
    unknown: int
    examples: tuple[tuple[str, str], ...]

    @property
    def share(self) -> float | None:
        return rate(self.exact + self.near, self.items)

    @property
    def assessable(self) -> bool:
        """Whether the success rate says anything: not where most items are copies."""
        return self.share is None or self.share <= NOT_ASSESSABLE


@dataclass(frozen=True, slots=True)
class Languages:
    """Languages of a cell's items: code → items; `uncertain` among them."""

    items: int
    counts: dict[str, int]
    examples: tuple[tuple[str, str], ...]

    @property
    def foreign(self) -> int:
        return sum(n for code, n in self.counts.items() if code not in ("it", UNCERTAIN))


@dataclass(frozen=True, slots=True)
class Habits:
    """All measurements of a cell; None where one does not apply (or its data are not installed)."""

    key: CellKey
    form: Form
    copying: Copying | None
    languages: Languages
    repetition: Repetition
    shortcuts: Shortcuts | None
    palindromes: KnownPalindromes | None

    def fields(self) -> dict[str, Any]:
        found = {"model": self.key.system, "task": self.key.task, "shots": self.key.shots, **asdict(self)}
        del found["key"]
        if self.copying:
            found["copying"] |= {"share": self.copying.share, "assessable": self.copying.assessable}
        return found


def habits_of(
    cell: Cell,
    demonstrations: Demonstrations,
    remarks: Mapping[tuple[str, int], bool] | None = None,
    languages: Sequence[str] = ("it", "en"),
) -> Habits:
    """Measure a cell whose items were kept.

    Args:
        cell: the cell.
        demonstrations: finds the texts of demonstrations by id.
        remarks: for each (request id, epoch) whether the answer holds text beside its items; None where unknown.
        languages: languages that texts are told apart in.
    """
    items = [item for item in cell.items if item.number is not None or item.passed is not None]
    texts = [item.text for item in items]
    groups: dict[object, list[str]] = defaultdict(list)
    for item in items:
        groups[cell.answers[item.answer].target].append(item.text)
    letter_play = cell.key.task in (*ANAGRAMS, PALINDROMES)
    return Habits(
        cell.key,
        measure_form(_form(answer.number, cell, remarks) for answer in cell.answers),
        _copying(cell, items, demonstrations) if cell.key.shots else None,
        _languages(texts, letter_play, languages),
        measure_repetition(groups.values()),
        measure_shortcuts((str(cell.answers[i.answer].target), i.text, i.flags) for i in items)
        if cell.key.task in ANAGRAMS
        else None,
        measure_known(i.text for i in items if i.passed) if cell.key.task == PALINDROMES else None,
    )


def _form(number: int, cell: Cell, remarks: Mapping[tuple[str, int], bool] | None) -> FormOfAnswer:
    a = cell.answers[number]
    said = None if remarks is None else remarks.get((a.request, a.epoch))
    return FormOfAnswer(a.requested, a.items, a.status, a.error, a.truncated, said)


def _languages(texts: Sequence[str], letter_play: bool, languages: Sequence[str]) -> Languages:
    guesses = guess_languages(texts, letter_play=letter_play, languages=languages)
    counts: dict[str, int] = {}
    for guess in guesses:
        counts[guess.language] = counts.get(guess.language, 0) + 1
    foreign = {text: g.language for text, g in zip(texts, guesses, strict=True) if g.language not in ("it", UNCERTAIN)}
    return Languages(len(texts), dict(sorted(counts.items())), tuple((c, t) for t, c in foreign.items())[:EXAMPLES])


def _copying(cell: Cell, items: Sequence[Item], demonstrations: Demonstrations) -> Copying:
    by_prompt: dict[tuple[object, tuple[str, ...]], list[Item]] = defaultdict(list)
    for item in items:
        answer = cell.answers[item.answer]
        by_prompt[answer.target, answer.demonstrations].append(item)
    exact = near = known = unknown = passed = passed_own = 0
    examples: dict[tuple[str, str], None] = {}
    for (_, ids), group in by_prompt.items():
        target = cell.answers[group[0].answer].target
        shown = list(demonstrations(cell.key.task, target, ids).values())
        if not shown:
            unknown += len(group)
            continue
        known += len(group)
        for item, copy in zip(group, find_copies([i.text for i in group], shown), strict=True):
            passed += item.passed is True
            if copy is None:
                passed_own += item.passed is True
            else:
                exact += copy.exact
                near += not copy.exact
                if len(examples) < EXAMPLES:
                    examples[item.text, copy.demonstration] = None
    own = known - exact - near
    return Copying(known, exact, near, rate(passed, known), rate(passed_own, own), unknown, tuple(examples))
