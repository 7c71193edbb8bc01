"""What a check answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from oulibench.text import Word

Measured = int | str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One text against one constraint.

    Attributes:
        passed: the constraint is satisfied, all of it. Success rates count this.
        score: partial credit in [0, 1]; 1 exactly when `passed`.
        measured: what was found where the target says what was asked: a number of words or characters, a voice, an
            order, the initials, the letters; for letter constraints the number of offending words. None where nothing
            could be measured.
        formal: the letters alone fit, before lexicon, shortcuts and gates are looked at.
        violations: the offending words, in order; `text[start:end]` covers each in the text as it was given.
        reason: one sentence for a person.
        flags: named observations, in alphabetical order (`word_shuffle`, `names`, `degenerate`, …).
        signature: what decided: task and its version, policies, tokenizer, lexicon, parser, package version.
    """

    passed: bool
    score: float
    measured: Measured
    formal: bool
    violations: tuple[Word, ...]
    reason: str
    flags: tuple[str, ...]
    signature: str

    def fields(self) -> dict[str, Any]:
        """The verdict as JSON-ready fields of a row, in a fixed order."""
        return {
            "passed": self.passed,
            "score": round(self.score, 6),
            "measured": self.measured,
            "formal": self.formal,
            "violations": [{"word": v.form, "start": v.start, "end": v.end} for v in self.violations],
            "reason": self.reason,
            "flags": list(self.flags),
            "signature": self.signature,
        }


FIELDS: Final = ("passed", "score", "measured", "formal", "violations", "reason", "flags", "signature")
"""The names that a verdict adds to a row."""
