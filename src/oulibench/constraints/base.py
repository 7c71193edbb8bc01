"""What a constraint is: one object that asks for a text and checks it, so that the two cannot drift apart."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

from oulibench.errors import DataError, TargetError
from oulibench.language import ITALIAN, Language
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import (
    FOLD_VERSION,
    TOKENIZER_VERSION,
    Word,
    normalise,
    source_offsets,
    without_list_mark,
    words,
)
from oulibench.verdict import Measured, Verdict
from oulibench.version import __version__

Family = Literal["quantitative", "syntactic", "stylistic"]
Wording = Literal["explicit", "terse", "technical"]
Unit = Literal["sentence", "word", "text", "stanza"]
WORDINGS: Final[tuple[Wording, ...]] = ("explicit", "terse", "technical")

TargetT = TypeVar("TargetT", int, str, None)


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """A target that the benchmark asks for.

    Attributes:
        value: the target as it stands in rows.
        difficulty: 1 (easiest) to 5 (hardest), comparable within a task only.
        why: what the difficulty was read off (a measured frequency, a length, a number of solutions).
    """

    value: int | str | None
    difficulty: int
    why: str


class Judgement(NamedTuple):
    """What a constraint finds in the content of a text; positions of words are those in the content."""

    passed: bool
    score: float
    measured: Measured
    reason: str
    formal: bool | None = None  # None: the same as passed
    offending: Sequence[Word] = ()
    flags: tuple[str, ...] = ()


class Constraint(ABC, Generic[TargetT]):
    """A task of the benchmark: how it asks, which targets it has, and how a text is checked.

    Subclasses say how targets are read and how a text is judged; asking, positions, gates and signatures are the same
    for all and stand here. Objects hold nothing but their language and may be shared between threads and processes.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    version: ClassVar[int]
    """Rises when a score of this task can move."""
    policies: ClassVar[tuple[str, ...]] = ()
    """The policies that decide this task's verdicts (they stand in its signature)."""
    few_shot: ClassVar[bool] = False
    """Whether the benchmark has demonstrations for this task."""

    def __init__(self, language: Language = ITALIAN) -> None:
        self.language = language
        self._signatures: dict[Policy, str] = {}
        self._default_signature = ""

    # --- asking ---

    @abstractmethod
    def parse_target(self, target: object) -> TargetT:
        """The target in its canonical form (a number as int, a letter folded …).

        Raises:
            TargetError: it fits no such task; the message says what does.
        """

    def targets(self) -> tuple[TargetSpec, ...]:
        """The benchmark's targets, easiest first."""
        entries = self.language.table("targets.toml").get(self.name, [])
        return tuple(TargetSpec(e.get("target"), e["difficulty"], e["why"]) for e in entries)

    def prompt(self, target: object, n: int = 1, wording: Wording = "explicit", policy: Policy = DEFAULT_POLICY) -> str:
        """The request for `n` texts with this target, in the benchmark's language, and the form of the answer.

        Raises:
            TargetError: the target fits no such task.
            ValueError: `n` is less than 1, or there is no such wording.
        """
        try:
            return self.template(n, wording, policy).format(n=n, **self._template_values(self.parse_target(target)))
        except (KeyError, IndexError) as error:
            raise DataError(f"The prompt {self.name}.{wording} names a value that there is not: {error}.") from error

    def template(self, n: int = 1, wording: Wording = "explicit", policy: Policy = DEFAULT_POLICY) -> str:
        """What a prompt for `n` texts is made of: the request and the form of the answer, their values not filled in.

        Raises:
            ValueError: `n` is less than 1, or there is no such wording.
        """
        if n < 1:
            raise ValueError(f"A prompt asks for at least one text, not {n}.")
        table = self.language.table("prompts.toml")
        wordings = table.get(self._prompt_name(policy), {})
        if wording not in wordings:
            known = ", ".join(wordings) or "none"
            raise ValueError(f"The task {self.name} has no wording {wording!r}. Known wordings: {known}.")
        number_asked = "one" if n == 1 else "many"
        return f"{wordings[wording][number_asked].strip()} {table['format'][self.unit(policy)][number_asked]}"

    def unit(self, policy: Policy = DEFAULT_POLICY) -> Unit:
        """What one item of an answer is."""
        return "sentence"

    def _prompt_name(self, policy: Policy) -> str:
        """The table of `prompts.toml` that asks for this task."""
        return self.name

    def _template_values(self, target: TargetT) -> dict[str, Any]:
        """What a prompt's template may name besides `n`."""
        return {"target": target}

    # --- checking ---

    def check(self, text: str, target: object, policy: Policy = DEFAULT_POLICY) -> Verdict:
        """The verdict on `text`.

        A list mark at the start of the text is no part of it. A text without a word in the Latin alphabet never passes.

        Raises:
            TextError: the text cannot be judged at all.
            TargetError: the target fits no such task.
        """
        wanted = self.parse_target(target)
        normal = normalise(text)
        content = without_list_mark(normal)  # what `parse_ahead` parses, too
        if _LATIN_LETTER.search(content):
            found = self._judge(content, wanted, policy)
            if policy.min_words:
                found = _gate(found, content, policy.min_words)
        else:
            found = self._judge_wordless(content)
        violations = found.offending and _in_given_text(text, normal, len(normal) - len(content), found.offending)
        formal = found.passed if found.formal is None else found.formal
        return Verdict(
            found.passed,
            found.score,
            found.measured,
            formal,
            tuple(violations),
            found.reason,
            found.flags,
            self.signature(policy),
        )

    def parses(self, policy: Policy = DEFAULT_POLICY) -> bool:
        """Whether the verdict rests on a parse; many texts are then better parsed in one go (`parse_ahead`)."""
        return False

    @abstractmethod
    def _judge(self, content: str, target: TargetT, policy: Policy) -> Judgement:
        """The judgement on normalised `content`, which holds at least one Latin letter."""

    def _judge_wordless(self, content: str) -> Judgement:
        reason = "The text is empty." if not content.strip() else "The text holds no word in the Latin alphabet."
        return Judgement(passed=False, score=0.0, measured=None, reason=reason)

    def signature(self, policy: Policy = DEFAULT_POLICY) -> str:
        """What decides this task's verdicts, as one line. Two scores with one signature are comparable."""
        # By identity first: hashing a policy takes longer than many a verdict can spare.
        known = self._default_signature if policy is DEFAULT_POLICY else self._signatures.get(policy)
        if not known:
            parts = {"task": self.name, "v": str(self.version), "lang": self.language.code}
            parts |= {key: str(getattr(policy, key) or "default") for key in self.policies}
            if policy.min_words:
                parts["min_words"] = str(policy.min_words)
            parts |= {"text": TOKENIZER_VERSION, "fold": FOLD_VERSION}
            parts |= self._components(policy)
            parts["oulibench"] = __version__
            known = self._signatures[policy] = "|".join(f"{k}:{v}" for k, v in parts.items())
            if policy is DEFAULT_POLICY:
                self._default_signature = known
        return known

    def _components(self, policy: Policy) -> dict[str, str]:
        """Versions of the lexicon or parser that this task's verdicts rest on."""
        return {}


_LATIN_LETTER = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]")


def _gate(found: Judgement, content: str, min_words: int) -> Judgement:
    """The length gate: what passes by being too short to say anything does not pass."""
    length = len(words(content))
    if length >= min_words:
        return found
    return found._replace(
        passed=False,
        formal=found.passed if found.formal is None else found.formal,
        score=found.score * length / (min_words + 1),
        flags=tuple(sorted({*found.flags, "degenerate"})),
        reason=f"{found.reason} But it has {length} of the {min_words} words that the length gate asks for.",
    )


def _in_given_text(text: str, normal: str, shift: int, offending: Sequence[Word]) -> tuple[Word, ...]:
    """Words with positions in the text as given, out of words with positions in its normalised content."""
    if text == normal:
        return (
            tuple(Word(form, start + shift, end + shift) for form, start, end in offending) if shift else (*offending,)
        )
    offsets = source_offsets(text)
    return tuple(Word(form, offsets[start + shift], offsets[end + shift]) for form, start, end in offending)


# --- reading targets ---


def parse_count(task: str, target: object) -> int:
    """A number of words or characters, from 1: an int, a float without fraction or a numeral."""
    if isinstance(target, float) and target.is_integer():
        target = int(target)
    if isinstance(target, str) and target.strip().isdecimal() and len(target.strip()) < 10:
        target = int(target)
    if not isinstance(target, int) or isinstance(target, bool):
        raise TargetError(f"The target of {task} is a whole number such as 5, not {target!r}.")
    if target < 1:
        raise TargetError(f"The target of {task} is at least 1, not {target}: an empty text passes no task.")
    return target


# --- judging ---


def quote(found: Sequence[Word], limit: int = 5) -> str:
    """The words for a reason: the first few between quotation marks."""
    shown = "», «".join([form for form, _, _ in found[:limit]])
    return f"«{shown}»" if len(found) <= limit else f"«{shown}» and {len(found) - limit} more"


def number(n: int, thing: str) -> str:
    """«1 word», «2 words»."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def spans_of(content: str, forms: Sequence[str], indices: Sequence[int]) -> list[Word]:
    """Those of the orthographic words `forms` of `content` that have these indices, with positions."""
    wanted = set(indices)
    spans: list[Word] = []
    position = 0
    for index, form in enumerate(forms):
        start = content.index(form, position)
        position = start + len(form)
        if index in wanted:
            spans.append(_new_word(Word, (form, start, position)))
    return spans


_new_word = tuple.__new__  # a third of the time that Word(…) takes, where thousands are made a second
