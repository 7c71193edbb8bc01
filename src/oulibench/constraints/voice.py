"""Sentences in the active, the passive, or the reflexive (middle) voice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oulibench.constraints.syntactic import ClauseReading, SyntacticConstraint

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence


class Voice(SyntacticConstraint):
    """The main clause of every sentence is in the voice asked for (see `oulibench.syntax.voice` for the rules)."""

    name = "voice"
    version = 1
    values = ("active", "passive", "reflexive")
    noun = "voice"

    def _read(self, sentence: Sentence) -> ClauseReading:
        from oulibench.syntax.voice import read_voice

        reading = read_voice(sentence)
        return ClauseReading(reading.voice, reading.predicate, f"{reading.kind}, {reading.decided_by}")
