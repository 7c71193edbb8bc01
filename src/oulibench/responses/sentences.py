"""Running text into sentences."""

from __future__ import annotations

import re

from oulibench.responses.patterns import Patterns

# The look-behind keeps a long run of stops from being tried at each of its positions.
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"»”'’)\]]*+(?=[ \n])")
_DEPTH = re.compile(r"[«»“”()\[\]]")
_OPENING = "«“([„"
_CLOSING = "»”)]"
_APART = " \n/|•·"
"""What some models put between sentences."""
_LAST_WORD = re.compile(r"[^\s(«\"“']+$")


def split_sentences(text: str, patterns: Patterns) -> list[str]:
    """The sentences of normalised running `text`.

    A sentence ends with a stop, an exclamation or a question mark, or an ellipsis, before white space and something
    that can begin a sentence. No sentence ends after an abbreviation or an initial, inside brackets or guillemets, or
    before a lower-case letter («Vieni?» chiese Marco).
    """
    sentences: list[str] = []
    start = 0
    depth = 0
    seen = 0
    quotes_pair = text.count('"') % 2 == 0
    balanced = all(text.count(o) == text.count(c) for o, c in ("«»", "“”", "()", "[]"))
    straight = 0
    for stop in _STOP.finditer(text):
        end = stop.end()
        if balanced:
            for mark in _DEPTH.finditer(text, seen, end):
                depth = max(0, depth + (1 if mark.group() in _OPENING else -1))
        if quotes_pair:
            straight += text.count('"', seen, end)
        seen = end
        if (balanced and depth) or (quotes_pair and straight % 2):
            continue
        rest = text[end : end + 12].lstrip()
        if not rest or not _can_begin(rest):
            continue
        if stop.group() == "." and _is_abbreviation(text[max(start, stop.start() - 30) : stop.start()], rest, patterns):
            continue
        sentences.append(text[start:end].strip(_APART))
        start = end
    sentences.append(text[start:].strip(_APART))
    return [s for s in sentences if s]


def _can_begin(rest: str) -> bool:
    first = rest.lstrip("\"«“„'([¿¡*_-–— ")[:1]
    return bool(first) and not first.islower()


def _is_abbreviation(before: str, rest: str, patterns: Patterns) -> bool:
    found = _LAST_WORD.search(before)
    if not found:
        return False
    word = found.group()
    bare = word.rsplit("'", 1)[-1]
    if len(bare) == 1 and bare.isupper():
        return True  # an initial: «G. Verdi»
    lowered = word.lower()
    if lowered in patterns.abbreviations or bare.lower() in patterns.abbreviations:
        return True
    return "." in word and len(word.rsplit(".", 1)[-1]) <= 2 and rest[:1].isdigit()
