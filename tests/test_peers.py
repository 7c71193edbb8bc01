"""The comparison with other checkers: our column, the truths it rests on, and the page that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.peers import Target, load_peers
from benchmarks.peers.cases import RULES, Case, golden_cases, ours
from benchmarks.peers.kinds import kind
from benchmarks.peers.page import NOT_MEASURED, render
from benchmarks.peers.treebank import begins_with_list_mark, graphic, orthographic

from oulibench.syntax.tree import Sentence, read_conllu

PAGE = Path(__file__).parents[1] / "docs/peers.md"


def test_our_verdicts_are_right_on_every_case() -> None:
    wrong = [case for case in golden_cases() if ours(case.rule, case.target, case.text) is not case.expected]
    assert not wrong


def test_every_rule_has_cases() -> None:
    assert {case.rule for case in golden_cases()} == set(RULES)


def test_shortcuts_are_judged_by_their_letters_or_left_out() -> None:
    expected = {(case.rule, case.text): case.expected for case in golden_cases()}
    assert expected["tautogram", "Mamma"] is True  # one word repeated: a shortcut to us, m at every beginning to all
    assert expected["palindrome, one word", "Abcdedcba"] is True
    assert ("acrostic", "S.O.L.E.") not in expected
    assert expected["lipogram", "Perché no"] is False


def sentence(*tokens: str) -> Sentence:
    """A sentence of surface tokens; `+` at the end of one says that no space follows."""
    lines = []
    for i, token in enumerate(tokens, 1):
        misc = "SpaceAfter=No" if token.endswith("+") else "_"
        relation = "root" if i == 1 else "dep"
        lines.append("\t".join((str(i), token.removesuffix("+"), "_", "X", "_", "_", str(i - 1), relation, "_", misc)))
    text = "".join(token[:-1] if token.endswith("+") else token + " " for token in tokens).strip()
    return next(iter(read_conllu("\n".join([f"# text = {text}", *lines, "", ""]))))


@pytest.mark.parametrize(
    ("tokens", "words", "stretches"),
    [
        (["L'+", "amica", "arriva+", "."], ["L'", "amica", "arriva"], 2),
        (["Un", "po'+", ",", "sì"], ["Un", "po'", "sì"], 3),
        (["Treno", "Roma+", "-+", "Bari"], ["Treno", "Roma-Bari"], 2),
        (["Roma", "-", "Bari"], ["Roma", "Bari"], 2),
        (["pane", "e+", "/+", "o", "vino"], ["pane", "e/o", "vino"], 3),
        (["uomini+", "/+", "donne"], ["uomini", "donne"], 1),
        (["il", "12+", "/+", "05+", "/+", "2024"], ["il", "12/05/2024"], 2),
        (["«+", "Vengo+", "»+", ",", "disse"], ["Vengo", "disse"], 2),
        (["10+", "%", "in", "più"], ["10", "in", "più"], 3),
        (["dell'+", "80+", "..."], ["dell'", "80"], 1),
    ],
)
def test_words_of_gold_tokens(tokens: list[str], words: list[str], stretches: int) -> None:
    found = sentence(*tokens)
    assert orthographic(found) == words
    assert graphic(found) == stretches


@pytest.mark.parametrize(
    ("tokens", "marked"),
    [
        (["1+", ")", "Trasferimenti"], True),
        (["(14)", "Come"], True),
        (["ii+", ")", "Nome"], True),
        (["c)", "Rifiuti"], True),
        (["867.", "Distanze"], True),
        (["Sì+", ".", "Vengo"], False),
        (["1984", "torna"], False),
        (["S.p.A.", "fallita"], False),
    ],
)
def test_list_marks_of_gold_tokens(tokens: list[str], marked: bool) -> None:
    assert begins_with_list_mark(sentence(*tokens)) is marked


def test_an_error_turns_on_the_change_that_mends_it() -> None:
    def four_between_spaces(text: str) -> bool:
        return len(text.split()) == 4

    assert kind(Case("word_length", 4, "L'amica va via", True), four_between_spaces) == "apostrophes"
    assert kind(Case("word_length", 4, "Lei – se vuole – parte", True), four_between_spaces).startswith("quotation")
    assert kind(Case("word_length", 4, "2. Lei ora va via", True), four_between_spaces) == "list mark at the start"
    assert kind(Case("word_length", 4, "我 爱 你 们", False), four_between_spaces) == "no word in the Latin alphabet"
    assert kind(Case("lipogram", "e", "Non è qui", False), lambda text: "e" not in text) == "accents"
    assert kind(Case("lipogram", "e", "Non va", False), lambda text: True) == "other"


def test_a_section_that_is_not_measured_stays() -> None:
    first = render({"Versions": ("Python 3, peer 1.",)})
    assert NOT_MEASURED in first
    assert first.endswith("## Versions\n\nPython 3, peer 1.\n")
    timed = render({"Time per verdict": ("| a |",)}, first)
    assert "Python 3, peer 1." in timed
    assert "| a |" in timed
    assert render({"Time per verdict": ("| a |",)}, timed) == timed


def test_the_page_shows_what_the_command_measures() -> None:
    pytest.importorskip("collie")
    pytest.importorskip("if_verifiable")
    pytest.importorskip("statsmodels")
    from benchmarks.peers.table import measure

    peers, missing = load_peers()
    assert not missing
    tables = measure(peers)
    page = PAGE.read_text(encoding="utf-8")
    for heading in ("How each is asked", "The golden cases"):
        for table in tables[heading]:
            assert table in page, (
                f"docs/peers.md is out of date: python -m benchmarks.peers --write docs/peers.md\n{table}"
            )
    assert NOT_MEASURED not in page


def test_a_peer_says_none_where_it_has_nothing() -> None:
    pytest.importorskip("collie")
    pytest.importorskip("if_verifiable")
    peers, _ = load_peers()
    for peer in peers:
        targets = {case.rule: case.target for case in golden_cases()}
        assert {rule for rule, target in targets.items() if peer.express(rule, target)} == set(peer.HOW), peer.NAME
        assert peer.express("voice", "active") is None


def test_peers_judge_plain_text_as_they_promise() -> None:
    pytest.importorskip("collie")
    pytest.importorskip("if_verifiable")
    plain: list[tuple[str, Target, str, str]] = [
        ("word_length", 3, "The cat sleeps", "The black cat sleeps"),
        ("char_length", 5, "a cat", "the cat"),
        ("lipogram", "e", "A big cat", "The cat"),
        ("inverse_lipogram", "e", "See them here", "See that here"),
        ("tautogram", "m", "My mother makes muffins", "My mother bakes muffins"),
        ("acrostic", "cat", "Come at two", "Come at noon"),
        ("word_anagram", "listen", "Silent", "Tinsels"),
        ("sentence_anagram", "dormitory now", "dirty room won", "dirty rooms won"),
        ("palindrome, one word", None, "level", "lever"),
    ]
    peers, _ = load_peers()
    asked = 0
    for rule, target, good, bad in plain:
        for peer in peers:
            if check := peer.express(rule, target):
                assert check(good), (peer.NAME, rule)
                assert not check(bad), (peer.NAME, rule)
                asked += 1
    assert asked == 14
