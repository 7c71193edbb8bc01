"""What models write round a sentence on its own line: labels, quotation marks, counts, translations, arrows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from oulibench.responses.markup import without_emphasis, without_escapes
from oulibench.responses.patterns import Patterns
from oulibench.text import letters

Unit = Literal["sentence", "stanza"]

LONGEST_CLEANED: Final = 2_000
"""Characters. A longer entry is no sentence with a gloss; it is kept as it stands."""

ANAGRAMS: Final = frozenset({"word_anagram", "sentence_anagram"})
BRACKETS_ARE_GLOSSES: Final = ANAGRAMS | {"palindrome"}
"""No published palindrome or anagram ends in brackets; models explain theirs in them all the time."""


@dataclass(frozen=True, slots=True)
class Context:
    """What was asked, and what the entries of this answer have in common."""

    patterns: Patterns
    task: str | None
    source: str | None
    """The folded letters of the target, where it is a text (the source of an anagram, the word of an acrostic)."""
    requested: int | None
    unit: Unit
    bracketed: bool = False
    """Most entries end in brackets: what is in them is no part of the sentences."""
    dashed: bool = False
    """Most entries go on after the sentence with a dash and a capital."""


_DASH_AFTER_SENTENCE = re.compile(r"(?<=[.!?…])[»\"”]?[*_]{0,2} ?[–—-] ?(?=[*_«\"“(]{0,3}[A-ZÀ-Ý0-9])")


def habits(texts: list[str]) -> tuple[bool, bool]:
    """Whether two entries or more, and three in five, end in brackets; for a dash after the sentence, three or more."""
    if len(texts) < 2:
        return False, False
    bracketed = sum(map(_ends_in_brackets, texts))
    dashed = sum(_DASH_AFTER_SENTENCE.search(t[:2000]) is not None for t in texts if "-" in t or "–" in t or "—" in t)
    return bracketed >= 2 and bracketed * 5 >= len(texts) * 3, dashed >= 3 and dashed * 5 >= len(texts) * 3


def _ends_in_brackets(text: str) -> bool:
    bare = text[-320:].rstrip(".*_ ")
    if bare[-1:] not in (")", "]"):
        return False
    start = bare.rfind("(" if bare[-1] == ")" else "[")
    return bare[: max(start, 0)].rstrip("*_ ")[-1:] in (*_END, "»", '"', "”")


_PLAIN = re.compile(r"[^\W\d_][^:()\[\]*_~\\=→>|/\"“”«»–—✓✔✅☑❌✗✘\n]*(?<!['\s,;])")


def clean(text: str, context: Context, notes: list[str]) -> str:
    """`text` less what is no part of the sentence; each thing taken off is written into `notes`."""
    if _is_plain(text, context):
        return text
    text = text.strip()
    if len(text) > LONGEST_CLEANED:
        return text
    text = _without_marks(text, notes)
    if context.task == "acrostic":
        text = _joined_initials(text, context, notes)
    if "(1)" in text or "[1]" in text:
        text = _without_word_numbers(text, notes)
    for _ in range(4):
        before = text
        text = _without_label(text, context, notes)
        text = _without_gloss(text, context, notes)
        if context.task in ANAGRAMS:
            text = _answer_side(text, context, notes)
        if context.task == "palindrome" and (quoted := _QUOTED_HEAD.match(text)):
            notes.append(f"gloss «{_short(text[quoted.end(1) :])}»")
            text = quoted[1]
        text = unquoted(text, context.patterns, notes)
        if text == before or _is_plain(text, context):
            break
    return text


def _is_plain(text: str, context: Context) -> bool:
    """Whether there is nothing in `text` that any of the steps could take off: most sentences, at once."""
    if context.task in ANAGRAMS:
        return text.isalpha()
    return _PLAIN.fullmatch(text) is not None and " - " not in text


def _without_marks(text: str, notes: list[str]) -> str:
    before = text
    if "\\" in text:
        text = without_escapes(text)
    if "*" in text or "_" in text or "~" in text or "==" in text:
        text = without_emphasis(text).strip()
    if text != before:
        notes.append("emphasis")
    return text


# A palindrome in quotation marks, then what it is: no published palindrome goes on after a quotation.
_QUOTED_HEAD = re.compile(r"((?:\"[^\"«»]{2,300}\"|«[^«»]{2,300}»|“[^“”]{2,300}”)) ?[–—:=(-] ?(?=[^\W\d_])")


# --- labels ------------------------------------------------------------------------------------------------------


def _without_label(text: str, context: Context, notes: list[str]) -> str:
    colon = text.find(":", 0, 120)
    if colon < 0:
        return text
    label = context.patterns.label.match(text)
    if label and label.end() < len(text):
        notes.append(f"label «{label.group().strip()}»")
        return text[label.end() :]
    left, right = text[:colon].strip(" «»\"“”'*"), text[colon + 1 :].strip()
    if not right or not text[colon + 1 :].startswith((" ", "\n")):
        return text
    if context.task == "acrostic" and context.source and letters(left) == context.source:
        notes.append(f"label «{left}:»")
        return right
    if left[:1].isdigit() and not left.isdigit() and context.patterns.gloss.fullmatch(left):  # «5 parole: …»
        notes.append(f"label «{left}:»")
        return right
    return text


# --- glosses -----------------------------------------------------------------------------------------------------

_CHECKS = "✓✔✅☑❌✗✘👍"
_END = ".!?…"
_MAY_GO_ON = re.compile(r"[→⇒➜➔➡|=–—/:>]| - ")
_BETWEEN = re.compile(r" ?(?:→|⇒|➜|➔|➡|=>|->|//|\|) ?| [–—=-] |(?<=[.!?…»\"”]) ?[–—] ?|: ")


def _without_gloss(text: str, context: Context, notes: list[str]) -> str:
    for _ in range(4):
        before = text
        text = text.rstrip()
        if text[-1:] in _CHECKS and text.rstrip(_CHECKS + " "):
            text = text.rstrip(_CHECKS + " ")
            notes.append("check mark")
        if ":" in text and (explained := context.patterns.explanation_after_sentence.search(text)):
            notes.append(f"gloss «{_short(text[explained.start() :])}»")
            text = text[: explained.start()]
        text = _without_brackets(text, context, notes)
        text = _without_tail(text, context, notes)
        if text == before:
            return text
    return text


def _without_brackets(text: str, context: Context, notes: list[str]) -> str:
    bare = text.rstrip(_END + " ,;")
    if bare[-1:] in (")", "]"):
        start = _opening(bare)
        if start > 0:
            head, inner, tail = text[:start].rstrip(), bare[start + 1 : -1].strip(), text[len(bare) :].strip(" ,;")
            if letters(head) and _is_gloss(inner, head, tail, context):
                notes.append(f"gloss «{_short(bare[start:])}»")
                return head if head[-1:] in _END else head + tail
    if text[0:1] in ("(", "["):
        close = text.find(")" if text[0] == "(" else "]", 0, 60)
        inner = text[1:close].strip()
        if (
            close > 0
            and not inner.isdigit()
            and len(inner) > 1
            and text[close + 1 :].strip(_END + " ")
            and (context.patterns.gloss.fullmatch(inner))
        ):
            notes.append(f"gloss «{text[: close + 1]}»")
            return text[close + 1 :].lstrip(" :-–—")
    return text


def _opening(text: str) -> int:
    """Where the bracket opens that closes at the end of `text`; −1 where it does not."""
    close = text[-1]
    open_ = "(" if close == ")" else "["
    depth = 0
    for i in range(len(text) - 1, max(-1, len(text) - 500), -1):
        if text[i] == close:
            depth += 1
        elif text[i] == open_:
            depth -= 1
            if depth == 0:
                return i
    return -1


def _is_gloss(inner: str, head: str, tail: str, context: Context) -> bool:
    """Whether brackets hold a remark on the sentence. A sentence's own brackets come before its full stop, its
    glosses mostly after; what counts or spells is a gloss in either place."""
    patterns = context.patterns
    if context.task in BRACKETS_ARE_GLOSSES or patterns.gloss.fullmatch(inner):
        return True
    if tail or not inner:
        return not inner
    if patterns.explanation.match(inner) or (patterns.is_english(inner) and not patterns.is_english(head)):
        return True
    return context.bracketed and head.rstrip("»\"”'")[-1:] in _END


def _without_tail(text: str, context: Context, notes: list[str]) -> str:
    """Cut at a dash, an arrow or a colon where a count, a label or a translation follows."""
    if _MAY_GO_ON.search(text) is None:
        return text
    patterns = context.patterns
    for mark in islice(_BETWEEN.finditer(text, 1), 12):
        head, tail = text[: mark.start()].rstrip(), text[mark.end() :].strip()
        if not tail or not letters(head):
            continue
        inner = tail.strip("()[]*_ ")
        closed = head.rstrip("»\"”'")[-1:] in _END
        if mark.group() == ": ":
            gloss = bool(re.search(r"\d", inner)) and not inner.isdigit() and bool(patterns.gloss.fullmatch(inner))
        elif inner.strip("✓✔✅= ").isdigit():
            gloss = closed or "→" in mark.group() or "=" in mark.group() or "|" in mark.group()
        else:
            gloss = bool(
                patterns.gloss.fullmatch(inner)
                or patterns.explanation.match(inner)
                or (patterns.is_english(tail) and not patterns.is_english(head))
                or (context.dashed and closed and mark.group().strip() in ("-", "–", "—") and not inner[:1].islower())
                or (context.task == "palindrome" and "→" in mark.group() and letters(tail)[::-1] == letters(head))
            )
        if gloss:
            notes.append(f"gloss «{_short(text[mark.start() :].strip())}»")
            return head
    return text


_WORD_NUMBER = re.compile(r" ?[(\[](\d{1,2})[)\]]")


def _without_word_numbers(text: str, notes: list[str]) -> str:
    """«Il (1) gatto (2) dorme (3).» → «Il gatto dorme.»"""
    numbers = [int(m[1]) for m in _WORD_NUMBER.finditer(text)]
    if len(numbers) < 3 or numbers != list(range(1, len(numbers) + 1)):
        return text
    notes.append("numbers behind the words")
    return _WORD_NUMBER.sub("", text)


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 60 else text[:57] + "…"


# --- quotation marks ---------------------------------------------------------------------------------------------

_QUOTES = {"«": "»", "“": '”"“', "„": '“”"', '"': '"”', "‹": "›", "”": "”", "'": "'", "‟": "”", "»": "«"}


def unquoted(text: str, patterns: Patterns, notes: list[str]) -> str:
    """`text` less the quotation marks that hold the whole of it; quotations inside a sentence keep theirs."""
    bare = text.rstrip(" ,;") if text[-1:] in ",; " and text[:1] in _QUOTES else text
    closing = _QUOTES.get(bare[:1])
    if closing is None or len(bare) < 3:
        return text
    body = bare.rstrip(_END)
    end = bare[len(body) :]
    if len(body) < 3 or body[-1] not in closing:
        return text
    inner = body[1:-1]
    if bare[0] == "'":
        if not _quoted_by_apostrophes(inner, patterns):
            return text
    elif body[0] != body[-1]:
        depth = 0
        for i, c in enumerate(body):
            depth += (c == body[0]) - (c == body[-1])
            if depth == 0 and i < len(body) - 1:
                return text
    elif body[0] in inner:
        return text
    if not letters(inner):
        return text
    notes.append("quotation marks")
    inner = inner.strip()
    return inner if inner[-1:] in _END else inner + end


def _quoted_by_apostrophes(inner: str, patterns: Patterns) -> bool:
    """'Il gatto dorme.' is a quotation; «'Sta sera ne mangio un po'» is not."""
    if inner[-1:] in _END:
        return re.search(r"(?:^| )'\w", inner) is None
    first = re.match(r"[^\W\d_]*", inner)
    last = re.search(r"[^\W\d_]{0,30}$", inner)
    return not (
        (first and first.group().lower() in patterns.aphaeresis) or (last and last.group().lower() in patterns.apocope)
    )


# --- anagrams ----------------------------------------------------------------------------------------------------

_ARROW = re.compile(
    r" ?(?:-{1,3}>|={1,3}>|→|⇒|➜|➔|➡|⟶|⟹|➞|⇨|↦|↔|⇄|<->|>{1,2}|=|≡) ?| (?:diventa|becomes|si trasforma in|dà|genera) "
)
_MAY_BE_ARROW = re.compile(r"[>=→⇒➜➔➡⟶⟹➞⇨↦↔⇄≡]| (?:diventa|becomes|si trasforma|dà|genera) ")
_BACK_ARROW = re.compile(r" ?(?:<-{1,3}|<={1,3}|←|⇐) ?")
_WEAK = re.compile(r" ?: | [–—-] |, ")
_PHRASE = "«»\"“”'*_ .,;:!?…"


def _answer_side(text: str, context: Context, notes: list[str]) -> str:
    """The side of «noce → ceno» (or «noce: ceno», «ceno – dal verbo cenare») that is the answer."""
    source = context.source
    lone_word = context.task == "word_anagram"
    if back := _BACK_ARROW.search(text):
        left, right = text[: back.start()].strip(), text[back.end() :].strip()
        if letters(left) and letters(right):
            notes.append(f"left of arrow «{_short(text[back.start() :])}»")
            return left
    arrows = _ARROW.split(text, maxsplit=3) if _MAY_BE_ARROW.search(text) else []
    if len(arrows) > 1:
        parts = [p for p in arrows if letters(p)]
        if len(parts) > 1:
            left, right = parts[0].strip(), parts[1].strip()
            if source and letters(right) == source and letters(left) != source:
                notes.append(f"left of arrow «→ {_short(right)}»")
                return left
            notes.append(f"right of arrow «{_short(left)} →»")
            return right
    if weak := _WEAK.search(text, 1):
        left, right = text[: weak.start()].strip(), text[weak.end() :].strip()
        if source and letters(left) == source and letters(right):
            notes.append(f"source «{_short(left)}» before «{weak.group().strip()}»")
            return right
        explained = len(right.split()) <= 8 or weak.group() != ", "  # a long clause after a comma: prose, no gloss
        if lone_word and explained and _is_word(left) and not _is_word_list(text):
            notes.append(f"gloss «{_short(text[weak.start() :].strip())}»")
            return left
    if lone_word and " " in text:
        told = context.patterns.anagram_sentence.fullmatch(text)
        if told:
            answer = next(a for a in told.groups() if a)
            if letters(answer) != source:
                notes.append(f"the word named in «{_short(text)}»")
                return answer
    return text


def _is_word(text: str) -> bool:
    bare = text.strip(_PHRASE)
    return bool(bare) and bare.replace("-", "").isalpha()


_LIST_OF_WORDS = re.compile(r" ?[,;/] ?(?:e |o |and |or )?| (?:e|o|and|or) ")


def _is_word_list(text: str) -> bool:
    return "," in text and all(_is_word(re.sub(r" ?\([^()]{0,80}\)", "", p)) for p in _LIST_OF_WORDS.split(text) if p)


def words_of_list(text: str) -> list[str] | None:
    """The members of «ceno, cone e once»; `None` where `text` is no list of single words."""
    if not any(c in text for c in ",;/") or len(text) > LONGEST_CLEANED:
        return None
    parts = [p.strip() for p in _LIST_OF_WORDS.split(text) if p and p.strip(_PHRASE)]
    if len(parts) < 2 or not all(_is_word(re.sub(r" ?\([^()]{0,80}\)$", "", p)) for p in parts):
        return None
    return parts


# --- acrostics ---------------------------------------------------------------------------------------------------

_BRACKETED_INITIAL = re.compile(r"[(\[]([^\W\d_])[)\]](?=[^\W\d_])")
_INITIAL_AFTER = re.compile(r" ?\([^\W\d_]\)(?![^\W\d_])")
_SPELLED = re.compile(r"(?:(?<=^)|(?<=[\s,;.]))([^\W\d_])(?: ?[-–—:=→] ?| come | as in )(?=\1)", re.IGNORECASE)


def _joined_initials(text: str, context: Context, notes: list[str]) -> str:
    """«[S]ole», «Sole (S)», «S - Sole, O - Ombra» → «Sole», «Sole», «Sole, Ombra»."""
    before = text
    text = _BRACKETED_INITIAL.sub(r"\1", text)
    if len(_INITIAL_AFTER.findall(text)) > 1:
        text = _INITIAL_AFTER.sub("", text)
    if len(_SPELLED.findall(text)) > 2:
        text = _SPELLED.sub("", text)
    if text != before:
        notes.append("initials shown apart")
    return text
