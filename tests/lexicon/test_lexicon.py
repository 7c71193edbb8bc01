"""The lexicon: tiers of words, anagrams, and that its data is what it says."""

import hashlib
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.errors import DataError
from oulibench.lexicon import Lexicon, load_lexicon
from oulibench.text import letters, words

GOLDEN = Path(__file__).parents[1] / "golden"
DATA = Path(__file__).parents[2] / "src" / "oulibench" / "data" / "it" / "lexicon"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon("it")


@pytest.mark.parametrize("row", rows("lexicon_tiers.jsonl"), ids=lambda row: row["word"])
def test_tier(lexicon: Lexicon, row: dict[str, str]) -> None:
    tier = lexicon.tier(row["word"])
    assert tier in (("core", "extended") if row["tier"] == "known" else (row["tier"],))
    assert lexicon.is_known(row["word"]) == (row["tier"] != "unknown")


@pytest.mark.parametrize("row", rows("lexicon_anagrams.jsonl"), ids=lambda row: row["word"])
def test_anagrams(lexicon: Lexicon, row: dict[str, Any]) -> None:
    found = lexicon.anagrams(row["word"])
    assert set(row["includes"]) <= set(found)
    assert not set(row["excludes"]) & set(found)
    assert lexicon.count_anagrams(row["word"]) == len(found)


def test_anagrams_with_clitics(lexicon: Lexicon) -> None:
    assert "dammelo" in lexicon.anagrams("melmado")
    assert "mangiarla" in lexicon.anagrams("lamangiar")


def test_every_word_of_a_plain_sentence_is_known(lexicon: Lexicon) -> None:
    text = "L'altr'anno, un po' per gioco, c'incontrammo dov'era il vecchio mulino e dell'acqua restava solo l'eco."
    assert [word for word in words(text) if not lexicon.is_known(word)] == []


@given(st.text(max_size=80))
def test_any_text_has_a_tier(text: str) -> None:
    assert load_lexicon().tier(text) in ("core", "extended", "unknown")


@given(st.text(alphabet="abcdefilmnoprstuvzàèéìòù'-.", max_size=14))
def test_case_and_unicode_form_do_not_matter(text: str) -> None:
    lexicon = load_lexicon()
    tier = lexicon.tier(text)
    assert lexicon.tier(text.upper()) == tier
    assert lexicon.tier(text.capitalize()) == tier
    assert lexicon.tier(unicodedata.normalize("NFD", text)) == tier


SOURCES = ["noce", "attore", "calendario", "portare", "serpente", "mangiarlo", "ristorante", "perché", "cane"]


@given(st.sampled_from(SOURCES), st.randoms())
def test_anagrams_are_known_anagrams_whatever_the_order(word: str, random: Any) -> None:
    lexicon = load_lexicon()
    shuffled = "".join(random.sample(letters(word), len(letters(word))))
    for found in lexicon.anagrams(shuffled):
        assert sorted(letters(found)) == sorted(letters(word))
        assert letters(found) != shuffled
        assert lexicon.is_known(found)
    if shuffled != letters(word):
        assert word in lexicon.anagrams(shuffled)


@pytest.mark.parametrize("text", ["a" * 1_000_000, "\x00", "casa\x00", "\ud800", "ca\udc00sa", "1" * 61, "'" * 50])
def test_hostile_text_is_unknown(lexicon: Lexicon, text: str) -> None:
    assert lexicon.tier(text) == "unknown"
    assert lexicon.anagrams(text) == []


def test_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(DataError, match="it"):
        load_lexicon("xx")
    with pytest.raises(DataError):
        load_lexicon("../it")


def test_version_and_digests_are_those_of_the_files(lexicon: Lexicon) -> None:
    manifest = json.loads((DATA / "manifest.json").read_text("utf-8"))
    digests = {name: hashlib.sha256((DATA / name).read_bytes()).hexdigest() for name in manifest["sha256"]}
    assert digests == manifest["sha256"]
    whole = hashlib.sha256("\n".join(f"{name} {digests[name]}" for name in sorted(digests)).encode()).hexdigest()
    assert lexicon.version == manifest["version"] == f"morphit0.48+{whole[:8]}"


def test_verbs_with_essere_are_well_formed() -> None:
    lines = (DATA / "essere_verbs.tsv").read_text("utf-8").splitlines()
    header, *table = [line.split("\t") for line in lines if not line.startswith("#")]
    assert header == ["lemma", "auxiliary", "object"]
    verbs = {lemma: (auxiliary, transitive) for lemma, auxiliary, transitive in table}
    assert len(verbs) == len(table) >= 250
    assert verbs["arrivare"] == ("essere", "no")
    assert verbs["correre"] == ("both", "yes")
    assert verbs["piovere"] == ("both", "no")
    assert not {"mangiare", "leggere", "amare", "dormire", "lavorare", "ridere"} & verbs.keys()
    assert {auxiliary for auxiliary, _ in verbs.values()} == {"essere", "both"}


@pytest.mark.parametrize(
    ("word", "attested"),
    [("casa", True), ("Etna", True), ("OMAR", True), ("otrebla", False), ("mrao", False), ("", False)],
)
def test_attested_words_are_those_that_texts_hold(word: str, attested: bool) -> None:
    assert load_lexicon().is_attested(word) is attested
