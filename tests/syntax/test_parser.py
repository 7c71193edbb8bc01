"""The bundled parser: what it promises whatever its weights, and what it must read right."""

import math
import pickle
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from oulibench.errors import DataError, PolicyError
from oulibench.syntax.bundled import LONGEST, BundledParser
from oulibench.syntax.mst import is_tree
from oulibench.syntax.parser import get_parser
from oulibench.syntax.tree import UPOS, Sentence, read_conllu, to_conllu

PARSER = BundledParser()
DATA = Path(str(resources.files("oulibench") / "data" / "it" / "parser"))

TEXTS = [
    "La sarta cuce il vestito rosso con un ago sottile.",
    "Mi lavo le mani.",
    "Chi ha mangiato la torta della nonna?",
    "È stata approvata dal parlamento la legge sulla scuola.",
    "Dammelo!",
    "Sì",
    "Il vecchio professore di storia antica, che abitava in via Garibaldi, non uscì di casa per molti giorni.",
]


def analysis(sentence: Sentence) -> list[tuple[str, str, str, int, str]]:
    return [(t.form, t.lemma, t.upos, t.head, t.deprel) for t in sentence]


def check(sentence: Sentence) -> None:
    """A tree, valid as CoNLL-U, its tokens in their places."""
    assert is_tree([0, *(t.head for t in sentence)])
    assert all(t.upos in UPOS and t.lemma and t.deprel for t in sentence)
    assert all((t.head == 0) == (t.deprel == "root") for t in sentence)
    assert list(read_conllu(to_conllu(sentence)))
    for token in sentence.surface():
        assert sentence.text[token.start : token.end] == token.form


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, oulibench, oulibench.syntax.parser as p; p.get_parser().version; "
        "print([m for m in ('numpy', 'onnxruntime', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_sentence_is_read_alike_in_any_company() -> None:
    alone = [PARSER.parse_sentences([text])[0] for text in TEXTS]
    together = PARSER.parse_sentences(TEXTS * 7)
    backwards = PARSER.parse_sentences(TEXTS[::-1])[::-1]
    for one, two, three in zip(alone, together, backwards, strict=False):
        assert to_conllu(one) == to_conllu(two) == to_conllu(three)
        assert one.scores is not None and two.scores is not None
        for token in one:
            assert one.scores.arc_logprob(token.id, token.head) == two.scores.arc_logprob(token.id, token.head)


def test_another_process_reads_the_same() -> None:
    code = (
        "import sys; from oulibench.syntax.parser import get_parser; from oulibench.syntax.tree import to_conllu; "
        "sys.stdout.buffer.write(''.join(map(to_conllu, get_parser().parse_sentences(sys.argv[1:]))).encode())"
    )
    done = subprocess.run([sys.executable, "-c", code, *TEXTS], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(map(to_conllu, PARSER.parse_sentences(TEXTS)))


@pytest.mark.parametrize("text", TEXTS)
def test_trees_are_valid(text: str) -> None:
    (sentence,) = PARSER.parse_sentences([text])
    assert sentence.text == text
    check(sentence)


def test_documents_are_split_and_keep_their_places() -> None:
    text = "  Piove. Marco esce lo stesso!\n\nPoi torna a casa."
    documents = PARSER.parse([text, "", " \n", "Solo una."])
    assert [[s.text for s in d] for d in documents] == [
        ["Piove.", "Marco esce lo stesso!", "Poi torna a casa."], [], [], ["Solo una."],
    ]  # fmt: skip
    for sentence in documents[0]:
        assert text[sentence.start :].startswith(sentence.text)
        check(sentence)


def test_one_text_one_sentence() -> None:
    one, empty = PARSER.parse_sentences(["Piove. Nevica.", " "])
    assert one.text == "Piove. Nevica."
    assert [t.form for t in one] == ["Piove", ".", "Nevica", "."]
    assert len(empty) == 0
    assert PARSER.parse_sentences([]) == []


def test_words_given() -> None:
    (sentence,) = PARSER.parse_words([["Il", "tetto", "di", "la", "casa"]])
    assert [t.form for t in sentence] == ["Il", "tetto", "di", "la", "casa"]
    check(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "😀", "😀 👨‍👩‍👧 🇮🇹", "12345", "...", "«»", "'", "’", "\u200b", "a\u0301\u0301\u0301",
        "Привет, мир!", "你好世界",
        "مرحبا بالعالم", "Il кот мангiа la 鱼.", "a" * 5000, "\u202eabc", "\ufffd", "<b>alert(1)</b>", "=1+1",
        "﷽" * 50, "\U0010ffff", "ſẛ̣ﬁ",
    ],
)  # fmt: skip
def test_strange_text_gives_a_valid_tree_or_none(text: str) -> None:
    for document in PARSER.parse([text]):
        for sentence in document:
            check(sentence)


def test_a_sentence_beyond_all_measure() -> None:
    """3,000 words in one sentence: one tree, the roots of later stretches hung on the first."""
    words = ("Il gatto nero mangia il topo e " * 430).split()
    (sentence,) = PARSER.parse_sentences([" ".join(words)])
    assert len(sentence) == len(words) > LONGEST
    check(sentence)
    assert sentence.scores is None


def test_scores_are_probabilities_and_agree_with_the_tree() -> None:
    (sentence,) = PARSER.parse_sentences([TEXTS[0]])
    scores = sentence.scores
    assert scores is not None
    n = len(sentence)
    for token in sentence:
        arcs = [scores.arc_logprob(token.id, head) for head in range(n + 1) if head != token.id]
        assert math.fsum(map(math.exp, arcs)) == pytest.approx(1, abs=1e-6)
        labels = PARSER._labels
        logprobs = {label: scores.label_logprob(token.id, token.head, label) for label in labels}
        assert math.fsum(map(math.exp, logprobs.values())) == pytest.approx(1, abs=1e-5)
        if token.head:
            assert max((x for x in logprobs if x != "root"), key=logprobs.__getitem__) == token.deprel
    assert scores.label_logprob(1, 2, "no-such-label") == -math.inf
    assert PARSER.parse_sentences([TEXTS[0]], scores=False)[0].scores is None


def test_scores_stay_in_their_process_and_sentences_travel() -> None:
    with pytest.raises(TypeError, match="scores=False"):
        pickle.dumps(PARSER.parse_sentences(["Piove."])[0])
    (sentence,) = PARSER.parse_sentences(["Piove."], scores=False)
    assert pickle.loads(pickle.dumps(sentence)) == sentence  # noqa: S301


def test_selection_speaks_of_nouns_and_verbs_whatever_their_order() -> None:
    for text in ("La sarta cuce il vestito.", "Il vestito cuce la sarta."):
        (sentence,) = PARSER.parse_sentences([text])
        ids = {t.lemma: t.id for t in sentence}
        assert sentence.scores is not None
        who = sentence.scores.selection(ids["sarta"], ids["cucire"])
        what = sentence.scores.selection(ids["vestito"], ids["cucire"])
        assert who is not None and what is not None and who > 0 > what
    assert PARSER.selection.logit("xyzzy", "cucire") is None


def test_what_decides_scores_is_named() -> None:
    assert PARSER.name == "bundled"
    number, _, digest = PARSER.version.partition("+")
    assert number.count(".") == 2
    assert len(digest) == 8
    assert BundledParser(style="vit").version == PARSER.version + "-vit"
    with pytest.raises(ValueError, match="isdt"):
        BundledParser(style="latino")


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "parser"
    shutil.copytree(DATA, folder)
    raw = bytearray((folder / "network.onnx").read_bytes())
    raw[len(raw) // 2] ^= 1
    (folder / "network.onnx").write_bytes(raw)
    with pytest.raises(DataError, match="checksum"):
        BundledParser(folder).parse(["Piove."])
    (folder / "network.onnx").unlink()
    with pytest.raises(DataError, match="install the package again"):
        BundledParser(folder).parse(["Piove."])
    with pytest.raises(DataError):
        BundledParser(tmp_path / "nowhere")


def test_parsers_by_name() -> None:
    assert get_parser() is get_parser("bundled")
    with pytest.raises(PolicyError, match="bundled"):
        get_parser("spacy")


@pytest.mark.parametrize(
    ("text", "word", "upos", "lemma", "deprel"),
    [
        ("Il gatto nero mangia il topo.", "mangia", "VERB", "mangiare", "root"),
        ("Il gatto nero mangia il topo.", "gatto", "NOUN", "gatto", "nsubj"),
        ("Il gatto nero mangia il topo.", "topo", "NOUN", "topo", "obj"),
        ("La legge è stata approvata dal parlamento.", "stata", "AUX", "essere", "aux:pass"),
        ("La legge è stata approvata dal parlamento.", "parlamento", "NOUN", "parlamento", "obl:agent"),
        ("Il libro viene letto da tutti.", "viene", "AUX", "venire", "aux:pass"),
        ("Mi sveglio presto ogni mattina.", "Mi", "PRON", "mi", "expl"),
        ("Marco è partito ieri.", "è", "AUX", "essere", "aux"),
        ("Il cielo è azzurro.", "è", "AUX", "essere", "cop"),
        ("Voglio mangiare una mela.", "Voglio", "AUX", "volere", "aux"),
        ("Ho visto la casa di Maria.", "Maria", "PROPN", "Maria", "nmod"),
    ],
)
def test_plain_sentences(text: str, word: str, upos: str, lemma: str, deprel: str) -> None:
    (sentence,) = PARSER.parse_sentences([text])
    token = next(t for t in sentence if t.form == word)
    assert (token.upos, token.lemma, token.deprel) == (upos, lemma, deprel)
