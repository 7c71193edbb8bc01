"""Sentences of exactly N characters, spaces and punctuation not counted."""

from __future__ import annotations

from typing import Any

from oulibench.constraints.base import Constraint, Judgement, number, parse_count, ratio
from oulibench.policy import Policy
from oulibench.text import count_characters


class CharLength(Constraint[int]):
    """The text has as many letters and digits as asked; an accented letter is one character."""

    name = "char_length"
    family = "quantitative"
    version = 1
    few_shot = True

    def parse_target(self, target: object) -> int:
        return parse_count(self.name, target)

    def _template_values(self, target: int) -> dict[str, Any]:
        return {"target": target, "characters": "1 carattere" if target == 1 else f"{target} caratteri"}

    def _judge(self, content: str, target: int, policy: Policy) -> Judgement:
        found = count_characters(content)
        if found == target:
            return Judgement(True, 1.0, found, f"It has {number(found, 'character')}, as asked.")
        return Judgement(
            False, ratio(found, target), found, f"It has {number(found, 'character')}, {target} were asked for."
        )

    def _judge_wordless(self, content: str) -> Judgement:
        return super()._judge_wordless(content)._replace(measured=count_characters(content))
