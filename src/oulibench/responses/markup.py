"""Marks of layout that are no part of a sentence: code, HTML, Markdown emphasis."""

from __future__ import annotations

import html
import re
from typing import Final

from oulibench.text import normalise

TICK: Final = "\ue000"
"""Stands for a backtick of code, so that `normalise` does not take it for an accent."""
FENCE: Final = TICK * 3

_CODE = re.compile(r"(?P<fence>```+)|(?<![^\W\d_`])`(?P<code>[^`\n]{1,1000})`(?![^\W\d_`])")
_TILDES = re.compile(r"^ {0,3}~~~~*[\w-]{0,20} *$", re.MULTILINE)


def shield_code(text: str) -> str:
    """`text` with `TICK` for each backtick that marks code; the others may be accents (E` vero)."""
    if "`" not in text:
        return text
    return _CODE.sub(lambda m: FENCE if m["fence"] else f"{TICK}{m['code']}{TICK}", text)


def fenced_blocks(text: str) -> tuple[list[str], str]:
    """The contents of the code fences of `text`, and what stands outside."""
    inside: list[str] = []
    outside: list[str] = []
    block: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip(" >")
        if bare.startswith(FENCE) and FENCE not in bare[3:]:
            if block is None:
                block = []
                if " " in bare[3:].strip():  # text right after the fence; one word there names a language
                    block.append(bare[3:])
            else:
                inside.append("\n".join(block))
                block = None
        elif block is not None and bare.endswith(FENCE):
            block.append(bare[:-3])
            inside.append("\n".join(block))
            block = None
        else:
            (outside if block is None else block).append(line)
    if block is not None:
        inside.append("\n".join(block))
    return inside, "\n".join(outside)


def without_tilde_fences(text: str) -> str:
    return _TILDES.sub(FENCE, text) if "~~~" in text else text


_BREAK = re.compile(
    r"</?(?:br|p|div|ul|ol|table|tbody|thead|h[1-6]|hr|section|body|html)(?:\s[^<>]{0,200})?\s?/?>", re.I
)
_ROW = re.compile(r"<tr(?:\s[^<>]{0,200})?>", re.I)
_CELL_END = re.compile(r"</t[dh]>", re.I)
_ENTRY = re.compile(
    r"<(?:li|frase|sentence|item|palindromo|palindrome|anagramma|anagram|acrostico|testo|text)(?:\s[^<>]{0,200})?>",
    re.I,
)
_OTHER = re.compile(
    r"</?(?:b|strong|i|em|u|s|del|span|mark|code|small|sub|sup|font|a|li|frase|frasi|sentences?|items?|list|lista"
    r"|palindrom[oie]s?|anagramm[ai]|anagrams?|acrostic[oi]|test[oi]|text|td|th|tr|pre|blockquote|center)(?:\s[^<>]{0,200})?>",
    re.I,
)
_ENTITY = re.compile(r"&(?:\#\d{1,7}|\#x[0-9a-f]{1,6}|[a-z]{2,8});", re.I)


def without_html(text: str, steps: list[str]) -> str:
    """`text` with HTML line breaks, entries and cells as plain ones, without other tags and with entities resolved."""
    before = text
    if "<" in text:
        text = _CELL_END.sub("|", _ROW.sub("\n|", text))
        text = _OTHER.sub("", _ENTRY.sub("\n• ", _BREAK.sub("\n", text)))
    if "&" in text and _ENTITY.search(text):
        text = normalise(_ENTITY.sub(lambda m: html.unescape(m.group()), text))
    if text != before:
        steps.append("HTML tags and entities read as plain text")
    return text


_ESCAPE = re.compile(r"\\(?=[*_`#.()\[\]!+>~|\"'{}-])")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|textit|mathrm|mathbf|emph)\{([^{}\n]{0,400})\}")


def without_escapes(text: str) -> str:
    """`text` less Markdown's backslashes and the LaTeX boxes that some models put round an answer."""
    for _ in range(3):
        text, found = _LATEX.subn(r"\1", text)
        if not found:
            break
    return _ESCAPE.sub("", text)


_WHOLE = re.compile(r"(\*{1,3}|_{1,3})([^\s*_~=][^*_~=]*)(?<! )\1( [^*_~=]*)?")
_RUN = re.compile(r"\*+|_+|~~|==")


def without_emphasis(text: str) -> str:
    """`text` less paired Markdown emphasis: «**S**ole» → «Sole»; a lone star («tutt*», «5 * 3») stays."""
    if whole := _WHOLE.fullmatch(text):
        return whole[2] + (whole[3] or "")
    opened: dict[str, int] = {}
    drop: set[int] = set()
    runs = [(m.start(), m.end(), m.group()) for m in _RUN.finditer(text)]
    for index, (start, end, mark) in enumerate(runs):
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        inside_word = before.isalnum() and after.isalnum()
        if mark[0] == "_" and inside_word:
            continue
        can_close = not before.isspace()
        can_open = not after.isspace()
        if mark in opened and can_close:
            first = opened.pop(mark)
            if (
                len(mark) == 1
                and mark == "*"
                and inside_word
                and " " in text[runs[first][1] : start]
                and (runs[first][0] and text[runs[first][0] - 1].isalnum())
            ):
                continue  # two gender stars («tutt*o … car*i»), no emphasis
            drop.update((first, index))
        elif can_open and not (mark == "*" and before.isalnum() and not inside_word):
            opened[mark] = index
    for mark, index in opened.items():  # an unclosed «**» is still no text
        if mark[0] == "*" and len(mark) > 1:
            drop.add(index)
    if runs and runs[-1][2][0] == "*" and len(runs[-1][2]) > 1 and runs[-1][1] == len(text):
        drop.add(len(runs) - 1)
    if not drop:
        return text
    pieces: list[str] = []
    position = 0
    for index, (start, end, _) in enumerate(runs):
        if index in drop:
            pieces.append(text[position:start])
            position = end
    pieces.append(text[position:])
    return "".join(pieces)
