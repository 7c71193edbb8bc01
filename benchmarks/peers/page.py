"""docs/peers.md: the measured tables and what has to be known to read them."""

from __future__ import annotations

import re
from collections.abc import Mapping

INTRODUCTION = """\
# Beside COLLIE, IFEval and IFBench

[COLLIE](https://github.com/princeton-nlp/Collie), [IFEval](https://arxiv.org/abs/2311.07911) and
[IFBench](https://github.com/allenai/IFBench) check constraints on English text. People apply them to other languages,
so here they and OuLiBench judge the same Italian texts, each asked what it can express. This page is made by

```sh
# needs: collie-bench and if-verifiable, and the treebanks
python -m benchmarks.peers --ud TREEBANKS --write docs/peers.md
```

`TREEBANKS` is a folder with the development and test files of ISDT and VIT and the test file of PUD (Universal
Dependencies). A section that a run does not measure stays as it was.
"""

PROSE: dict[str, tuple[str, ...]] = {
    "How each is asked": (
        """\
A rule is put to each peer through the parameters that it documents, as close to the request as they come. COLLIE is
asked in its own grammar, without functions of ours; an IFEval request may take several instructions at once. IFEval's
and IFBench's checkers are those that if-verifiable carries. For lipograms COLLIE is given the accented letters too;
without them it errs where IFEval does.
""",
        """\
– means: cannot be expressed. Voice and word order need a parse, which no peer makes. What only our benchmark asks is
left out: whether the words exist, whether the answer is a shortcut or too short (the part of a verdict called
`formal`). Blank texts follow no instruction in IFEval's and IFBench's evaluations, and count so here; COLLIE has no
such rule. IFEval's and IFBench's verdicts are the strict ones.
""",
    ),
    "The golden cases": (
        """\
Right verdicts, their percentage and its 95% Wilson interval, on the cases of `tests/golden` that a rule covers. Read
them for what they are: **written by us to break checkers**, worked out by hand under our conventions, and few for
some rules. They show where a checker breaks, not how often it does in ordinary text; for that see the next section.
""",
        """\
What counts as a word is a convention, and no peer promises ours. IFEval and IFBench count runs of word characters, so
*l'amica* is two words as in `orthographic`, but *italo-francese*, *3,5* and *S.p.A.* are several; COLLIE takes NLTK's
English tokens less punctuation, so *l'amica* is one word as under `graphic`, but the straight quote, «, –, €, % and
... are words. COLLIE's characters are all characters, spaces and punctuation included; under that convention it is
right by definition, and `char_length` is not what it means.

What the wrong verdicts turn on is the first change of the text that makes them right:
""",
    ),
    "Ordinary sentences": (
        """\
Sentences of the treebanks, with what their gold analysis says: words from the gold tokens, letters from Unicode's
decomposition; nothing here comes from our tokenizer. Each sentence is asked for its number of words and for one that
it does not have (the other convention's, or one more), for a lipogram in each of *a e i o u*, and, up to 15 words,
for the acrostic of its own initials and for another. Other rules hardly ever hold by chance in ordinary sentences.
Sentences that begin with a list mark («1) ») are left out: that it is no word is our convention. Verdicts on one
sentence are not independent, so the true intervals are somewhat wider.
""",
        """\
On ordinary sentences IFEval and IFBench count words nearly as we do once elided forms are words of their own; the
rest are compounds, abbreviations and numbers. COLLIE follows `graphic` unless there are quotes or other signs; its
quotes are counted in English text just the same. IFEval's lipograms err where the letter only occurs with an accent:
seldom in a sentence taken at random, but a text written to avoid *e* will try *è*. So the English design explains the
apostrophes (COLLIE under `orthographic`, IFEval and IFBench under `graphic`) and the accents; the quotes, compounds
and numbers would be the same in English. Our own errors against the gold analysis stand in the first column.
""",
    ),
    "Time per verdict": (
        """\
Processor time of one process, best of several rounds, on the ten-word sentences of `benchmarks/surface.py` (anagrams
and palindromes: on the golden cases). Ours in microseconds on the machine of the run; the peers' as multiples of
ours, which is what travels. Ours are whole verdicts, with score, offending words, reason and signature, and for
anagrams and palindromes with the lexicon; the peers answer yes or no. Below 1 the peer is quicker.
""",
    ),
    "Versions": ("",),
}
NOT_MEASURED = "Not measured yet.\n"


def render(tables: Mapping[str, tuple[str, ...]], previous: str = "") -> str:
    """The page. A section without tables is taken over from the `previous` page."""
    kept = dict(re.findall(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", previous, re.MULTILINE | re.DOTALL))
    parts = [INTRODUCTION]
    for heading, prose in PROSE.items():
        if heading in tables:
            pieces = [piece.strip() for pair in zip(prose, tables[heading], strict=True) for piece in pair]
            parts.append(f"## {heading}\n\n" + "\n\n".join(filter(None, pieces)) + "\n")
        else:
            parts.append(f"## {heading}\n\n{kept.get(heading, NOT_MEASURED).strip()}\n")
    return "\n".join(parts)
