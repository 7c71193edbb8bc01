"""Small trees written out in tests."""

from oulibench.syntax.tree import LabelScores, Sentence, Token


def tree(written: str, scores: LabelScores | None = None) -> Sentence:
    """A sentence of words `form/lemma/UPOS/head/relation[/Name=Value,…]`; `+form` is written onto the word before."""
    tokens: list[Token] = []
    text = ""
    start = 0
    for i, word in enumerate(written.split(), 1):
        form, lemma, upos, head, relation, *feats = word.split("/")
        if form.startswith("+"):
            form = form[1:]
            tokens[-1] = _ending_at(tokens[-1], len(text) + len(form))
        else:
            text += " " if text else ""
            start = len(text)
        text += form
        pairs = dict(pair.split("=") for pair in feats[0].split(",")) if feats else {}
        tokens.append(Token(i, form, lemma, upos, None, pairs, int(head), relation, start, len(text)))
    return Sentence(text, tuple(tokens), scores=scores)


def _ending_at(token: Token, end: int) -> Token:
    return Token(
        token.id, token.form, token.lemma, token.upos, None, token.feats, token.head, token.deprel, token.start, end
    )


FINITE = "Mood=Ind,Number={},Person={},Tense=Pres,VerbForm=Fin"
S1, S2, S3 = (FINITE.format("Sing", person) for person in "123")
P1, P2, P3 = (FINITE.format("Plur", person) for person in "123")
SING, PLUR = "Number=Sing", "Number=Plur"
PART_MS, PART_FS = "Gender=Masc,Number=Sing,Tense=Past,VerbForm=Part", "Gender=Fem,Number=Sing,Tense=Past,VerbForm=Part"
INF = "VerbForm=Inf"
PART_MP = "Gender=Masc,Number=Plur,Tense=Past,VerbForm=Part"
