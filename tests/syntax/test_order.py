# ruff: noqa: E501  (a tree stands on one line)
"""Order of subject, verb and object: over trees of own sentences, and case by case over trees written out."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from tests.syntax.test_voice import any_trees, comment
from tests.syntax.trees import INF, P1, P3, PART_FS, PART_MS, PLUR, S1, S3, SING, tree

from oulibench.syntax.order import ORDERS, OrderReading, read_order
from oulibench.syntax.tree import Sentence, Token, read_conllu

GOLDEN = Path(__file__).parents[1] / "golden"
TREES = [s for s in read_conllu(GOLDEN / "clause_trees.conllu") if comment(s, "order")]


@pytest.mark.parametrize("sentence", TREES, ids=lambda s: s.text)
def test_own_sentences(sentence: Sentence) -> None:
    reading = read_order(sentence)
    assert reading.order == comment(sentence, "order"), reading.decided_by


@pytest.mark.parametrize("sentence", [s for s in TREES if comment(s, "decides") == "agreement"], ids=lambda s: s.text)
def test_agreement_overrules_the_relations(sentence: Sentence) -> None:
    """With subject and object mixed up, both called subject, or both called object."""
    for swapped in ({"nsubj": "obj", "obj": "nsubj"}, {"obj": "nsubj"}, {"nsubj": "obj"}):
        tokens = tuple(replace(t, deprel=swapped.get(t.deprel, t.deprel)) for t in sentence.tokens)
        reading = read_order(replace(sentence, tokens=tokens))
        assert reading.order == comment(sentence, "order")
        assert reading.decided_by.startswith(("agreement", "case"))
        assert reading.margin == inf


class Scores:
    """Scores of a parser that has an opinion: label log-probabilities by (word, label), selection by word."""

    def __init__(self, labels: Mapping[tuple[int, str], float], selection: Mapping[int, float] | None = None) -> None:
        self.labels = labels
        self.selected = selection or {}

    def label_logprob(self, dependent: int, head: int, label: str) -> float:
        return self.labels.get((dependent, label), -9.0)

    def arc_logprob(self, dependent: int, head: int) -> float:
        return -0.1

    def selection(self, noun: int, verb: int) -> float | None:
        return self.selected.get(noun)


THE_TAILORESS = (  # «Il vestito cuce la sarta», read as SVO by the parser
    f"Il/il/DET/2/det vestito/vestito/NOUN/3/nsubj/{SING} cuce/cucire/VERB/0/root/{S3} la/il/DET/5/det "
    f"sarta/sarta/NOUN/3/obj/{SING}"
)
INVENTED = THE_TAILORESS.replace("vestito", "grubbo").replace("sarta", "trenna").replace("cucire", "sbrocare")


def test_what_acts_decides_against_the_relations() -> None:
    reading = read_order(tree(THE_TAILORESS))
    assert (reading.order, reading.subject, reading.verb, reading.object) == ("OVS", 5, 3, 2)
    assert reading.decided_by.startswith("animacy")


def test_relation_scores_decide_where_nothing_is_known_of_the_words() -> None:
    sure = Scores({(2, "nsubj"): -3.0, (2, "obj"): -0.2, (5, "nsubj"): -0.2, (5, "obj"): -3.0})
    assert read_order(tree(INVENTED)).order == "SVO"
    reading = read_order(tree(INVENTED, sure))
    assert (reading.order, reading.decided_by) == ("OVS", "the parser's relations")


def test_selection_by_the_verb_speaks_too() -> None:
    level = {(2, "nsubj"): -1.0, (2, "obj"): -1.0, (5, "nsubj"): -1.0, (5, "obj"): -1.0}
    assert read_order(tree(INVENTED, Scores(level))).order == "SVO"
    reading = read_order(tree(INVENTED, Scores(level, {2: -2.0, 5: 2.0})))
    assert reading.order == "OVS"
    assert reading.decided_by.startswith("selection by «cuce»")


CASES: list[tuple[str | None, str, str]] = [
    # (order, what the reason or the decision begins with, tree)
    (None, "no subject", f"Mangia/mangiare/VERB/0/root/{S3} la/il/DET/3/det mela/mela/NOUN/1/obj/{SING}"),
    (None, "no subject", f"Mangio/mangiare/VERB/0/root/{S1} la/il/DET/3/det mela/mela/NOUN/1/nsubj/{SING}"),
    (None, "no subject", f"Mangiano/mangiare/VERB/0/root/{P3} la/il/DET/3/det mela/mela/NOUN/1/nsubj/{SING}"),
    (None, "no object", f"Luca/Luca/PROPN/2/nsubj dorme/dormire/VERB/0/root/{S3}"),
    (None, "no object", f"Luca/Luca/PROPN/2/nsubj dorme/dormire/VERB/0/root/{S3} la/il/DET/4/det notte/notte/NOUN/2/obl/{SING}"),
    (None, "no object", f"Luca/Luca/PROPN/2/nsubj parla/parlare/VERB/0/root/{S3} a/a/ADP/4/case Maria/Maria/PROPN/2/obl"),
    (None, "the only object is the clitic «la»", f"Luca/Luca/PROPN/3/nsubj la/lo/PRON/3/obj/{SING} mangia/mangiare/VERB/0/root/{S3}"),
    (None, "the only object is the clitic «mi»", f"Luca/Luca/PROPN/3/nsubj mi/mi/PRON/3/obj vede/vedere/VERB/0/root/{S3}"),
    (None, "the predicate is nominal", f"Luca/Luca/PROPN/4/nsubj è/essere/AUX/4/cop/{S3} un/uno/DET/4/det medico/medico/NOUN/0/root/{SING}"),
    (None, "the clause is passive", f"La/il/DET/2/det mela/mela/NOUN/4/nsubj:pass/{SING} è/essere/AUX/4/aux:pass/{S3} mangiata/mangiare/VERB/0/root/{PART_FS} da/da/ADP/6/case Luca/Luca/PROPN/4/obl:agent"),
    (None, "the clause is passive", f"Si/si/PRON/2/expl:pass vendono/vendere/VERB/0/root/{P3} case/casa/NOUN/2/obj/{PLUR}"),
    (None, "the object is a clause", f"Luca/Luca/PROPN/2/nsubj dice/dire/VERB/0/root/{S3} che/che/SCONJ/4/mark piove/piovere/VERB/2/ccomp/{S3}"),
    (None, "the sentence has no verb", f"Che/che/DET/2/det giornata/giornata/NOUN/0/root/{SING}"),
    (None, "no subject and no object", f"Piove/piovere/VERB/0/root/{S3}"),
    (None, "«Luca» stands inside the verb group", f"Ha/avere/AUX/3/aux/{S3} Luca/Luca/PROPN/3/nsubj mangiato/mangiare/VERB/0/root/{PART_MS} la/il/DET/5/det mela/mela/NOUN/3/obj/{SING}"),
    # case forms and persons
    ("OSV", "case", f"I/il/DET/2/det gatti/gatto/NOUN/4/nsubj/{PLUR} io/io/PRON/4/obj amo/amare/VERB/0/root/{S1}"),
    ("SVO", "agreement", f"Noi/noi/PRON/2/obj vediamo/vedere/VERB/0/root/{P1} Luca/Luca/PROPN/2/nsubj"),
    ("OVS", "agreement", f"Noi/noi/PRON/2/nsubj vede/vedere/VERB/0/root/{S3} Luca/Luca/PROPN/2/obj"),
    ("SVO", "case", f"Luca/Luca/PROPN/2/obj vede/vedere/VERB/0/root/{S3} me/me/PRON/2/nsubj"),
    # number: of determiners rather than of features, of coordination, of names
    ("OVS", "agreement", f"La/il/DET/2/det volpe/volpe/NOUN/3/nsubj/{PLUR} inseguono/inseguire/VERB/0/root/{P3} i/il/DET/5/det cani/cane/NOUN/3/obj/{SING}"),
    ("VOS", "agreement", f"Vendono/vendere/VERB/0/root/{P3} la/il/DET/3/det casa/casa/NOUN/1/nsubj/{SING} Giulia/Giulia/PROPN/1/obj e/e/CCONJ/6/cc Piero/Piero/PROPN/4/conj"),
    ("OSV", "agreement", f"I/il/DET/2/det gatti/gatto/NOUN/4/nsubj/{PLUR} Luca/Luca/PROPN/4/obj ama/amare/VERB/0/root/{S3}"),
    # the tree hides one of the two
    ("OSV", "", f"La/il/DET/2/det mela/mela/NOUN/4/obj/{SING} Luca/Luca/PROPN/2/flat mangia/mangiare/VERB/0/root/{S3}"),
    ("VSO", "", f"Mangia/mangiare/VERB/0/root/{S3} Luca/Luca/PROPN/1/nsubj la/il/DET/4/det mela/mela/NOUN/2/appos/{SING}"),
    # modals, on whichever side the tree makes them the head
    ("SVO", "", f"Luca/Luca/PROPN/2/nsubj vuole/volere/VERB/0/root/{S3} mangiare/mangiare/VERB/2/xcomp/{INF} la/il/DET/5/det mela/mela/NOUN/3/obj/{SING}"),
    # verbs whose object feels
    ("OVS", "animacy", f"Il/il/DET/2/det bambino/bambino/NOUN/3/nsubj/{SING} spaventa/spaventare/VERB/0/root/{S3} la/il/DET/5/det notizia/notizia/NOUN/3/obj/{SING}"),
    # indirect objects and obliques are neither
    ("SVO", "", f"Luca/Luca/PROPN/2/nsubj dà/dare/VERB/0/root/{S3} a/a/ADP/4/case Maria/Maria/PROPN/2/obl il/il/DET/6/det libro/libro/NOUN/2/obj/{SING}"),
]  # fmt: skip


@pytest.mark.parametrize(("order", "why", "written"), CASES)
def test_cases(order: str | None, why: str, written: str) -> None:
    reading = read_order(tree(written))
    assert reading.order == order, reading
    assert (reading.decided_by if order else reading.reason or "").startswith(why)
    assert (reading.reason is None) == (order is not None)


def test_clausal_objects_are_a_policy() -> None:
    sentence = tree(
        f"Luca/Luca/PROPN/2/nsubj dice/dire/VERB/0/root/{S3} che/che/SCONJ/4/mark piove/piovere/VERB/2/ccomp/{S3}"
    )
    assert read_order(sentence, clausal_objects=True).order == "SVO"


def test_clitic_doubling_and_dislocation_are_named() -> None:
    """«La mela, Luca la mangia»: the clitic agrees with the object, and says so."""
    reading = read_order(tree(
        f"La/il/DET/2/det mela/mela/NOUN/6/nsubj/Gender=Fem,Number=Sing ,/,/PUNCT/2/punct Luca/Luca/PROPN/6/nsubj "
        f"la/lo/PRON/6/obj/Gender=Fem,Number=Sing mangia/mangiare/VERB/0/root/{S3}"
    ))  # fmt: skip
    assert reading.order == "OSV"
    assert reading.notes == (
        "clitic doubling: «la» takes up «mela»",
        "dislocation: the object «mela» is set off by a comma",
    )


def test_the_doubling_clitic_decides_between_equals() -> None:
    """«Il nonno la nonna lo vede»: «lo» can only take up «nonno»."""
    reading = read_order(tree(
        f"Il/il/DET/2/det nonno/nonno/NOUN/6/nsubj/Gender=Masc,Number=Sing la/il/DET/4/det "
        f"nonna/nonna/NOUN/6/obj/Gender=Fem,Number=Sing lo/lo/PRON/6/obj/Gender=Masc,Number=Sing vede/vedere/VERB/0/root/{S3}"
    ))  # fmt: skip
    assert (reading.order, reading.margin) == ("OSV", inf)
    assert reading.decided_by == "agreement: the clitic «lo» agrees with «nonno»"


def test_of_three_noun_phrases_the_likeliest_two_are_taken() -> None:
    """«La domenica Luca legge il giornale», with the day of the week called a subject."""
    scores = Scores({(2, "nsubj"): -4.0, (3, "nsubj"): -0.1, (3, "obj"): -5.0, (6, "obj"): -0.1, (6, "nsubj"): -5.0})
    reading = read_order(tree(
        f"La/il/DET/2/det domenica/domenica/NOUN/4/nsubj/{SING} Luca/Luca/PROPN/4/nsubj legge/leggere/VERB/0/root/{S3} "
        f"il/il/DET/6/det giornale/giornale/NOUN/4/obj/{SING}", scores,
    ))  # fmt: skip
    assert (reading.order, reading.subject, reading.object) == ("SVO", 3, 6)


@given(any_trees())
def test_any_tree_gets_a_reading(sentence: Sentence) -> None:
    reading = read_order(sentence)
    assert (reading.order is None) == (reading.reason is not None)
    assert reading.order is None or reading.order in ORDERS
    if reading.order is not None:
        places = {"S": reading.subject, "V": reading.verb, "O": reading.object}
        assert "".join(sorted(places, key=lambda letter: places[letter] or 0)) == reading.order


def test_no_words_no_order() -> None:
    assert read_order(Sentence("", ())) == OrderReading(
        None, None, None, None, "the sentence has no verb of its own", ""
    )


def test_an_absurd_tree_takes_linear_time() -> None:
    """Ten thousand subjects of one verb, and a chain of ten thousand verbs under a noun."""
    flat = [Token(i, "cane", "cane", "NOUN", None, {}, 1, "nsubj") for i in range(2, 10_001)]
    verb = Token(1, "vede", "vedere", "VERB", None, {"VerbForm": "Fin", "Person": "3", "Number": "Sing"}, 0, "root")
    assert read_order(Sentence("", (verb, *flat))).verb == 1
    noun = Token(1, "cane", "cane", "NOUN", None, {}, 0, "root")
    mark = Token(2, "che", "che", "SCONJ", None, {}, 3, "mark")
    chain = [replace(verb, id=i, head=1 if i == 3 else i - 1, deprel="acl") for i in range(3, 10_001)]
    assert read_order(Sentence("", (noun, mark, *chain))).verb is None
