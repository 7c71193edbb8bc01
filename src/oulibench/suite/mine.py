"""Demonstrations out of treebanks and plain text, as the paper took them: sentences that happen to fit a constraint.

Sentences are read one by one, so that a corpus may be larger than memory, and only the sample is kept. The sample
depends on the seed and on the sentences, not on the order of the files: of the sentences that pass, those are taken
whose hash with the seed is smallest. Equal sentences (the same letters) have the same hash: none is taken twice.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, get_args

from oulibench.constraints import AnyConstraint, get_constraint
from oulibench.errors import DataError, TextError
from oulibench.jsonl import Row, read_jsonl
from oulibench.policy import DEFAULT_POLICY, Policy
from oulibench.responses.patterns import load as load_patterns
from oulibench.responses.sentences import split_sentences
from oulibench.text import MAX_CHARACTERS, letters, normalise, without_list_mark, words

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence

Format = Literal["conllu", "lines", "running"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
Target = int | str | None
T = TypeVar("T")

_LONGEST_LINE = 4 * MAX_CHARACTERS  # bytes
_PARAGRAPH = 100_000  # characters of a paragraph after which what is complete of it is handed on
_BATCH = 256  # sentences parsed together


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence and where it stands: `source` has the `file` and the `sent_id`, or the `line` on which it (or its
    paragraph) begins. `tree` is its gold analysis where the file has one.
    """

    text: str
    source: dict[str, str | int]
    tree: Sentence | None = None


@dataclass(slots=True)
class Mined:
    """What was found.

    Attributes:
        read: sentences read.
        fit: those of a sane shape and length that are not to be left out; only these are checked.
        passing: by target, how often a sentence passed (repeated ones each time).
        rows: the sample, in the form of demonstrations with a `source`, by target and then at random.
    """

    read: int = 0
    fit: int = 0
    passing: dict[Target, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


# --- reading ---


def read_candidates(path: Path, form: Format | None = None) -> Iterator[Candidate]:
    """The sentences of a file, in order.

    Args:
        path: the file.
        form: `conllu`; `lines` (plain text: each line holds whole sentences); `running` (plain text: a sentence may run
            over lines, paragraphs end at blank ones). By default `conllu` for files called so, `lines` for others.

    Raises:
        DataError: the file cannot be read, or is not what it should be; names file and line.
    """
    form = form or form_of(path)
    if form == "conllu":
        return _of_treebank(path)
    return _of_blocks(path, _lines(path) if form == "lines" else _paragraphs(path))


def form_of(path: Path) -> Format:
    """What a file holds, by its name."""
    return "conllu" if path.suffix in (".conllu", ".conll") else "lines"


def _of_treebank(path: Path) -> Iterator[Candidate]:
    from oulibench.syntax.tree import read_conllu  # not needed for plain text

    for number, sentence in enumerate(read_conllu((line for _, line in _lines(path)), str(path)), 1):
        where: dict[str, str | int] = {"file": path.name}
        where |= {"sent_id": sentence.sent_id} if sentence.sent_id else {"sentence": number}
        yield Candidate(sentence.text, where, sentence)


def _of_blocks(path: Path, blocks: Iterable[tuple[int, str]]) -> Iterator[Candidate]:
    patterns = load_patterns()
    for number, block in blocks:
        try:
            sentences = split_sentences(normalise(block), patterns)
        except TextError as error:
            raise DataError(f"{path}:{number}: {error}") from error
        for sentence in sentences:
            yield Candidate(sentence, {"file": path.name, "line": number})


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers."""
    try:
        with path.open("rb") as source:
            number = 0
            while raw := source.readline(_LONGEST_LINE):
                number += 1
                if len(raw) == _LONGEST_LINE:
                    raise DataError(f"{path}:{number}: the line is longer than {_LONGEST_LINE:,} bytes; is this text?")
                try:
                    yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(f"{path}:{number}: the line is not UTF-8 (byte {error.start + 1} of it)") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


def _paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Paragraphs, each as one line, with the number of the line where they begin; a very long one in parts."""
    begin, length = 1, 0
    held: list[str] = []
    for number, line in _lines(path):
        if stripped := line.strip():
            if not held:
                begin = number
            held.append(stripped)
            length += len(stripped) + 1
            if length > _PARAGRAPH:
                complete, rest = _cut(" ".join(held))
                yield begin, complete
                begin, held, length = number, [rest] if rest else [], len(rest)
        elif held:
            yield begin, " ".join(held)
            held, length = [], 0
    if held:
        yield begin, " ".join(held)


def _cut(text: str) -> tuple[str, str]:
    """`text` up to its last stop, and the rest; all of it where there is none."""
    stop = max(text.rfind(mark) for mark in (". ", "! ", "? "))
    return (text[: stop + 1], text[stop + 2 :]) if stop > 0 else (text, "")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines or paragraphs of a text, with their numbers; or sentences of a treebank."""

    path: Path
    blocks: list[tuple[int, str]]
    sentences: list[Candidate]

    def candidates(self) -> Iterator[Candidate]:
        return iter(self.sentences) if self.sentences else _of_blocks(self.path, self.blocks)


def read_chunks(path: Path, form: Format | None = None) -> Iterator[Chunk]:
    """What `read_candidates` reads, in chunks that may be mined apart.

    Raises:
        DataError: the file cannot be read, or is not what it should be.
    """
    form = form or form_of(path)
    if form == "conllu":
        sentences = _of_treebank(path)
        while batch := list(islice(sentences, _CHUNK_SENTENCES)):
            yield Chunk(path, [], batch)
        return
    held: list[tuple[int, str]] = []
    size = 0
    for number, block in _lines(path) if form == "lines" else _paragraphs(path):
        held.append((number, block))
        size += len(block)
        if size >= _CHUNK_CHARACTERS:
            yield Chunk(path, held, [])
            held, size = [], 0
    if held:
        yield Chunk(path, held, [])


_CHUNK_SENTENCES: Final = 2_000
_CHUNK_CHARACTERS: Final = 400_000


def texts_to_exclude(paths: Iterable[Path]) -> set[bytes]:
    """The sentences of files, as `mine` leaves them out: rows with a `text` of `.jsonl` files, sentences of others.

    Raises:
        DataError: a file cannot be read, or a row has no text.
    """
    excluded: set[bytes] = set()
    for path in paths:
        if path.suffix == ".jsonl":
            for number, row in enumerate(read_jsonl(path), 1):
                if not isinstance(row.get("text"), str):
                    raise DataError(f"{path}: object {number} has no text to leave out.")
                excluded.add(_digest(row["text"]))
        else:
            excluded.update(_digest(candidate.text) for candidate in read_candidates(path))
    return excluded


# --- choosing ---

_BEGINNING = re.compile(r"[«“\"(]?[A-ZÀ-ÖØ-Þ0-9]")
_END = re.compile(r"[.!?…][»”\")]*\Z")
_FOREIGN = re.compile(r" [,.;:!?»)]|[@#|_\\<>{}\[\]*~^\n]|https?:|www\.|\.\.\.\.|[A-ZÀ-Þ]{2,}[ ,][A-ZÀ-Þ]{2,}")


def is_whole_sentence(text: str) -> bool:
    """Whether `text` looks like a sentence that can be shown: a capital at its beginning, a stop at its end, quotation
    marks and brackets in pairs, no list mark, nothing of a web page or a social network.
    """
    return bool(
        _BEGINNING.match(text)
        and _END.search(text)
        and not _FOREIGN.search(text)
        and text.count('"') % 2 == 0
        and all(text.count(left) == text.count(right) for left, right in ("«»", "“”", "()"))
        and without_list_mark(text) == text
    )


def mine(
    candidates: Iterable[Candidate],
    constraint: AnyConstraint,
    targets: Sequence[object],
    *,
    per_target: int = 15,
    seed: int = 0,
    length: tuple[int, int] = (3, 40),
    whole: bool = True,
    exclude: Collection[bytes] = frozenset(),
    policy: Policy = DEFAULT_POLICY,
) -> Mined:
    """A sample of the sentences that pass a task's check, for each target.

    Voice and constituent order are read off the gold tree of a sentence that has one; a parser reads the others.

    Args:
        candidates: the sentences.
        constraint: the task.
        targets: the targets.
        per_target: the largest number of sentences for a target.
        seed: what decides which are taken where more pass.
        length: the fewest and the most orthographic words of a sentence.
        whole: whether only what `is_whole_sentence` is taken.
        exclude: sentences to leave out, as `texts_to_exclude` gives them.
        policy: the conventions of the check.

    Raises:
        TargetError: a target does not fit the task.
    """
    wanted: dict[Target, _Sample[Candidate]] = {constraint.parse_target(t): _Sample(per_target) for t in targets}
    mined = Mined(passing=dict.fromkeys(wanted, 0))

    def fitting() -> Iterator[Candidate]:
        for candidate in candidates:
            mined.read += 1
            if _is_fit(candidate.text, length, whole) and _digest(candidate.text) not in exclude:
                mined.fit += 1
                yield candidate

    fit = fitting()
    while batch := list(islice(fit, _BATCH)):
        _parse_ahead(constraint, [c.text for c in batch if not _has_gold(constraint, c)], policy)
        for candidate in batch:
            passes = _judge_of(constraint, candidate, policy)
            for target, sample in wanted.items():
                if passes(target):
                    mined.passing[target] += 1
                    sample.offer(_key(candidate.text, seed, constraint.name, target), candidate)
    for target, sample in wanted.items():
        mined.rows.extend(_row(constraint.name, target, candidate) for candidate in sample.taken())
    return mined


def merge(parts: Iterable[Mined], *, per_target: int = 15, seed: int = 0) -> Mined:
    """What `mine` finds in all of the candidates, out of what it found in consecutive parts of them."""
    merged = Mined()
    samples: dict[Target, _Sample[Row]] = {}
    for part in parts:
        merged.read += part.read
        merged.fit += part.fit
        for target, passing in part.passing.items():
            merged.passing[target] = merged.passing.get(target, 0) + passing
            samples.setdefault(target, _Sample(per_target))
        for row in part.rows:
            samples[row["target"]].offer(_key(row["text"], seed, row["task"], row["target"]), row)
    for sample in samples.values():
        merged.rows.extend(sample.taken())
    return merged


@dataclass(frozen=True)
class MineWork:
    """The mining of chunks, as processes share it (see `oulibench.parallel.Work`); fields are arguments of `mine`."""

    task: str
    targets: tuple[Target, ...]
    per_target: int = 15
    seed: int = 0
    length: tuple[int, int] = (3, 40)
    whole: bool = True
    exclude: frozenset[bytes] = frozenset()
    policy: Policy = DEFAULT_POLICY

    def __call__(self, chunk: Chunk) -> Mined:
        return mine(
            chunk.candidates(),
            get_constraint(self.task),
            self.targets,
            per_target=self.per_target,
            seed=self.seed,
            length=self.length,
            whole=self.whole,
            exclude=self.exclude,
            policy=self.policy,
        )

    def merge(self, parts: Iterable[Mined]) -> Mined:
        none = Mined(passing=dict.fromkeys(self.targets, 0))
        return merge(chain((none,), parts), per_target=self.per_target, seed=self.seed)

    def halves(self, chunk: Chunk) -> tuple[Chunk, Chunk] | None:
        blocks, sentences = len(chunk.blocks) // 2, len(chunk.sentences) // 2
        if not (blocks or sentences):
            return None
        return (
            Chunk(chunk.path, chunk.blocks[:blocks], chunk.sentences[:sentences]),
            Chunk(chunk.path, chunk.blocks[blocks:], chunk.sentences[sentences:]),
        )

    def join(self, first: Mined, second: Mined) -> Mined:
        return self.merge((first, second))

    def lost(self, chunk: Chunk) -> Mined:
        where = chunk.blocks[0][0] if chunk.blocks else chunk.sentences[0].source
        raise DataError(f"{chunk.path}: {where}: the process that checked this died (out of memory?).")


class _Sample(Generic[T]):
    """The things with the smallest keys; of equal keys, what came first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._heap: list[tuple[int, int, T]] = []  # the largest key on top; the second number breaks ties
        self._keys: set[int] = set()
        self._offered = 0

    def offer(self, key: bytes, thing: T) -> None:
        number = int.from_bytes(key)
        if self.size < 1 or number in self._keys or (len(self._heap) == self.size and number > -self._heap[0][0]):
            return
        self._offered += 1
        self._keys.add(number)
        heapq.heappush(self._heap, (-number, self._offered, thing))
        if len(self._heap) > self.size:
            self._keys.discard(-heapq.heappop(self._heap)[0])

    def taken(self) -> list[T]:
        return [thing for _, _, thing in sorted(self._heap, key=lambda entry: -entry[0])]


def _key(text: str, seed: int, task: str, target: Target) -> bytes:
    """What decides whether a sentence that passes is taken: by chance, but the same wherever it is found."""
    return _digest(text, f"{seed}/{task}/{target}")


def _is_fit(text: str, length: tuple[int, int], whole: bool) -> bool:
    try:
        normal = normalise(text)
    except TextError:  # damaged text is no example
        return False
    if whole and not is_whole_sentence(normal):
        return False
    return length[0] <= len(words(normal)) <= length[1]


def _digest(text: str, salt: str = "") -> bytes:
    try:
        read = letters(normalise(text))
    except TextError:
        read = repr(text)
    return blake2b(f"{salt}\x1f{read}".encode(), digest_size=12).digest()


# What reads the value of a task off a tree, for the tasks that trees decide.
def _voice(tree: Sentence) -> str | None:
    from oulibench.syntax.voice import read_voice

    return read_voice(tree).voice


def _order(tree: Sentence) -> str | None:
    from oulibench.syntax.order import Weights, read_order

    # The relations of a gold tree are no evidence to be weighed up: they decide, but for case and agreement.
    return read_order(tree, weights=Weights(assigned=100.0)).order


_READ_OFF_TREE: Final[dict[str, Callable[[Sentence], str | None]]] = {"voice": _voice, "word_order": _order}


def _has_gold(constraint: AnyConstraint, candidate: Candidate) -> bool:
    return candidate.tree is not None and constraint.name in _READ_OFF_TREE


def _judge_of(constraint: AnyConstraint, candidate: Candidate, policy: Policy) -> Callable[[Target], bool]:
    if candidate.tree is not None and (read := _READ_OFF_TREE.get(constraint.name)):
        value = read(candidate.tree)
        return lambda target: value == target
    return lambda target: constraint.check(candidate.text, target, policy).passed


def _parse_ahead(constraint: AnyConstraint, texts: Sequence[str], policy: Policy) -> None:
    """Parse texts together where the check will parse them: many at once is many times faster."""
    if texts and constraint.parses(policy):
        from oulibench.syntax import analyse_many

        analyse_many((without_list_mark(normalise(text)) for text in texts), policy.parser)


def _row(task: str, target: Target, candidate: Candidate) -> dict[str, Any]:
    name = [task, *([] if target is None else [str(target)]), _digest(candidate.text).hex()[:10]]
    return {"id": "/".join(name), "task": task, "target": target, "text": candidate.text, "source": candidate.source}
