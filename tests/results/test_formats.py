"""What comes from a model stays text: in HTML, Markdown, CSV, LaTeX and on a terminal."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oulibench.results.formats import Bold, csv_table, latex_escape, markdown_table, plain_table
from oulibench.results.intervals import Interval
from oulibench.results.labels import LANGUAGES, load_labels
from oulibench.results.published import load_source
from oulibench.results.tables import Entry, Table, mark_best

FORMULAS = ["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", " =1", '=HYPERLINK("http://x")', "|calc"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_in_csv_is_text(text: str) -> None:
    ((cell,),) = list(csv.reader(io.StringIO(csv_table(["h"], [[text]]).split("\n", 1)[1])))
    assert cell.startswith("'")


def test_negative_numbers_stay_numbers_in_csv() -> None:
    assert csv_table(["h", "i"], [[-0.5, -3]]) == "h,i\n-0.5,-3\n"


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_csv_comes_back_as_it_went_in(cells: list[str]) -> None:
    written = csv_table([f"c{i}" for i in range(len(cells))], [cells])
    (_, back) = list(csv.reader(io.StringIO(written, newline="")))
    for cell, text in zip(back, cells, strict=True):
        expected = text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
        assert cell.removeprefix("'").replace("\r\n", "\n").replace("\r", "\n") in (
            expected.replace("\r\n", "\n").replace("\r", "\n"),
            expected.removeprefix("'").replace("\r\n", "\n").replace("\r", "\n"),
        )


def test_markdown_shows_markup_as_it_is() -> None:
    table = markdown_table(["a|b"], [["<script>*x*</script> | `c` [l](u)\nnew"]])
    assert "<script>" not in table
    assert table.count("\n") == 3, "a line end in a cell makes no row"
    assert r"\|" in table
    assert markdown_table(["a"], [[Bold("0.5")]]).endswith("| **0.5** |\n")


@given(st.text(alphabet='\\{}$&#%_^~<>|"ab \n\x00\u202e', max_size=30))
def test_latex_holds_no_bare_special(text: str) -> None:
    escaped = latex_escape(text)
    commands = r"\textbackslash{} \textasciicircum{} \textasciitilde{} \textless{} \textgreater{}"
    for command in [
        *commands.split(),
        r"\textbar{}",
        r"\textquotedbl{}",
        *[r"\{", r"\}", r"\$", r"\&", r"\#", r"\%", r"\_"],
    ]:
        escaped = escaped.replace(command, "")
    assert not set(escaped) - set("ab ")


def test_the_terminal_gets_no_escape_sequences() -> None:
    shown = plain_table(["model"], [["\x1b[31mred\x1b[0m\u202e\nnew"]])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.split("\n")) == 3


def test_booktabs_table_with_bold_best_and_intervals() -> None:
    interval = Interval(0.1, 0.45, "bootstrap", few=True)
    rows = mark_best(
        [
            (Entry("a_b"), Entry(0.3, "rate", interval)),
            (Entry("c"), Entry(0.5, "rate", mark="†")),
            (Entry("d"), Entry(0.2, "rate")),
        ],
        [1],
    )
    table = Table("t", "T & T", "", ("Model", "ρ"), tuple(rows), ("x", "x", "y"))
    latex = table.latex(intervals=True)
    assert r"\begin{tabular}{lr}" in latex
    assert r"a\_b & \textbf{0.300} {\scriptsize [0.100, 0.450]}\textsuperscript{\textdegree} \\" in latex
    assert r"c & 0.500\textsuperscript{\dag} \\" in latex, "what cannot be assessed is not the best"
    assert latex.index(r"\midrule" + "\nd") > 0
    assert latex.rstrip().endswith(r"\end{tabular}")
    assert "scriptsize" not in table.latex()
    assert table.csv().splitlines()[0] == "Model,ρ,ρ low,ρ high"
    assert "**0.300**" in table.markdown()


def test_nothing_is_best_where_all_are_equal_or_nothing_passed() -> None:
    for values in ((0.0, 0.0), (0.4, 0.4), (None, 0.4)):
        rows = mark_best([(Entry(v, "rate"),) for v in values], [0])
        assert not any(row[0].best for row in rows)


def test_numbers_as_they_are_shown() -> None:
    assert Entry(-0.0001, "rate").shown == "0.000"
    assert Entry(-0.25, "rate").shown == "−0.250"
    assert Entry(0.0004, "p").shown == "< .001"
    assert Entry(None, "rate").shown == "–"
    assert Entry(12345, "count").shown == "12,345"


def test_both_languages_have_the_same_labels() -> None:
    def keys(table: object, path: str = "") -> set[str]:
        if not isinstance(table, dict):
            return {path}
        return {key for name, value in table.items() for key in keys(value, f"{path}/{name}")}

    first, *others = [keys(dict(load_labels(language)._table)) for language in LANGUAGES]
    for other in others:
        assert first == other


def test_published_figures_are_the_papers() -> None:
    source = load_source()
    word_length = {m: f.value for m in source.models if (f := source.figure(m, "word_length", 0))}
    assert list(word_length.values()) == [0.34, 0.17, 0.30, 0.09, 0.27, 0.09, 0.05, 0.03]
    claude = source.figure("Claude Sonnet 4", "char_length", 0)
    assert claude is not None
    assert (claude.value, claude.printed) == (0.0003, "0.03%")
    assert ".03" in claude.note, "the doubt is said"
    assert source.figure("Velvet-14B", "char_length", 0) is None
    assert source.figure("Minerva-7B-instruct-v1.0", "acrostic", 0) is None
    few_shot = source.figure("LLaMAntino-3-ANITA-8B", "word_length", 15)
    assert few_shot is not None
    assert few_shot.value == 0.13


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("hf/sapienzanlp/Minerva-7B-instruct-v1.0", "Minerva-7B-instruct-v1.0"),
        ("openai/gpt-4o-mini-2024-07-18", "GPT-4o mini"),
        ("openai/gpt-4o", None),
        ("anthropic/claude-sonnet-4-20250514", "Claude Sonnet 4"),
        ("google/gemini-2.5-flash", "Gemini 2.5 Flash"),
        ("hf/sapienzanlp/Minerva-3B-base-v1.0", None),
        ("local/smollm2-135m", None),
    ],
)
def test_ones_own_model_is_recognised_by_name(name: str, model: str | None) -> None:
    assert load_source().counterpart(name) == model
