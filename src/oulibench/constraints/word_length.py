"""Sentences of exactly N words."""

from __future__ import annotations

from typing import Any

from oulibench.constraints.base import Judgement
from oulibench.constraints.length import LengthConstraint
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.text import graphic_words, words


class WordLength(LengthConstraint):
    """The text has as many words as asked, under the counting policy `words`; punctuation never counts but under
    `profiling`, which counts as Profiling-UD does.
    """

    name = "word_length"
    version = 1
    policies = ("words",)
    noun = "word"

    def _template_values(self, target: int) -> dict[str, Any]:
        return {"target": target, "words": "1 parola" if target == 1 else f"{target} parole"}

    def _prompt_name(self, policy: Policy) -> str:
        return self.name if policy.words == DEFAULT_POLICY.words else f"{self.name}_{policy.words}"

    def parses(self, policy: Policy = DEFAULT_POLICY) -> bool:
        return policy.words in ("syntactic", "profiling")

    def _count(self, content: str, policy: Policy) -> int:
        if policy.words == "orthographic":
            return len(words(content))
        if policy.words == "graphic":
            return len(graphic_words(content))
        from oulibench.syntax import analyse, count_parsed_words  # loads the parser's runtime

        return count_parsed_words(analyse(content, policy.parser), policy.words)

    def _judge_wordless(self, content: str) -> Judgement:
        return super()._judge_wordless(content)._replace(measured=0)

    def _components(self, policy: Policy) -> dict[str, str]:
        if not self.parses(policy):
            return {}
        from oulibench.syntax import parser_signature

        return {"parser": parser_signature(policy.parser)}
