"""What docs/constraints.md says of texts is what the checkers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.docs.blocks import ROOT

import oulibench
from oulibench.constraints import benchmark_tasks
from oulibench.text import graphic_words, normalise, without_list_mark, words

PAGE = (ROOT / "docs" / "constraints.md").read_text(encoding="utf-8")


class Line(NamedTuple):
    task: str
    target: str | None
    policy: dict[str, Any]
    text: str
    verdict: str
    why: str


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(section: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The header and the rows of each table."""
    for table in re.findall(r"(?:^\|.*\n)+", section, re.M):
        header, _, *rows = table.splitlines()
        yield cells(header), [cells(row) for row in rows]


def lines() -> Iterator[Line]:
    for section in re.split(r"^### ", PAGE, flags=re.M)[1:]:
        task = section.split("\n", 1)[0].strip()
        for header, rows in tables(section.split("\n## ")[0]):
            for row in rows:
                cell = dict(zip(header, row, strict=True))
                policy = dict([cell["policy"].split(": ")]) if cell.get("policy") else {}
                text = cell["text"].replace("<br>", "\n")
                yield Line(task, cell["target"] or None, policy, text, cell["verdict"], cell["why"])


LINES = list(lines())


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.task} {line.target} {line.text} {line.policy or ''}")
def test_the_verdict_on_a_text_is_what_the_page_says(line: Line) -> None:
    verdict = oulibench.check(line.task, line.text, line.target, **line.policy)
    assert line.verdict in ("passes", "fails")
    assert verdict.passed == (line.verdict == "passes"), verdict.reason
    assert set(re.findall(r"`(\w+)`", line.why)) <= set(verdict.flags)


def test_every_task_has_texts_that_pass_and_texts_that_fail() -> None:
    for task in benchmark_tasks():
        verdicts = {line.verdict for line in LINES if line.task == task}
        assert verdicts == {"passes", "fails"}, task


def test_the_partial_scores_that_the_page_names() -> None:
    assert oulibench.check("word_length", "uno due tre quattro", 5).score == pytest.approx(0.8)
    assert oulibench.check("word_length", "uno due tre quattro cinque sei", 5).score == pytest.approx(0.83, abs=0.005)


COUNTS = next(rows for header, rows in tables(PAGE) if header[0] == "text")


def counts() -> Iterator[tuple[str, int, int]]:
    for text, orthographic, graphic in COUNTS:
        for each in (part.strip(" «»") for part in text.replace(" at the start of a text", "").split(" · ")):
            first = int(re.match(r"\d+", orthographic)[0])  # type: ignore[index]
            yield each, first, int(re.match(r"\d+", graphic)[0])  # type: ignore[index]


@pytest.mark.parametrize(("text", "orthographic", "graphic"), list(counts()))
def test_words_are_counted_as_the_page_says(text: str, orthographic: int, graphic: int) -> None:
    content = without_list_mark(normalise(text + (" " if text.endswith(".") else "")))
    if content.strip() == "1.":  # a list mark is one where something follows
        content = without_list_mark(normalise("1. x"))[:-1]
    assert (len(words(content)), len(graphic_words(content))) == (orthographic, graphic)
