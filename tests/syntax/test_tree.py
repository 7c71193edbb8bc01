"""CoNLL-U in and out, and the questions a sentence answers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.errors import DataError
from oulibench.syntax.tree import ConlluError, MultiwordToken, Sentence, Token, read_conllu, to_conllu

SAMPLE = """\
# newdoc id = prova
# sent_id = s1
# text = La lettera dell'amica arriva.
1\tLa\til\tDET\tRD\tDefinite=Def|Gender=Fem|Number=Sing|PronType=Art\t2\tdet\t2:det\t_
2\tlettera\tlettera\tNOUN\tS\tGender=Fem|Number=Sing\t6\tnsubj\t6:nsubj\t_
3-4\tdell'\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tdi\tdi\tADP\tE\t_\t5\tcase\t5:case\t_
4\tl'\til\tDET\tRD\tDefinite=Def|Number=Sing|PronType=Art\t5\tdet\t5:det\t_
5\tamica\tamica\tNOUN\tS\tGender=Fem|Number=Sing\t2\tnmod\t2:nmod:di\t_
6\tarriva\tarrivare\tVERB\tV\tMood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin\t0\troot\t0:root\tSpaceAfter=No
6.1\tarriva\tarrivare\tVERB\t_\t_\t_\t_\t0:root\t_
7\t.\t.\tPUNCT\tFS\t_\t6\tpunct\t6:punct\t_

"""


def sample() -> Sentence:
    (sentence,) = read_conllu(SAMPLE)
    return sentence


def test_round_trip() -> None:
    assert to_conllu(sample()) == SAMPLE


def test_what_is_read() -> None:
    sentence = sample()
    assert sentence.sent_id == "s1"
    assert sentence.text == "La lettera dell'amica arriva."
    assert len(sentence) == 7
    assert sentence.root.form == "arriva"
    assert [t.form for t in sentence.children(6)] == ["lettera", "."]
    assert [t.form for t in sentence.children(6, "nsubj")] == ["lettera"]
    assert [t.form for t in sentence.subtree(2)] == ["La", "lettera", "di", "l'", "amica"]
    assert sentence.head(sentence.token(5)) == sentence.token(2)
    assert sentence.head(sentence.root) is None
    assert [t.form for t in sentence.surface()] == ["La", "lettera", "dell'", "amica", "arriva", "."]
    assert sentence.multiword == (MultiwordToken(3, 4, "dell'", 11, 16, "SpaceAfter=No"),)
    for token in sentence.surface():
        assert sentence.text[token.start : token.end] == token.form
    assert sentence.token(6).has(Person="3", Number="Sing")
    assert not sentence.token(6).has(Person="1")


def test_children_with_and_without_subtype() -> None:
    block = "1\tFu\tessere\tAUX\t_\t_\t2\taux:pass\t_\t_\n2\tvisto\tvedere\tVERB\t_\t_\t0\troot\t_\t_\n"
    (sentence,) = read_conllu(block)
    assert sentence.text == "Fu visto"
    assert len(sentence.children(2, "aux")) == 1
    assert len(sentence.children(2, "aux:pass")) == 1
    assert not sentence.children(2, "aux:tense")


def row(id: str, head: str, upos: str = "X", columns: int = 10) -> str:
    return "\t".join([id, "a", "a", upos, "_", "_", head, "dep", "_", "_"][:columns]) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (row("1", "0", columns=8), 1, "8 columns"),
        ("# text = a\n\n" + row("1", "0"), 1, "without words"),
        (row("1", "0") + "\n" + row("2", "0"), 3, "identifier"),
        (row("1", "0") + row("3", "1"), 2, "identifier"),
        (row("1", "2"), 1, "head"),
        (row("1", "1"), 1, "head"),
        (row("1", "-1"), 1, "head"),
        (row("1", "0") + row("2", "0"), 1, "2 words have head 0"),
        (row("1", "0") + row("2", "3") + row("3", "2"), 2, "circle"),
        (row("1", "0", upos="VERBO"), 1, "VERBO"),
        (row("1-2", "_") + row("1", "0"), 1, "beyond"),
        (row("2-1", "_") + row("1", "0"), 1, "range"),
        (row("1", "0") + "# text = b\n", 2, "comment"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = tmp_path / "prova.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConlluError, match=what) as error:
        list(read_conllu(path))
    assert f"prova.conllu:{line}:" in str(error.value)
    assert isinstance(error.value, DataError)


def test_windows_line_ends_and_no_last_blank_line() -> None:
    assert to_conllu(next(read_conllu(SAMPLE.rstrip("\n").replace("\n", "\r\n")))) == SAMPLE


def test_a_text_that_disagrees_with_the_forms_does_not_break_offsets() -> None:
    (sentence,) = read_conllu(SAMPLE.replace("text = La lettera", "text = Una lettera"))
    assert sentence.text.startswith("Una")
    assert [(t.start, t.end) for t in sentence][:2] == [(0, 2), (3, 10)]


forms = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=8)


@given(st.lists(st.tuples(forms, st.booleans()), min_size=1, max_size=8))
def test_round_trip_of_any_words(words: list[tuple[str, bool]]) -> None:
    tokens = []
    text = ""
    for i, (form, space) in enumerate(words, 1):
        start = len(text)
        last = i == len(words)
        text += form + (" " if space and not last else "")
        misc = "_" if space or last else "SpaceAfter=No"
        tokens.append(
            Token(i, form, form, "X", None, {}, i - 1, "root" if i == 1 else "dep", start, start + len(form), misc)
        )
    sentence = Sentence(text, tuple(tokens))
    assert list(read_conllu(to_conllu(sentence))) == [sentence]
