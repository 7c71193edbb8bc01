"""The profile of small trees, with every value worked out by hand from the definitions."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from oulibench.syntax.profile import FEATURES, n_syntactic_words, n_tokens, profile_sentences
from oulibench.syntax.tree import Sentence, Token, read_conllu, to_conllu

TREES = {
    sentence.sent_id or "": sentence
    for sentence in read_conllu(Path(__file__).parents[1] / "golden" / "profile_trees.conllu")
}

BY_HAND: Mapping[str, Mapping[str, float]] = {
    # Il gatto dorme.
    "nomi-verbi": {
        "n_sentences": 1, "n_tokens": 4, "tokens_per_sent": 4, "char_per_tok": 12 / 3, "lexical_density": 2 / 3,
        "upos_dist_DET": 25, "upos_dist_NOUN": 25, "upos_dist_VERB": 25, "upos_dist_PUNCT": 25, "upos_dist_ADJ": 0,
        "verbs_mood_dist_Ind": 100, "verbs_tense_dist_Pres": 100, "verbs_form_dist_Fin": 100,
        "verbs_num_pers_dist_Sing+3": 100, "aux_mood_dist_Ind": 0, "verbal_head_per_sent": 1, "verbal_root_perc": 100,
        "avg_verb_edges": 1, "verb_edges_dist_1": 100, "avg_max_depth": 2, "avg_token_per_clause": 4,
        "avg_links_len": 1, "max_links_len": 1, "avg_max_links_len": 1, "n_prepositional_chains": 0,
        "avg_prepositional_chain_len": 0, "prep_dist_1": 0, "subj_pre": 100, "subj_post": 0, "obj_pre": 0,
        "obj_post": 0, "dep_dist_det": 25, "dep_dist_nsubj": 25, "dep_dist_root": 25, "dep_dist_punct": 25,
        "principal_proposition_dist": 100, "subordinate_proposition_dist": 0, "avg_subordinate_chain_len": 0,
    },
    # Luca ha mangiato la mela della nonna di Maria: the contraction counts as two words
    "catena": {
        "n_tokens": 11, "char_per_tok": 36 / 10, "lexical_density": 0.5, "avg_verb_edges": 2, "verb_edges_dist_2": 100,
        "n_prepositional_chains": 1, "avg_prepositional_chain_len": 2, "prep_dist_1": 0, "prep_dist_2": 100,
        "avg_max_depth": 4, "avg_links_len": 15 / 9, "max_links_len": 3, "aux_mood_dist_Ind": 100,
        "aux_form_dist_Fin": 100, "aux_num_pers_dist_Sing+3": 100, "verbs_form_dist_Part": 100,
        "verbs_tense_dist_Past": 100, "verbs_num_pers_dist_Sing+3": 0, "subj_pre": 100, "obj_post": 100,
    },
    # Anna è stanca: a copular predicate is a clause of its own, though no VERB
    "copula": {
        "verbal_head_per_sent": 1, "verbal_root_perc": 100, "avg_verb_edges": 0, "avg_token_per_clause": 4,
        "principal_proposition_dist": 100, "lexical_density": 2 / 3, "upos_dist_AUX": 25, "dep_dist_cop": 25,
    },
    # Che bella giornata!
    "nominale": {
        "verbal_head_per_sent": 0, "verbal_root_perc": 0, "avg_token_per_clause": 0, "principal_proposition_dist": 0,
        "subordinate_proposition_dist": 0, "avg_max_depth": 1, "avg_links_len": 1.5, "max_links_len": 2,
    },
    # Penso che Luca dica che piove: one clause below the other
    "subordinate-in-catena": {
        "principal_proposition_dist": 100 / 3, "subordinate_proposition_dist": 200 / 3, "subordinate_post": 100,
        "subordinate_pre": 0, "avg_subordinate_chain_len": 2, "subordinate_dist_1": 0, "subordinate_dist_2": 100,
        "avg_verb_edges": 5 / 3, "verb_edges_dist_1": 200 / 3, "verb_edges_dist_3": 100 / 3,
        "avg_token_per_clause": 7 / 3,
        "verbs_mood_dist_Ind": 200 / 3, "verbs_mood_dist_Sub": 100 / 3, "avg_max_depth": 3, "avg_links_len": 9 / 5,
        "max_links_len": 3, "verbs_num_pers_dist_Sing+1": 100 / 3, "verbs_num_pers_dist_Sing+3": 200 / 3,
    },
    # Quando piove, resterò a casa: the comma is no link
    "subordinata-prima": {
        "subordinate_pre": 100, "subordinate_post": 0, "principal_proposition_dist": 50, "subordinate_dist_1": 100,
        "verbs_tense_dist_Pres": 50, "verbs_tense_dist_Fut": 50, "avg_links_len": 1.5, "max_links_len": 2,
        "avg_max_depth": 2, "n_prepositional_chains": 0,
    },
    # di sorelle di Anna di Roma, both on «sorelle»: two ways down make two chains
    "catena-biforcuta": {
        "n_prepositional_chains": 2, "avg_prepositional_chain_len": 2, "prep_dist_2": 100, "prep_dist_1": 0,
    },
    # So che Anna era stanca
    "subordinata-copulare": {
        "verbal_head_per_sent": 2, "avg_token_per_clause": 3, "subordinate_proposition_dist": 50,
        "aux_tense_dist_Imp": 100, "aux_tense_dist_Pres": 0, "verbs_tense_dist_Pres": 100, "subordinate_dist_1": 100,
    },
    # Cantano e ballano una danza amata: neither a coordinate nor an attributive participle is subordinate
    "coordinate": {
        "verbal_head_per_sent": 3, "principal_proposition_dist": 100, "subordinate_proposition_dist": 0,
        "avg_verb_edges": 1, "verb_edges_dist_0": 100 / 3, "verb_edges_dist_1": 100 / 3, "verb_edges_dist_2": 100 / 3,
        "verbs_form_dist_Fin": 200 / 3, "verbs_form_dist_Part": 100 / 3, "verbs_num_pers_dist_Plur+3": 100,
        "verbs_tense_dist_Past": 100 / 3,
    },
    # Gli dà un libro lei: the indirect object is one of the objects
    "oggetti": {"obj_pre": 50, "obj_post": 50, "subj_pre": 0, "subj_post": 100, "verb_edges_dist_3": 100},
    # Oggi qui Anna forse non mangia mai pane: seven edges are beyond the list
    "sette-archi": {
        "avg_verb_edges": 0, "verb_edges_dist_6": 0, "verb_edges_dist_0": 0, "verbal_head_per_sent": 1,
        "max_links_len": 5, "avg_links_len": (5 + 4 + 3 + 2 + 1 + 1 + 2) / 7,
    },
    # Vorrei che il pane fosse stato mangiato: `aux` is no edge, `aux:pass` is one
    "passivo": {
        "avg_verb_edges": 2, "verb_edges_dist_1": 50, "verb_edges_dist_3": 50, "aux_form_dist_Fin": 50,
        "aux_form_dist_Part": 50, "aux_mood_dist_Sub": 100, "aux_tense_dist_Imp": 50, "aux_tense_dist_Past": 50,
        "aux_num_pers_dist_Sing+3": 100, "verbs_mood_dist_Cnd": 100, "dep_dist_aux:pass": 12.5, "dep_dist_aux": 12.5,
        "dep_dist_nsubj:pass": 12.5, "dep_dist_nsubj": 0, "subj_pre": 100,
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "feature"), [(name, feature) for name in BY_HAND for feature in BY_HAND[name]])
def test_small_trees(name: str, feature: str) -> None:
    assert profile_sentences([TREES[name]])[feature] == pytest.approx(BY_HAND[name][feature])


def test_every_tree_has_values_by_hand() -> None:
    assert set(BY_HAND) == set(TREES)


def test_documents_average_over_sentences() -> None:
    profile = profile_sentences([TREES["nomi-verbi"], TREES["nominale"]])
    by_hand = {
        "n_sentences": 2, "n_tokens": 8, "tokens_per_sent": 4, "avg_max_links_len": 1.5, "avg_max_depth": 1.5,
        "avg_links_len": 1.25, "max_links_len": 2, "verbal_root_perc": 50, "verbal_head_per_sent": 0.5,
    }  # fmt: skip
    assert {name: profile[name] for name in by_hand} == pytest.approx(by_hand)


def test_mixed_chains_are_shares_of_all_chains() -> None:
    """One chain of 2, two of 2 and none: three chains in all, and all are 2 long."""
    profile = profile_sentences([TREES["catena"], TREES["catena-biforcuta"], TREES["copula"]])
    assert profile["n_prepositional_chains"] == 3
    assert profile["prep_dist_2"] == 100


def flat_sentence(forms: list[str], *, relation: str = "dep", upos: str = "NOUN") -> Sentence:
    tokens = [
        Token(i, form, form.lower(), upos, None, {}, min(i - 1, 1), relation if i > 1 else "root")
        for i, form in enumerate(forms, 1)
    ]
    return Sentence(" ".join(forms), tuple(tokens))


def test_a_chain_of_six_counts_among_the_chains_but_in_no_class() -> None:
    tokens = [Token(1, "x", "x", "NOUN", None, {}, 0, "root")]
    for head in (1, 3, 5, 7, 9, 11):
        tokens.append(Token(head + 1, "di", "di", "ADP", None, {}, head + 2, "case"))
        tokens.append(Token(head + 2, "x", "x", "NOUN", None, {}, head, "nmod"))
    profile = profile_sentences([Sentence("", tuple(tokens)), TREES["catena"]])
    assert profile["n_prepositional_chains"] == 2
    assert profile["avg_prepositional_chain_len"] == 4  # 6 and 2
    assert [profile[f"prep_dist_{length}"] for length in range(1, 6)] == [0, 50, 0, 0, 0]


def test_type_token_ratio_of_the_first_hundred_words() -> None:
    words = [f"w{i % 40}" for i in range(99)]
    short = [flat_sentence(words), flat_sentence([",", "."], upos="PUNCT")]
    assert math.isnan(profile_sentences(short)["ttr_form_chunks_100"])
    full = profile_sentences([*short, flat_sentence(["W0", "nuovo"])])  # the hundredth word is «W0», a new form
    assert full["ttr_form_chunks_100"] == pytest.approx(41 / 100)
    assert full["ttr_lemma_chunks_100"] == pytest.approx(40 / 100)
    assert math.isnan(full["ttr_form_chunks_200"])


def test_counting_policies() -> None:
    assert n_syntactic_words(TREES["catena"]) == 10  # della = di + la
    assert n_tokens(TREES["catena"]) == 11
    assert (n_syntactic_words(TREES["nominale"]), n_tokens(TREES["nominale"])) == (3, 4)


def test_order_and_definitions_of_the_features() -> None:
    for sentences in ([], [TREES["oggetti"]], list(TREES.values())):
        assert list(profile_sentences(sentences)) == list(FEATURES)
    assert len(FEATURES) >= 130
    assert all(FEATURES.values())


def test_what_the_list_does_not_foresee_follows_it() -> None:
    profile = profile_sentences([flat_sentence(["a", "b"], relation="parataxis:hashtag")])
    assert list(profile)[len(FEATURES) :] == ["dep_dist_parataxis:hashtag"]
    assert profile["dep_dist_parataxis:hashtag"] == 50


def test_no_text_has_a_profile_of_zeros() -> None:
    assert set(profile_sentences([]).values()) == {0.0}


@pytest.mark.parametrize("family", ["upos_dist", "dep_dist", "verbs_form_dist", "verbs_mood_dist", "aux_tense_dist"])
def test_distributions_add_up(family: str) -> None:
    profile = profile_sentences(list(TREES.values()))
    assert sum(value for name, value in profile.items() if name.startswith(family)) == pytest.approx(100)


def test_the_same_profile_after_writing_and_reading() -> None:
    again = list(read_conllu("".join(map(to_conllu, TREES.values()))))
    assert profile_sentences(again) == pytest.approx(profile_sentences(list(TREES.values())), nan_ok=True)


def test_a_long_sentence_takes_linear_time() -> None:
    tokens = [Token(i, "e", "e", "NOUN", None, {}, i - 1, "nmod" if i > 1 else "root") for i in range(1, 20_001)]
    profile = profile_sentences([Sentence("", tuple(tokens))])
    assert profile["avg_max_depth"] == 19_999
