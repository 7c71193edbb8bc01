"""A sentence's Universal Dependencies analysis, and CoNLL-U in and out.

Columns keep the names of the format (https://universaldependencies.org/format.html). Identifiers are 1-based; head 0 is
root. Offsets count characters of `Sentence.text`; the words of a multiword token share the offsets of the token.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from oulibench.errors import DataError

UPOS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM",
    "VERB", "X",
)  # fmt: skip
_UPOS = frozenset(UPOS) | {"_"}


class ConlluError(DataError):
    """A line that is no CoNLL-U; the message names the file, the line and what is wrong."""


class LabelScores(Protocol):
    """What a parser knows about relations it did not choose (only parsers that score all of them offer it)."""

    def label_logprob(self, dependent: int, head: int, label: str) -> float:
        """Natural logarithm of P(label | dependent hangs on head); -inf for a label the parser does not know."""
        ...

    def arc_logprob(self, dependent: int, head: int) -> float:
        """Natural logarithm of P(head | dependent)."""
        ...

    def selection(self, noun: int, verb: int) -> float | None:
        """Log-odds that `noun` is rather the subject than the object of `verb`, blind to their order; or None."""
        ...


@dataclass(frozen=True, slots=True)
class Token:
    """One syntactic word. `feats` holds its morphological features; `misc` and `deps` are raw columns ("_": empty)."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str | None
    feats: Mapping[str, str] = field(hash=False)
    head: int
    deprel: str
    start: int = 0
    end: int = 0
    misc: str = "_"
    deps: str = "_"

    @property
    def space_after(self) -> bool:
        """Whether white space follows. Of a word inside a multiword token only the token's own flag counts."""
        return _space_after(self.misc)

    @property
    def relation(self) -> str:
        """The universal part of the relation: `nsubj` of `nsubj:pass`."""
        return self.deprel.partition(":")[0]

    def has(self, **feats: str) -> bool:
        """Whether every feature named has the value given: `token.has(Person="3", Number="Sing")`."""
        return all(self.feats.get(name) == value for name, value in feats.items())


@dataclass(frozen=True, slots=True)
class MultiwordToken:
    """One surface token that holds the words `first` to `last`: *della* = di + la, *dammelo* = da + me + lo."""

    first: int
    last: int
    form: str
    start: int = 0
    end: int = 0
    misc: str = "_"

    @property
    def space_after(self) -> bool:
        return _space_after(self.misc)


@dataclass(frozen=True, slots=True)
class EmptyNode:
    """An empty node of the enhanced graph (8.1), kept as it stood; `after` is the id of the word it follows."""

    after: int
    line: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its basic dependency tree. `tokens[i]` is the word with id i + 1.

    `start` is the sentence's offset in the text it was split from. `comments` holds the comment lines but `# text`,
    without their newline. `scores` is what the parser offers beyond its tree, or None; it takes no part in equality.
    """

    text: str
    tokens: tuple[Token, ...]
    multiword: tuple[MultiwordToken, ...] = ()
    comments: tuple[str, ...] = ()
    empty: tuple[EmptyNode, ...] = ()
    start: int = 0
    scores: LabelScores | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    def token(self, id: int) -> Token:
        """The word with this identifier; IndexError for 0 (the root is no word) and beyond the last."""
        if not 1 <= id <= len(self.tokens):
            raise IndexError(f"no word {id} in a sentence of {len(self.tokens)} words")
        return self.tokens[id - 1]

    @property
    def root(self) -> Token:
        """The word whose head is 0; ValueError for a sentence without words."""
        for token in self.tokens:
            if token.head == 0:
                return token
        raise ValueError("a sentence without words has no root")

    @property
    def sent_id(self) -> str | None:
        for comment in self.comments:
            name, equals, value = comment.lstrip("# ").partition("=")
            if equals and name.strip() == "sent_id":
                return value.strip()
        return None

    def head(self, token: Token) -> Token | None:
        """The word `token` hangs on; None for the root."""
        return self.tokens[token.head - 1] if token.head else None

    def children(self, id: int, *relations: str) -> tuple[Token, ...]:
        """The words that hang on word `id` (0: the root), in order; only those with one of `relations` when given.

        A relation without a subtype takes its subtypes along: `nsubj` finds `nsubj:pass`; `nsubj:pass` only itself.
        """
        found = (token for token in self.tokens if token.head == id)
        if not relations:
            return tuple(found)
        return tuple(token for token in found if token.deprel in relations or token.relation in relations)

    def subtree(self, id: int) -> tuple[Token, ...]:
        """Word `id` and all that hangs on it, directly or not, in order."""
        below: dict[int, list[int]] = {}
        for token in self.tokens:
            below.setdefault(token.head, []).append(token.id)
        found, pending = {id}, [id]
        while pending:
            for child in below.get(pending.pop(), ()):
                if child not in found:
                    found.add(child)
                    pending.append(child)
        return tuple(token for token in self.tokens if token.id in found)

    def surface(self) -> Iterator[Token | MultiwordToken]:
        """The surface tokens in order: a multiword token stands for its words."""
        ranges = {token.first: token for token in self.multiword}
        last = 0
        for token in self.tokens:
            if token.id in ranges:
                last = ranges[token.id].last
                yield ranges[token.id]
            elif token.id > last:
                yield token


def to_conllu(sentence: Sentence) -> str:
    """The sentence as a CoNLL-U block, with the blank line that ends it."""
    lines = list(sentence.comments)
    text_at = next((i + 1 for i, comment in enumerate(lines) if "sent_id" in comment), len(lines))
    lines.insert(text_at, f"# text = {_one_line(sentence.text)}")
    ranges = {token.first: token for token in sentence.multiword}
    empty: dict[int, list[str]] = {}
    for node in sentence.empty:
        empty.setdefault(node.after, []).append(node.line)
    lines += empty.get(0, [])
    for token in sentence.tokens:
        if token.id in ranges:
            span = ranges[token.id]
            lines.append(f"{span.first}-{span.last}\t{span.form}" + "\t_" * 7 + f"\t{span.misc}")
        feats = "|".join(f"{name}={value}" for name, value in sorted(token.feats.items(), key=_feature_order)) or "_"
        row = (
            str(token.id), token.form, token.lemma, token.upos, token.xpos or "_", feats, str(token.head), token.deprel,
            token.deps, token.misc,
        )  # fmt: skip
        lines.append("\t".join(row))
        lines += empty.get(token.id, [])
    return "\n".join(lines) + "\n\n"


def read_conllu(source: Path | str | Iterable[str], name: str | None = None) -> Iterator[Sentence]:
    """The sentences of a file (a `Path`), of CoNLL-U text (a `str`) or of lines; `name` stands for a file in errors.

    Raises ConlluError with file and line for anything the format forbids: a wrong number of columns, identifiers out of
    sequence, a head that does not exist, no root or several, a cycle.
    """
    if isinstance(source, Path):
        with source.open(encoding="utf-8", newline="\n") as lines:
            yield from _read(lines, name or str(source))
        return
    yield from _read(source.split("\n") if isinstance(source, str) else source, name or "CoNLL-U")


def _read(lines: Iterable[str], name: str) -> Iterator[Sentence]:
    block: list[tuple[int, str]] = []
    number = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        if line.strip(" "):
            block.append((number, line))
        elif block:
            yield _sentence(block, name)
            block = []
    if block:
        yield _sentence(block, name)


def _sentence(block: list[tuple[int, str]], name: str) -> Sentence:
    comments: list[str] = []
    text: str | None = None
    rows: list[tuple[int, list[str]]] = []
    ranges: list[tuple[int, list[str], int, int]] = []
    empty: list[EmptyNode] = []
    for number, line in block:
        if line.startswith("#"):
            if rows:
                raise _error(name, number, "a comment may only stand before the words of a sentence")
            key, equals, value = line[1:].partition("=")
            if equals and key.strip() == "text" and text is None:
                text = value.strip()
            else:
                comments.append(line)
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            raise _error(name, number, f"{len(columns)} columns separated by tabs instead of 10")
        identifier = columns[0]
        if "." in identifier:
            empty.append(EmptyNode(len(rows), line))
        elif "-" in identifier:
            first, _, last = identifier.partition("-")
            if not (_is_number(first) and _is_number(last)) or int(first) != len(rows) + 1 or int(last) <= int(first):
                raise _error(name, number, f"the range {identifier} does not begin at the next word")
            if ranges and ranges[-1][3] >= int(first):
                raise _error(name, number, f"the range {identifier} overlaps the one before")
            ranges.append((number, columns, int(first), int(last)))
        elif not _is_number(identifier) or int(identifier) != len(rows) + 1:
            raise _error(name, number, f"the identifier {identifier!r} where {len(rows) + 1} was due")
        else:
            rows.append((number, columns))
    if not rows:
        raise _error(name, block[0][0], "a sentence without words")
    for number, columns, _, last_word in ranges:
        if last_word > len(rows):
            raise _error(name, number, f"the range {columns[0]} goes beyond the last word, {len(rows)}")
    _check_tree(rows, name)

    surface = {first: (columns[1], columns[9], last) for _, columns, first, last in ranges}
    offsets, built = _offsets(rows, surface, text)
    tokens = tuple(
        Token(
            id=i,
            form=columns[1],
            lemma=columns[2],
            upos=columns[3],
            xpos=None if columns[4] == "_" else columns[4],
            feats=_features(columns[5], name, number),
            head=int(columns[6]),
            deprel=columns[7],
            start=offsets[i][0],
            end=offsets[i][1],
            misc=columns[9],
            deps=columns[8],
        )
        for i, (number, columns) in enumerate(rows, 1)
    )
    multiword = tuple(
        MultiwordToken(first, last, columns[1], *offsets[first], misc=columns[9]) for _, columns, first, last in ranges
    )
    return Sentence(built if text is None else text, tokens, multiword, tuple(comments), tuple(empty))


def _check_tree(rows: list[tuple[int, list[str]]], name: str) -> None:
    heads = [0]
    for i, (number, columns) in enumerate(rows, 1):
        for column, value in zip(("form", "lemma", "upos", "xpos", "feats"), columns[1:6], strict=True):
            if not value:
                raise _error(name, number, f"the column {column} is empty (write _ for nothing)")
        if columns[3] not in _UPOS:
            raise _error(name, number, f"{columns[3]!r} is no universal part of speech")
        if not _is_number(columns[6]) or int(columns[6]) > len(rows) or int(columns[6]) == i:
            raise _error(name, number, f"the head {columns[6]!r} is neither another word (1 to {len(rows)}) nor 0")
        heads.append(int(columns[6]))
    roots = heads[1:].count(0)
    if roots != 1:
        raise _error(name, rows[0][0], f"{roots} words have head 0, one must")
    reached = [False] * len(heads)
    reached[0] = True
    for start in range(1, len(heads)):
        path = []
        at = start
        while not reached[at]:
            reached[at] = True
            path.append(at)
            at = heads[at]
        if at in path:
            raise _error(name, rows[at - 1][0], f"the heads from word {at} run in a circle")


def _offsets(
    rows: list[tuple[int, list[str]]], surface: Mapping[int, tuple[str, str, int]], text: str | None
) -> tuple[dict[int, tuple[int, int]], str]:
    """The offsets of each word, and the text rebuilt from forms and SpaceAfter."""
    offsets: dict[int, tuple[int, int]] = {}
    built: list[str] = []
    length = at = word = 0
    aligned = text is not None
    spans: list[tuple[int, int, int, int]] = []
    while word < len(rows):
        form, misc = rows[word][1][1], rows[word][1][9]
        last = word + 1
        if word + 1 in surface:
            form, misc, last = surface[word + 1]
        spans.append((word + 1, last, length, length + len(form)))
        if aligned and text is not None:
            found = text.find(form, at)
            if found < 0 or text[at:found].strip():
                aligned = False
            else:
                at = found + len(form)
                spans[-1] = (word + 1, last, found, at)
        built.append(form)
        length += len(form)
        if _space_after(misc) and last < len(rows):
            built.append(" ")
            length += 1
        word = last
    if text is not None and not aligned:  # the text comment disagrees with the forms: offsets by the forms alone
        return _offsets(rows, surface, None)
    for first, last, start, end in spans:
        for i in range(first, last + 1):
            offsets[i] = (start, end)
    return offsets, "".join(built)


def _features(column: str, name: str, number: int) -> dict[str, str]:
    if column == "_":
        return {}
    feats: dict[str, str] = {}
    for pair in column.split("|"):
        key, equals, value = pair.partition("=")
        if not (key and equals and value) or key in feats:
            raise _error(name, number, f"the features {column!r} are no list of Name=Value pairs, each name once")
        feats[key] = value
    return feats


def _feature_order(pair: tuple[str, str]) -> str:
    return pair[0].lower()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _space_after(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _error(name: str, number: int, what: str) -> ConlluError:
    return ConlluError(f"{name}:{number}: {what}")
