"""Sentences, tokens and syntactic words of running Italian text, as the treebank ISDT divides them.

Rules and a lexicon decide; what Italian writes is in data/it/parser/tokens.toml. Every token keeps its place in the
text. All steps take time linear in the text.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from oulibench.syntax.lemmas import Lemmatiser, plain


@dataclass(frozen=True, slots=True)
class Surface:
    """A token as it stands in the text, and the syntactic words it holds: nearly always one, its own form."""

    form: str
    start: int
    end: int
    words: tuple[str, ...]


_IGNORED = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MARKS = "\u0300-\u036f"
_L = rf"(?:[^\W_]|[{_MARKS}{_IGNORED}])"
_A = "['’ʼ′‘]"
_PICTURE = "\U0001f1e6-\U0001faff\u2600-\u27bf\u2b00-\u2bff"
_TOKEN = re.compile(
    rf"""
      (?P<url>(?:https?://|www\.)[^\s<>"«»]+)
    | (?P<mail>[\w.+-]{{1,64}}@[\w-]{{1,64}}+(?:\.[\w-]{{1,64}}+){{1,8}})
    | (?P<tag>[@\#][^\W\d]\w*)
    | (?P<number>\d++(?:[.,:/]\d++){{1,12}}+(?!\w) | \d++[ºª°]?(?!\w))
    | (?P<acronym>(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w.]))?)
    | (?P<year>{_A}\d\d(?!\w))
    | (?P<aphaeresis>(?<!\w){_A}(?:ndr[aà]nghet\w+|st[oaie]|na|nu|un)(?!\w))
    | (?P<word>(?:{_L}|_)+(?:{_A}s(?!\w)|{_A}(?={_L})|{_A})?)
    | (?P<dots>\.{{2,}}|…)
    | (?P<dashes>-{{2,}})
    | (?P<picture>[{_PICTURE}](?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[{_PICTURE}])*)
    | (?P<mark>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HYPHENATED = re.compile(rf"{_L}++(?:-{_L}++){{1,3}}+")
_BLANK = re.compile(rf"[\s{_IGNORED}\ufe0e\ufe0f]*")
_ENDS = {".", "!", "?", "...", "…", ".."}
_CLOSERS = {'"', "”", "»", ")", "]", "'", "’", "}", "›"}
_OPENERS = {"«", "“", "(", "[", "„", "‹", "—", "–", "-", '"', "'", "‘", "*", "•", "¿", "¡"}
_WRAPPED_LINE = 60

_SINGLE = ("gli", "mi", "ti", "si", "ci", "vi", "lo", "la", "li", "le", "ne")
_DOUBLE = re.compile(r"(.+?)(glie|me|te|se|ce|ve)(lo|la|li|le|ne)")
_PARTITIVES = {"dei", "degli", "delle"}


@cache
def _data() -> Mapping[str, Any]:
    path = resources.files("oulibench") / "data" / "it" / "parser" / "tokens.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


class Tokenizer:
    """Divides text; the lexicon tells verbs with clitics from other words."""

    def __init__(self, lexicon: Lemmatiser) -> None:
        data = _data()
        self._lexicon = lexicon
        self._contractions: Mapping[str, list[str]] = data["contractions"]
        self._not_after = {form: frozenset(words) for form, words in data["after"].items()}
        words = data["words"]
        self._apocopes = frozenset(words["apocopes"])
        self._elided = frozenset(words["elided"])
        self._hyphenated = frozenset(words["hyphenated"])
        self._abbreviations = frozenset(words["abbreviations"])
        self._closing = frozenset(words["closing"])
        self._monosyllables: Mapping[str, list[str]] = data["monosyllables"]
        self._clitics = lru_cache(maxsize=50_000)(self._verb_and_clitics)

    def sentences(self, text: str) -> list[list[Surface]]:
        """The sentences of a text, each its tokens; offsets count from the beginning of the text."""
        found: list[list[Surface]] = []
        spans = list(self._spans(text))
        begin = 0
        for end in self._boundaries(text, spans):
            found.append(self._surface(text, spans[begin:end]))
            begin = end
        return found

    def words(self, text: str) -> list[Surface]:
        """The tokens of a text that is one sentence."""
        return self._surface(text, list(self._spans(text)))

    # Tokens

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        at = 0
        while True:
            blank = _BLANK.match(text, at)
            at = blank.end() if blank else at
            if at >= len(text):
                return
            match = _TOKEN.match(text, at)
            assert match is not None  # noqa: S101  the last alternative takes any mark
            end = match.end()
            kind = match.lastgroup
            if kind == "url":
                while end - 1 > at and text[end - 1] in ".,;:!?)'\"”»…":
                    end -= 1
            elif kind == "word":
                end = self._word_end(text, at, end)
            elif kind == "acronym" and text[end - 1] == "." and end - at == 2:
                end -= 1
            yield at, end
            at = end

    def _word_end(self, text: str, start: int, end: int) -> int:
        """Where a word really ends: with its apostrophe, its full stop, its hyphen, or without."""
        word = text[start:end]
        if word[-1] in "'’ʼ′‘":
            following = text[end : end + 1]
            if following and (following.isalnum() or following in '"“«‘'):
                return end
            spelled = plain(word).replace("‘", "'")
            return end if spelled in self._apocopes or spelled in self._elided else end - 1
        if text[end : end + 1] == ".":
            if plain(word) + "." in self._abbreviations and not self._ends_text(text, end + 1):
                return end + 1
            initial = len(word) == 1 and word.isupper() and text[end + 1 : end + 2].isspace()
            if initial and self._capital_after(text, end + 1):
                return end + 1
        if text[end : end + 1] == "-":
            match = _HYPHENATED.match(text, start)
            if match:
                whole = match.group()
                code = any(c.isdigit() for c in whole) and whole[0].isalpha() and len(word) <= 2  # A5-0104
                if code or plain(whole) in self._hyphenated:
                    return match.end()
        return end

    @staticmethod
    def _ends_text(text: str, at: int) -> bool:
        return not text[at : at + 200].strip()

    @staticmethod
    def _capital_after(text: str, at: int) -> bool:
        return text[at : at + 20].lstrip()[:1].isupper()

    # Sentences

    def _boundaries(self, text: str, spans: Sequence[tuple[int, int]]) -> Iterator[int]:
        """Positions in `spans` where a new sentence begins, and the end."""
        n = len(spans)
        i = begin = line_start = 0
        while i < n:
            start, end = spans[i]
            token = text[start:end]
            after = i + 1
            terminal = token in _ENDS and not (i == begin + 1 and text[spans[begin][0]].isdigit())  # «1. Il titolo»
            if terminal:
                while after < n and text[spans[after][0] : spans[after][1]] in _ENDS:
                    after += 1
                while after < n and spans[after][0] == spans[after - 1][1] and text[spans[after][0]] in _CLOSERS:
                    after += 1
            if after >= n:
                yield n
                return
            gap = text[spans[after - 1][1] : spans[after][0]]
            following = text[spans[after][0] : spans[after][1]]
            if "\n" in gap or "\u2028" in gap or "\u2029" in gap:
                long_line = spans[after - 1][1] - line_start >= _WRAPPED_LINE
                line_start = spans[after][0]
                paragraph = gap.count("\n") > 1 or "\u2029" in gap
                if paragraph or terminal or (not long_line and not following[:1].islower() and token not in (",", "-")):
                    yield after
                    i = begin = after
                    continue
            weak = token in ("...", "…", "..")
            if terminal and gap:
                begins = following[:1].isupper() or (not weak and (following[:1].isdigit() or following in _OPENERS))
                if following in _OPENERS and after + 1 < n:
                    inner = text[spans[after + 1][0] : spans[after + 1][1]]
                    begins = inner[:1].isupper() or inner in _OPENERS or inner[:1].isdigit()
                plain_mark = not following[0].isalnum() and following not in _OPENERS and following[0] not in ",;:)]»”"
                if begins or (plain_mark and not weak):
                    yield after
                    begin = after
            elif token.endswith(".") and plain(token) in self._closing and gap and following[:1].isupper():
                yield after
                begin = after
            i = after

    # Syntactic words

    def _surface(self, text: str, spans: Sequence[tuple[int, int]]) -> list[Surface]:
        forms = [text[a:b] for a, b in spans]
        return [
            Surface(form, a, b, self._words_of(form, i, forms))
            for i, (form, (a, b)) in enumerate(zip(forms, spans, strict=True))
        ]

    def _words_of(self, form: str, i: int, forms: Sequence[str]) -> tuple[str, ...]:
        low = plain(form)
        if len(low) < 2 or not form[0].isalpha():
            return (form,)
        previous = plain(forms[i - 1]) if i else ""
        first = not any(f[0].isalnum() for f in forms[max(0, i - 3) : i])
        named = not first and form[0].isupper() and not form.isupper()
        if low in self._contractions:
            if previous in self._not_after.get(low, ()):
                return (form,)
            following = forms[i + 1] if i + 1 < len(forms) else ""
            if named and forms[i - 1][0].isupper() and following[:1].isupper():
                return (form,)  # part of a name: Carlo Alberto Dalla Chiesa
            if not following or (low in _PARTITIVES and self._is_partitive(i, forms)):
                return (form,)
            return self._cased(form, self._contractions[low])
        if named:
            return (form,)
        if low in self._monosyllables and not (low in ("dille", "vanne") and not first):
            return self._cased(form, self._monosyllables[low])
        split = self._clitics(low, first)
        if split is None:
            return (form,)
        if len(split) == 2 and self._is_ambiguous(low) and not self._reads_as_imperative(i, forms, first):
            return (form,)
        cut: list[str] = []
        at = 0
        for part in split:
            cut.append(form[at : at + len(part)])
            at += len(part)
        return tuple(cut) if at == len(form) else (form,)

    def _is_partitive(self, i: int, forms: Sequence[str]) -> bool:
        """Whether *dei, degli, delle* is an indefinite article: no word stands before it that *di* could complete."""
        if i == 0:
            return self._verb_follows(i, forms) or len(forms) <= 4
        previous = plain(forms[i - 1])
        if previous in ("con", "per", "su", "in", "ci", "c'è", "sono", "erano", "e", "o"):
            return previous not in ("e", "o")
        if not previous[-1:].isalpha():
            return False
        known = self._lexicon.known_as(previous)
        return "V" in known and not known & {"S", "A", "B", "E"} and self._governs_object(previous)

    def _verb_follows(self, i: int, forms: Sequence[str]) -> bool:
        """Whether the noun after position i is soon followed by a verb: «Dei ragazzi giocano»."""
        return any("V" in self._lexicon.known_as(form) for form in forms[i + 2 : i + 5])

    def _governs_object(self, verb: str) -> bool:
        lemma = self._lexicon.lookup(verb, "VERB") or ""
        return lemma not in (
            "parlare",
            "essere",
            "fidare",
            "accorgere",
            "occupare",
            "trattare",
            "disporre",
            "ricordare",
            "discutere",
            "dubitare",
            "vivere",
            "morire",
            "soffrire",
            "bisognare",
            "abusare",
        )

    def _is_ambiguous(self, low: str) -> bool:
        """A participle too: *fermati* is «you stop» or «stopped»."""
        return low.endswith(("ati", "iti", "uti", "eti", "tti", "sti"))

    def _reads_as_imperative(self, i: int, forms: Sequence[str], first: bool) -> bool:
        """An imperative opens its clause, and no other finite verb governs it."""
        if not first and plain(forms[i - 1]) not in (",", "dai", "e", "allora", "su", "ora", "adesso", "non", ":"):
            return False
        rest = [plain(form) for form in forms[i + 1 : i + 12]]
        if "da" in rest[:1] or any(word in ("dal", "dalla", "dai", "dalle", "dagli", "dall'") for word in rest[:1]):
            return False
        return not any(self._lexicon.known_as(word) == {"V"} for word in rest)

    def _verb_and_clitics(self, low: str, first: bool) -> tuple[str, ...] | None:
        """A verb form and the pronouns written together with it, or None."""
        if not 5 <= len(low) <= 40 or not low.isalpha():
            return None
        known = self._lexicon.known_as(low) - {"V", "X"}
        double = _DOUBLE.fullmatch(low)
        plural = double and double[2] == "te" and self._lexicon.lookup(double[1] + "te", "VERB")  # guardate + la
        if double and not plural and not known and self._is_verb_stem(double[1], first):
            return double[1], double[2], double[3]
        for clitic in _SINGLE:
            stem = low[: -len(clitic)]
            if low.endswith(clitic) and len(stem) > 2:
                if stem.endswith("r"):
                    if self._is_infinitive(stem) and (not known or (len(stem) > 4 and self._is_full_infinitive(stem))):
                        return stem, clitic
                elif not known and self._is_verb_stem(stem, first) and self._same_verb(low, stem):
                    return stem, clitic
                if self._is_ambiguous(low) and clitic == "ti" and self._is_imperative(stem):
                    return stem, clitic
        return None

    def _is_verb_stem(self, stem: str, first: bool) -> bool:
        if stem.endswith("r"):
            return self._is_infinitive(stem)
        if stem.endswith(("ando", "endo")):
            return self._lexicon.lookup(stem, "VERB") is not None
        if stem.endswith(("ate", "ete", "ite", "iamo")):
            return self._lexicon.lookup(stem, "VERB") is not None
        if stem.endswith(("to", "ta", "ti", "te", "so", "sa", "si", "se")) and self._is_participle(stem):
            return True
        return self._is_imperative(stem)

    def _is_infinitive(self, stem: str) -> bool:
        return any(
            self._lexicon.lookup(stem + ending, "VERB") == stem + ending
            for ending in ("e", "re")
            if (stem + ending).endswith(("are", "ere", "ire", "rre"))
        )

    def _is_full_infinitive(self, stem: str) -> bool:
        """*portar(e)*, not *tra(r)(re)*: short infinitives in -rre look like other words (*trasporti*)."""
        return self._lexicon.lookup(stem + "e", "VERB") == stem + "e"

    def _same_verb(self, low: str, stem: str) -> bool:
        """Not another verb's plain form: *rimane* is of rimanere, not *rima* + *ne*."""
        whole = self._lexicon.lookup(low, "VERB")
        return whole is None or whole == self._lexicon.lookup(stem, "VERB")

    def _is_imperative(self, stem: str) -> bool:
        """Second person singular: *guarda* of guardare, *prendi* of prendere, *senti* of sentire."""
        lemma = self._lexicon.lookup(stem, "VERB")
        if lemma is None or len(stem) < 3:
            return False
        if stem.endswith("a"):
            return lemma == stem + "re"
        return stem.endswith("i") and lemma[-3:] in ("ere", "ire", "rre")

    def _is_participle(self, stem: str) -> bool:
        lemma = self._lexicon.lookup(stem, "VERB")
        return lemma is not None and lemma[-2:] == "re" and self._lexicon.lookup(stem[:-1] + "o", "VERB") == lemma

    @staticmethod
    def _cased(form: str, parts: Sequence[str]) -> tuple[str, ...]:
        """The parts in the case of the form, and with its kind of apostrophe."""
        if form.isupper() and len(form) > 2:
            return tuple(part.upper() for part in parts)
        words = list(parts)
        if form[-1] in "’ʼ′":
            words[-1] = words[-1].replace("'", form[-1])
        if form[0].isupper():
            words[0] = words[0][0].upper() + words[0][1:]
        return tuple(words)
