"""What voice and constituent order share: the main clause of each sentence, read off its parse."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from oulibench.constraints.base import Constraint, Judgement
from oulibench.constraints.lexical import lexicon_of, vet_words
from oulibench.errors import TargetError
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.syntax import analyse, parser_signature
from oulibench.text import Word

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence


class ClauseReading(NamedTuple):
    """What one sentence's main clause shows: its value (None: none can be read), the main verb, and why."""

    value: str | None
    predicate: int | None
    why: str
    flags: tuple[str, ...] = ()


class SyntacticConstraint(Constraint[str]):
    """The main clause of every sentence of the text has the value asked for.

    A text most of whose words are no Italian words has no value and does not pass (flag `not_italian`).

    `measured` is the value found; `mixed` where the sentences differ; None where none could be read.
    """

    family = "syntactic"
    few_shot = True
    values: ClassVar[tuple[str, ...]]
    noun: ClassVar[str]
    """What the value is called in a reason."""

    def parse_target(self, target: object) -> str:
        if isinstance(target, str):
            for value in self.values:
                if target.strip().lower() == value.lower():
                    return value
        raise TargetError(f"The target of {self.name} is one of {', '.join(self.values)}; not {target!r}.")

    def _template_values(self, target: str) -> dict[str, Any]:
        described = self.language.table("prompts.toml")[f"{self.name}_targets"][target]
        return {"code": target, "target": described["name"], "description": described["description"]}

    def parses(self, policy: Policy = DEFAULT_POLICY) -> bool:
        return True

    @abstractmethod
    def _read(self, sentence: Sentence) -> ClauseReading:
        """The main clause of a sentence."""

    def _judge(self, content: str, target: str, policy: Policy) -> Judgement:
        if not self._is_italian(content, policy):
            reason = "Most of its words are no Italian words: its syntax cannot be read."
            return Judgement(False, 0.0, None, reason, flags=("not_italian",))
        sentences = [s for s in analyse(content, policy.parser) if any(token.upos != "PUNCT" for token in s)]
        readings = [self._read(sentence) for sentence in sentences]
        values = {reading.value for reading in readings}
        measured = next(iter(values)) if len(values) == 1 else "mixed" if values else None
        wrong = [i for i, reading in enumerate(readings) if reading.value != target]
        flags = tuple(sorted({flag for reading in readings for flag in reading.flags}))
        if not readings:
            return Judgement(False, 0.0, None, "The text holds no sentence.")
        if not wrong:
            return Judgement(True, 1.0, measured, _sentence_case(readings[0].why), flags=flags)
        first = readings[wrong[0]]
        where = f"Sentence {wrong[0] + 1}: " if len(readings) > 1 else ""
        found = f"{first.value}, not {target}" if first.value else f"no {self.noun} can be read, {target} was asked for"
        return Judgement(
            False,
            1 - len(wrong) / len(readings),
            measured,
            _sentence_case(f"{where}{found}: {first.why}"),
            offending=[word for i in wrong if (word := _main_verb(sentences[i], readings[i])) is not None],
            flags=flags,
        )

    def _is_italian(self, content: str, policy: Policy) -> bool:
        """Whether at least half of the words are Italian or names; a parser of Italian finds an analysis for anything.

        Subject and object may well be names, so two words in three may.
        """
        return vet_words(content, policy, lexicon_of(self.language), most_names=0.67).known_share >= 0.5

    def _components(self, policy: Policy) -> dict[str, str]:
        return {"parser": parser_signature(policy.parser), "lexicon": lexicon_of(self.language).version}


def _sentence_case(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _main_verb(sentence: Sentence, reading: ClauseReading) -> Word | None:
    if reading.predicate is None:
        return None
    token = sentence.token(reading.predicate)
    start, end = token.start, token.end
    return Word(sentence.text[start:end], sentence.start + start, sentence.start + end)
