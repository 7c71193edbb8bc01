"""Schemes: what a configuration must say, and what is said when it does not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from oulibench.annotation.scheme import SHIPPED, load_scheme, parse_scheme
from oulibench.errors import DataError
from oulibench.language import ITALIAN

SOURCE = """
name = "mine"
version = 1
intro = { it = "i", en = "i" }
tolerance = { it = "t", en = "t" }
[[dimension]]
id = "fluency"
label = { it = "l", en = "l" }
question = { it = "q", en = "q" }
point = [
  { value = 0, label = { it = "no", en = "no" }, guideline = { it = "g", en = "g" } },
  { value = 1, label = { it = "sì", en = "yes" }, guideline = { it = "g", en = "g" } },
]
[[flag]]
id = "odd"
key = "x"
label = { it = "l", en = "l" }
guideline = { it = "g", en = "g" }
"""


def test_the_shipped_schemes_can_be_read() -> None:
    for name in SHIPPED:
        scheme = load_scheme(name)
        assert scheme.name == name
        assert [d.id for d in scheme.dimensions] == ["grammaticality", "coherence", "appropriateness"]
        assert parse_scheme(scheme.source) == scheme
    assert load_scheme("five-points").dimensions[0].values == (1, 2, 3, 4, 5)
    assert load_scheme("yes-no").dimensions[0].values == (0, 1)


def test_ones_own_scheme(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SOURCE)
    scheme = load_scheme(str(path))
    assert scheme.problem({"fluency": 1}, frozenset()) is None
    assert scheme.problem({}, frozenset({"odd"})) == "missing fluency"  # this flag excuses nothing
    with pytest.raises(DataError, match="five-points"):
        load_scheme(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "mine"', "", "name"),
        ("version = 1", "version = true", "version"),
        ("[[dimension]]", "[[dimensions]]", "nothing to rate"),
        ('id = "fluency"', 'id = "flu ency"', "id"),
        ('id = "fluency"', 'id = "odd"', "twice"),
        ("value = 1", "value = 0", "ascending"),
        ("value = 1", 'value = "1"', "whole number"),
        ("value = 1", "value = 101", "0 to 100"),
        ('key = "x"', 'key = "u"', "key"),
        ('key = "x"', 'key = "7"', "key"),
        ('it = "q"', 'it = ""', "question"),
        ('en = "q"', 'de = "q"', "question"),
        ("[[flag]]", "[flag]", r"\[\[flag\]\]"),
        ("[[flag]]", "[[flag", "line"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    assert old in SOURCE
    with pytest.raises(DataError, match=message):
        parse_scheme(SOURCE.replace(old, new, 1), "mine.toml")


def test_every_task_is_described_in_both_languages() -> None:
    from oulibench.annotation.scheme import describe
    from oulibench.constraints import task_names

    table = tomllib.loads(ITALIAN.data("annotation", "constraints.toml").read_text(encoding="utf-8"))
    targets = {"voice": ["active", "passive", "reflexive"], "word_order": ["SVO"]}
    for task in task_names():
        assert task in table
        for target in targets.get(task, ["e"]):
            italian, english = describe(task, target, "it").text, describe(task, target, "en").text
            assert italian != english
            assert "{" not in italian + english
