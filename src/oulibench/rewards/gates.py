"""Gates: what a text must be, besides keeping its constraint, to be worth a reward.

A verdict answers one question, and a policy that is trained on it finds the cheapest text with the right answer: one
word without an «e», a letter over and over, words in no order. A gate closes on such texts, and their reward is 0.
Gates decide no verdict and no figure of the benchmark; they are there for training alone.

Definitions:

- **min_words**: fewer orthographic words than this, or than the target itself asks for if that is less (2:
  palindromes).
- **max_words**: more words than this, or than twice what the target asks for if that is more (six characters a word).
- **repetition**: share of the content words (no function words) that occurred before in the text; over all words where
  the text has fewer than two content words. Also closed, in texts of six words or more, where one word, function words
  among them, occurs three times or more and makes more than two in five; and on a text that repeats an earlier one of
  the response.
- **copying**: the largest of three shares: of the text's runs of four words (of all its words, if it has fewer) that
  stand in the prompt, in the benchmark's own prompts for the target, or in a demonstration; of its words that one
  demonstration has too, over the words of the longer of the two; in palindromes, of its letters that stand in
  traditional palindromes or in words that are palindromes by themselves.
- **italian**: share of the words that are Italian: known to the lexicon; a capitalised word that Italian texts hold; or
  a number, while numbers are no more than a third. Also closed where less than half of what is no white space are
  letters and digits; where, in texts of five words or more, function words are less than a tenth (a list; not asked of
  tautograms, acrostics and inverse lipograms, which may well do without); and where, in texts of six words or more,
  they are more than 85 in a hundred.
- **syntax**: mean over the words of the natural logarithm of the probability that the bundled parser gives to the head
  and the relation it chose: in words that make no sentence it finds nothing likely. Where function words are less than
  a tenth, twice as likely a parse (half the logarithm) is asked for. Also closed on texts of three words or more that
  have no verb and next to no function words (less than a fifth), on enumerations (four words or more, and for every
  five at least two coordinated or loosely attached ones, or two commas), and on texts of six words or more whose
  sentences have fewer than three words on average; and where determiners and adjectives agree with their nouns in less
  than three cases in five (gender and number; three or more).

Palindromes and anagrams, whose odd words mislead any measure of language, pass `syntax` and the shares of function
words unseen; their constraints ask for Italian words anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from oulibench.behaviour.known_palindromes import traditional
from oulibench.behaviour.repetition import function_words
from oulibench.constraints import AnyConstraint
from oulibench.constraints.base import WORDINGS, number
from oulibench.lexicon import load_lexicon
from oulibench.policy import Policy
from oulibench.text import count_characters, fold, letters, normalise, words

if TYPE_CHECKING:
    from oulibench.syntax.tree import Sentence

GateName = Literal["min_words", "max_words", "repetition", "copying", "italian", "syntax"]

FEWEST_FUNCTION_WORDS: Final = 0.1
MOST_FUNCTION_WORDS: Final = 0.85
MOST_NUMBERS: Final = 1 / 3
MOST_OF_ONE_WORD: Final = 0.4
"""No sentence of six words or more in 3,032 of treebanks has more of one word."""
ENOUGH_WORDS: Final = 6
"""From this many words on, a text is long enough to ask how it is made."""
ENOUGH_FOR_ONE: Final = 5
"""From this many words on, one of them is a function word."""
SHORTEST_SENTENCES: Final = 3.0
FUNCTION_WORDS_WITHOUT_VERB: Final = 0.2
MOST_MEMBERS: Final = 0.4
"""From this share of coordinated words, or of commas to words, on, a text is an enumeration."""
LEAST_AGREEMENT: Final = 0.6
RUN: Final = 4
"""Words in a row that two texts do not share by chance."""


class ClosedGate(NamedTuple):
    """A gate that closed on a text, and why, for a person."""

    gate: GateName
    why: str


@dataclass(frozen=True, slots=True)
class Gates:
    """Thresholds (see the module for what is measured); None, or 0 words, leaves a gate open.

    Attributes:
        min_words: fewest words of a text.
        max_words: most words of a text.
        repetition: largest share of repeated content words.
        copying: largest share that is taken over.
        italian: smallest share of Italian words.
        syntax: smallest mean log-probability of the parse. The one gate that costs a parse, and that is bound by the
            licence of the parser's weights (not for commercial use).
    """

    min_words: int = 3
    max_words: int | None = 150
    repetition: float | None = 0.35
    copying: float | None = 0.7
    italian: float | None = 0.75
    syntax: float | None = -0.35


DEFAULT_GATES: Final = Gates()

# The letters of these tasks leave little choice of words.
_LETTER_PLAY: Final = frozenset({"palindrome", "word_anagram", "sentence_anagram"})
# The initials or letters asked for may leave no choice of function words.
_FEW_FUNCTION_WORDS: Final = _LETTER_PLAY | {"tautogram", "acrostic", "inverse_lipogram"}


class Shown(NamedTuple):
    """What the model was shown: folded words of its prompt and of each demonstration."""

    prompt: tuple[str, ...]
    demonstrations: tuple[tuple[str, ...], ...]


class _Known(NamedTuple):
    """What there is to know of a word by itself."""

    folded: str
    italian: bool
    function: bool
    number: bool


@lru_cache(maxsize=1 << 16)
def _known(form: str) -> _Known:
    lexicon = load_lexicon("it")
    bare = form.strip("'")
    italian = lexicon.is_known(form) or (bare[:1].isupper() and lexicon.is_attested(bare))
    folded = fold(form)
    return _Known(folded, italian, folded in function_words(), not any(map(str.isalpha, form)))


def closed_gates(
    content: str, constraint: AnyConstraint, target: object, policy: Policy, gates: Gates, shown: Shown
) -> tuple[ClosedGate, ...]:
    """The gates, `syntax` apart, that close on normalised `content`, an answer to `constraint` with a parsed target."""
    allowed = _words_of_target(constraint, target)
    most = gates.max_words and max(gates.max_words, 2 * (allowed or 0))
    if most and len(content) > 50 * most:  # before anything looks at the words
        return (ClosedGate("max_words", f"{len(content):,} characters: more than {most} words."),)
    found = [_known(word) for word in words(content)]
    n = len(found)
    fewest = gates.min_words if allowed is None else min(gates.min_words, allowed)
    if n < fewest:
        return (ClosedGate("min_words", f"{number(n, 'word')}, fewer than {fewest}."),)
    if most and n > most:
        return (ClosedGate("max_words", f"{n} words, more than {most}."),)
    closed = []
    if gates.repetition is not None and (why := _repeats(found, gates.repetition)):
        closed.append(ClosedGate("repetition", why))
    if gates.copying is not None:
        folded = [word.folded for word in found]
        share = copied_share(folded, shown, own_prompts(constraint, target, policy, min(RUN, n)))
        if constraint.name == "palindrome":
            share = max(share, traditional_share(folded))
        if share > gates.copying:
            closed.append(ClosedGate("copying", f"{share:.0%} of it is taken over from what was shown or is known."))
    if gates.italian is not None:
        why = _not_italian(content, found, constraint.name, gates.italian)
        if why:
            closed.append(ClosedGate("italian", why))
    return tuple(closed)


def _words_of_target(constraint: AnyConstraint, target: object) -> int | None:
    """The words of the shortest text that the target allows; None where it says nothing of length."""
    match constraint.name, target:
        case "word_length", int():
            return target
        case "char_length", int():
            return max(1, target // 6)
        case "acrostic", str():
            return len(target)
        case (("word_anagram" | "sentence_anagram"), _):
            return 1
        case ("palindrome", _):
            return 2  # of one word they are known by `copying`
    return None


def _repeats(found: Sequence[_Known], threshold: float) -> str:
    if (share := repeated_share(found)) > threshold:
        return f"{share:.0%} of its content words occurred before."
    if len(found) >= ENOUGH_WORDS:
        ((word, times),) = Counter(known.folded for known in found).most_common(1)
        if times >= 3 and times > MOST_OF_ONE_WORD * len(found):
            return f"{times} of its {len(found)} words are «{word}»."
    return ""


def repeated_share(found: Sequence[_Known]) -> float:
    """The share of content words that occurred before (of all words, where there are fewer than two of them)."""
    content = [word.folded for word in found if not word.function]
    if len(content) < 2:
        content = [word.folded for word in found]
    return 1 - len(set(content)) / len(content) if content else 0.0


def _not_italian(content: str, found: Sequence[_Known], task: str, threshold: float) -> str:
    if 2 * count_characters(content) < sum(map(len, content.split())):
        return "Less than half of its characters are letters."
    n = len(found)
    numbers = sum(word.number for word in found)
    share = (sum(word.italian for word in found) + (numbers if numbers <= MOST_NUMBERS * n else 0)) / n if n else 0.0
    if not n or share < threshold:
        return f"{share:.0%} of its words are Italian."
    function = sum(word.function for word in found) / n
    too_many = n >= ENOUGH_WORDS and function > MOST_FUNCTION_WORDS and task not in _LETTER_PLAY
    too_few = n >= ENOUGH_FOR_ONE and function < FEWEST_FUNCTION_WORDS and task not in _FEW_FUNCTION_WORDS
    return f"{function:.0%} of its words are function words." if too_many or too_few else ""


# --- copying -----------------------------------------------------------------------------------------------------


def copied_share(found: Sequence[str], shown: Shown, known: Runs = frozenset()) -> float:
    """The share of folded words taken over from the prompt, from the `known` runs of words, or a demonstration."""
    if len(found) < 2:
        return max((float(tuple(found) == d) for d in shown.demonstrations if found), default=0.0)
    size = min(RUN, len(found))
    sources = [known, *(_runs(text, size) for text in (shown.prompt, *shown.demonstrations) if text)]
    runs = list(zip(*(found[i:] for i in range(size)), strict=False))
    share = sum(any(run in source for source in sources) for run in runs) / len(runs)
    counted = Counter(found) if shown.demonstrations else Counter()
    for demonstration in shown.demonstrations:
        longer = max(len(found), len(demonstration))
        share = max(share, (counted & Counter(demonstration)).total() / longer)
    return share


Runs = frozenset[tuple[str, ...]]
"""Words that stand in a row in a text, as many as are looked for."""


@lru_cache(maxsize=1024)
def _runs(text: tuple[str, ...], size: int) -> Runs:
    return frozenset(zip(*(text[i:] for i in range(size)), strict=False))


@lru_cache(maxsize=4096)
def own_prompts(constraint: AnyConstraint, target: int | str | None, policy: Policy, size: int) -> Runs:
    """The runs of words in the benchmark's own prompts for a target, so that copying is seen whatever a row says."""
    runs: set[tuple[str, ...]] = set()
    for wording in WORDINGS:
        for n in (1, 2):
            try:
                prompt = constraint.prompt(target, n, wording, policy)
            except ValueError:  # somebody else's task need not have all wordings
                continue
            runs |= _runs(tuple(words(fold(normalise(prompt)))), size)
    return frozenset(runs)


def traditional_share(found: Sequence[str]) -> float:
    """The share of the letters of folded words that stand in traditional palindromes or in words that are one."""
    known = _traditional()
    spelled = [letters(word) for word in found]
    covered = start = 0
    while start < len(spelled):
        run = ""
        longest = end = 0
        for i in range(start, min(len(spelled), start + _LONGEST_KNOWN)):
            run += spelled[i]
            if run in known or (i == start and len(run) > 2 and run == run[::-1]):
                longest, end = len(run), i + 1
        covered += longest
        start = end or start + 1
    total = sum(map(len, spelled))
    return covered / total if total else 0.0


_LONGEST_KNOWN: Final = 20  # words; no traditional palindrome has more


@cache
def _traditional() -> frozenset[str]:
    return frozenset(traditional())


# --- syntax ------------------------------------------------------------------------------------------------------


def syntax_threshold(constraint: AnyConstraint, gates: Gates | None) -> float | None:
    """The threshold of the gate `syntax`; None where it does not look at answers to `constraint`."""
    return None if gates is None or constraint.name in _LETTER_PLAY else gates.syntax


def closed_by_syntax(content: str, threshold: float) -> ClosedGate | None:
    """The gate `syntax`, where it closes on normalised `content` (parse many ahead with `oulibench.syntax`)."""
    from oulibench.syntax import analyse  # loads the parser's runtime

    total = 0.0
    n = sentences = verbs = members = 0
    agreeing: list[bool] = []
    for sentence in analyse(content):
        own = [token for token in sentence if token.upos != "PUNCT"]
        sentences += bool(own)
        n += len(own)
        verbs += sum(token.upos in ("VERB", "AUX") for token in own)
        members += sum(token.relation in _MEMBERS for token in own)
        agreeing += _agreements(sentence)
        if sentence.scores is not None:
            total += sum(
                sentence.scores.arc_logprob(token.id, token.head)
                + sentence.scores.label_logprob(token.id, token.head, token.deprel)
                for token in own
            )
    if n < 3:
        return None
    forms = words(content)
    function = sum(_known(form).function for form in forms) / max(1, len(forms))
    if total / n < (threshold / 2 if function < FEWEST_FUNCTION_WORDS else threshold):
        return ClosedGate("syntax", f"The parse of its words is unlikely ({total / n:.2f} a word).")
    if not verbs and function < FUNCTION_WORDS_WITHOUT_VERB:
        return ClosedGate("syntax", "It has no verb and next to no function words.")
    if n > 3 and max(members, content.count(",")) >= MOST_MEMBERS * n:
        return ClosedGate("syntax", "It is an enumeration.")
    if n >= ENOUGH_WORDS and n / sentences < SHORTEST_SENTENCES:
        return ClosedGate("syntax", f"Its sentences have {n / sentences:.1f} words on average.")
    if len(agreeing) > 2 and sum(agreeing) < LEAST_AGREEMENT * len(agreeing):
        return ClosedGate("syntax", "Its words do not agree in gender and number.")
    return None


def _agreements(sentence: Sentence) -> list[bool]:
    """Of determiners and adjectives and the nouns they hang on: whether they agree, in gender and in number."""
    pairs = [(token, sentence.token(token.head)) for token in sentence if token.deprel in ("det", "amod")]
    return [
        token.feats[feature] == noun.feats[feature]
        for token, noun in pairs
        for feature in ("Gender", "Number")
        if feature in token.feats and feature in noun.feats
    ]


_MEMBERS: Final = frozenset({"conj", "list", "parataxis", "appos", "dislocated", "vocative", "flat"})
