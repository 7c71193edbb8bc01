"""Sentences with a given order of subject, verb and object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oulibench.constraints.syntactic import ClauseReading, SyntacticConstraint

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence


class WordOrder(SyntacticConstraint):
    """The main clause of every sentence has an expressed subject and object in the order asked for (see
    `oulibench.syntax.order` for the rules).
    """

    name = "word_order"
    version = 1
    values = ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")
    noun = "order"

    def _read(self, sentence: Sentence) -> ClauseReading:
        from oulibench.syntax.order import read_order

        reading = read_order(sentence)
        why = reading.reason or reading.decided_by
        return ClauseReading(reading.order, reading.verb, "; ".join((why, *reading.notes)))
