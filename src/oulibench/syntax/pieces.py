"""Words to word pieces: a unigram model's best segmentation (Kudo 2018), for the encoder of the bundled parser."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

START, PADDING, UNKNOWN = 0, 1, 3
MARK = "▁"
LONGEST_WORD = 48

_SAME = str.maketrans({"’": "'", "ʼ": "'", "′": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "…": "..."})


def encoder_form(form: str) -> str:
    """The spelling the encoder sees: compatibility characters and typographic quotes made plain, long words cut.

    Of a word beyond 48 characters the beginning and the end are kept, where the inflection stands.
    """
    plain = unicodedata.normalize("NFKC", form.translate(_SAME)).replace(" ", "")
    if len(plain) > LONGEST_WORD:
        plain = plain[: LONGEST_WORD // 2] + plain[-LONGEST_WORD // 2 :]
    return plain


class Pieces:
    """A vocabulary of pieces with their log-probabilities; identifiers are positions in it."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self._scores = {piece: (i, float(score)) for i, (piece, score) in enumerate(zip(pieces, scores, strict=True))}
        for special in ("<s>", "<pad>", "</s>", "<unk>"):
            self._scores.pop(special, None)
        self._longest = max(map(len, self._scores))
        self._unknown_score = min(score for _, score in self._scores.values()) - 10.0
        self.segment = lru_cache(maxsize=100_000)(self._segment)

    def _segment(self, form: str) -> tuple[int, ...]:
        """The identifiers of a word's pieces, never empty; a character no piece covers is UNKNOWN."""
        word = MARK + encoder_form(form)
        n = len(word)
        best = [0.0] + [float("-inf")] * n
        back: list[tuple[int, int]] = [(0, UNKNOWN)] * (n + 1)
        for i in range(n):
            here = best[i]
            for j in range(i + 1, min(n, i + self._longest) + 1):
                found = self._scores.get(word[i:j])
                if found is not None and here + found[1] > best[j]:
                    best[j] = here + found[1]
                    back[j] = (i, found[0])
            if here + self._unknown_score > best[i + 1]:
                best[i + 1] = here + self._unknown_score
                back[i + 1] = (i, UNKNOWN)
        pieces = []
        at = n
        while at > 0:
            at, piece = back[at]
            pieces.append(piece)
        return tuple(reversed(pieces))
