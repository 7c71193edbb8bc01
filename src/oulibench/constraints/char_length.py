"""Sentences of exactly N characters, spaces and punctuation not counted."""

from __future__ import annotations

from typing import Any

from oulibench.constraints.base import Judgement
from oulibench.constraints.length import LengthConstraint
from oulibench.policy import Policy
from oulibench.text import count_characters


class CharLength(LengthConstraint):
    """The text has as many letters and digits as asked; an accented letter is one character."""

    name = "char_length"
    version = 1
    noun = "character"

    def _template_values(self, target: int) -> dict[str, Any]:
        return {"target": target, "characters": "1 carattere" if target == 1 else f"{target} caratteri"}

    def _count(self, content: str, policy: Policy) -> int:
        return count_characters(content)

    def _judge_wordless(self, content: str) -> Judgement:
        return super()._judge_wordless(content)._replace(measured=count_characters(content))
