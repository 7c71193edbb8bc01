"""The Italian and English wording that surrounds sentences in an answer, out of `data/it/responses`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled forms of `patterns.toml` and `words.toml`; what each is for stands in those files."""

    preamble: re.Pattern[str]
    preamble_before_text: re.Pattern[str]
    closing: re.Pattern[str]
    refusal: re.Pattern[str]
    apology: re.Pattern[str]
    about_request: re.Pattern[str]
    but_here: re.Pattern[str]
    numbered_label: re.Pattern[str]
    label: re.Pattern[str]
    explanation: re.Pattern[str]
    explanation_after_sentence: re.Pattern[str]
    gloss: re.Pattern[str]
    anagram_sentence: re.Pattern[str]
    text_fields: tuple[re.Pattern[str], ...]
    other_field: re.Pattern[str]
    english: frozenset[str]
    italian: frozenset[str]
    abbreviations: frozenset[str]
    apocope: frozenset[str]
    aphaeresis: frozenset[str]

    def is_english(self, text: str) -> bool:
        """Whether common words show `text` to be English rather than Italian (short texts often show nothing)."""
        found = re.findall(r"[^\W\d_]+'?", text[:600].lower())
        english = sum(w.rstrip("'") in self.english for w in found)
        return english > 2 * sum(w in self.italian for w in found)


@cache
def load(language: str = "it") -> Patterns:
    """The patterns for answers to prompts in `language`."""
    folder = files("oulibench").joinpath("data", language, "responses")
    raw: dict[str, list[str]] = tomllib.loads(folder.joinpath("patterns.toml").read_text("utf-8"))
    lists: dict[str, str] = tomllib.loads(folder.joinpath("words.toml").read_text("utf-8"))
    named = {key: "(?:" + "|".join(raw[key]) + ")" for key in ("meta", "yes")}

    def any_of(key: str) -> str:
        joined = "|".join(f"(?:{p})" for p in raw[key])
        return "(?:" + joined.replace("{meta}", named["meta"]).replace("{yes}", named["yes"]) + ")"

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    def words(key: str) -> frozenset[str]:
        return frozenset(lists[key].split())

    label, ordinal = any_of("label"), any_of("ordinal")
    return Patterns(
        preamble=compiled(any_of("preamble")),
        preamble_before_text=compiled(any_of("preamble_before_text")),
        closing=compiled(any_of("closing_line")),
        refusal=compiled(any_of("refusal")),
        apology=compiled(any_of("apology")),
        about_request=compiled(any_of("about_request")),
        but_here=compiled(any_of("but_here")),
        numbered_label=compiled(
            rf"(?:{label}[ ]?(?:n\.?°?|n[°º]\.?|nr\.?|num\.?|numero|number|no\.|\#)?[ ]?\(?(?P<number>\d{{1,4}})\)?"
            rf"|(?P<ordinal>{ordinal})[ ]{label}|(?P<ordinal_number>\d{{1,3}})[ªº°a][ ]{label})(?!\w)"
        ),
        label=compiled(rf"{label}[ ]?:[ ]{{0,3}}(?=\S)"),
        explanation=compiled(rf"[\"«“(\[]?{any_of('explanation')}[ ]?(?:\([^()]{{0,60}}\)[ ]?)?:"),
        explanation_after_sentence=compiled(
            rf"(?<=[.!?…»\"”])[ ][(\[]?(?:{any_of('explanation_after_sentence')})[ ]?:"
        ),
        gloss=compiled(any_of("gloss")),
        anagram_sentence=compiled(any_of("anagram_sentence")),
        text_fields=tuple(compiled(p) for p in raw["text_field"]),
        other_field=compiled(any_of("other_field")),
        english=words("english"),
        italian=words("italian"),
        abbreviations=words("abbreviations"),
        apocope=words("apocope"),
        aphaeresis=words("aphaeresis"),
    )
