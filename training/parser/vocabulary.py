"""Step 1: keep the word pieces that Italian needs, and their embeddings as they are.

    python -m training.parser.vocabulary TREEBANKS WORK

writes WORK/vocabulary.npz: `pieces` (UTF-8, one a line), `scores`, `word` (q4_0 blocks, a row a piece). A piece is kept
when it stands in the best segmentation of a word of the training treebanks, of wordfreq's Italian list or of Morph-it
(each also with a capital, the more frequent also in capitals), or when it is a single character of Latin script, a
digit or a mark.
"""

import gzip
import json
import sys
import unicodedata
from importlib import resources
from pathlib import Path

import numpy as np
import wordfreq
from training.parser.encoder import default_path, read_e5
from training.parser.treebanks import OPEN, RESTRICTED, read_treebank

from oulibench.syntax.pieces import Pieces

SPECIAL = 4


def morph_it_forms() -> set[str]:
    forms: set[str] = set()
    for path in sorted((resources.files("spacy_lookups_data") / "data").iterdir(), key=lambda p: p.name):
        if path.name.startswith("it_lemma_lookup_") and path.name.endswith(".json.gz"):
            table = json.loads(gzip.decompress(path.read_bytes()))
            forms.update(repair(key) for key in table)
    return forms


def repair(text: str) -> str:
    """Undo the tables' double encoding (UTF-8 read as Latin-1)."""
    try:
        return text.encode("latin1").decode("utf8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return text


def is_plain_character(piece: str) -> bool:
    bare = piece.removeprefix("▁")
    if len(bare) > 1:
        return False
    if not bare:
        return True
    kind = unicodedata.category(bare)
    return unicodedata.name(bare, "").startswith("LATIN") or kind[0] in "PSN"


def main(treebanks: Path, work: Path) -> None:
    file = read_e5(default_path())
    whole = Pieces(file.pieces, file.scores.tolist())
    words = {token.form for bank in (*OPEN, *RESTRICTED) for s in read_treebank(treebanks, bank) for token in s}
    ranked = wordfreq.top_n_list("it", 400_000)
    words |= set(ranked) | {word.capitalize() for word in ranked} | {word.upper() for word in ranked[:5000]}
    forms = morph_it_forms()
    words |= forms | {form.capitalize() for form in forms}
    kept = {i for i, piece in enumerate(file.pieces) if i < SPECIAL or is_plain_character(piece)}
    for word in words:
        kept.update(whole._segment(word))
    rows = np.array(sorted(kept))
    work.mkdir(parents=True, exist_ok=True)
    pieces = "\n".join(file.pieces[i] for i in rows)
    np.savez(
        work / "vocabulary.npz",
        pieces=np.frombuffer(pieces.encode("utf-8"), np.uint8),
        scores=file.scores[rows],
        word=file.word[rows],
    )
    print(f"{len(words)} words, {len(rows)} pieces of {len(file.pieces)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
