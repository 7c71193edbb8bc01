"""Tables as text: terminal, Markdown, CSV, LaTeX. What comes from models or users stays text in each of them."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

Line = Sequence[str]

# Control, format and line-separating characters: they can rewrite a terminal or break a row.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def one_line(text: str) -> str:
    """`text` without line ends, control, invisible and direction-changing characters."""
    return _UNPRINTABLE.sub(" ", text)


def plain_table(header: Line, lines: Sequence[Line]) -> str:
    """For a terminal: columns aligned, numbers to the right, no escape sequences from the data."""
    rows = [[one_line(cell) for cell in line] for line in (header, *lines)]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(header))]
    right = [_is_numeric([row[i] for row in rows[1:]]) for i in range(len(header))]
    shown = ["  ".join(_pad(c, w, r) for c, w, r in zip(row, widths, right, strict=True)).rstrip() for row in rows]
    return "\n".join([shown[0], "  ".join("-" * w for w in widths), *shown[1:]])


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text: str, width: int, right: bool) -> str:
    filling = " " * (width - _width(text))
    return filling + text if right else text + filling


_NUMBER = re.compile(r"[-−+]?[\d.,]+%?|–|")


def _is_numeric(column: Sequence[str]) -> bool:
    return bool(column) and all(_NUMBER.fullmatch(cell) for cell in column)


def markdown_table(header: Line, lines: Sequence[Line]) -> str:
    """A pipe table; text that would be markup is escaped."""
    rows = [
        [_bold(cell) if isinstance(cell, Bold) else markdown_escape(cell) for cell in line] for line in (header, *lines)
    ]
    right = [_is_numeric([line[i] for line in lines]) for i in range(len(header))]
    rule = ["--:" if r else "---" for r in right]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:])) + "\n"


class Bold(str):
    """A cell to be set in bold."""

    __slots__ = ()


def _bold(cell: str) -> str:
    return f"**{markdown_escape(cell)}**"


_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#!|~<>&])")


def markdown_escape(text: str) -> str:
    """`text` so that Markdown (and the HTML in it) shows it as it is."""
    return _MARKDOWN.sub(r"\\\1", one_line(text)).replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")


def csv_table(header: Line, lines: Sequence[Sequence[Any]]) -> str:
    """CSV (RFC 4180, line feeds). Text that a spreadsheet would run as a formula gets an apostrophe before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_safe(cell) for cell in header])
    writer.writerows([[csv_safe(cell) for cell in line] for line in lines])
    return out.getvalue()


def csv_safe(cell: object) -> object:
    """`cell`; text that begins like a formula is defused (OWASP's advice on CSV injection). Numbers stay numbers."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return cell
    # A lone carriage return would end the row: Python's writer does not quote it.
    text = cell.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")
    return "'" + text if text.lstrip(" \ufeff\u200b")[:1] in ("=", "+", "-", "@", "\t", "\n", "|", "＝") else text


_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "ρ": r"$\rho$",
    "−": r"$-$",
    "–": "--",
    "†": r"\textsuperscript{\dag}",
    "°": r"\textsuperscript{\textdegree}",
    "«": r"\guillemotleft{}",
    "»": r"\guillemotright{}",
}


def latex_escape(text: str) -> str:
    """`text` so that LaTeX sets it as it is. Letters beyond Latin need a font that has them."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))
