"""Mining: what passes is found, what does not is left, the same seed takes the same sentences."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from oulibench.cli import main
from oulibench.constraints import get_constraint
from oulibench.errors import DataError, TargetError
from oulibench.suite.mine import (
    Candidate,
    MineWork,
    is_whole_sentence,
    mine,
    read_candidates,
    read_chunks,
    texts_to_exclude,
)
from oulibench.syntax.tree import ConlluError

TREEBANK = """\
# sent_id = a-1
# text = Il cane vede l'osso.
1\tIl\til\tDET\t_\t_\t2\tdet\t_\t_
2\tcane\tcane\tNOUN\t_\tNumber=Sing\t3\tnsubj\t_\t_
3\tvede\tvedere\tVERB\t_\tMood=Ind|Number=Sing|Person=3|VerbForm=Fin\t0\troot\t_\t_
4\tl'\til\tDET\t_\t_\t5\tdet\t_\tSpaceAfter=No
5\tosso\tosso\tNOUN\t_\tNumber=Sing\t3\tobj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

# sent_id = a-2
# text = L'osso vede il cane.
1\tL'\til\tDET\t_\t_\t2\tdet\t_\tSpaceAfter=No
2\tosso\tosso\tNOUN\t_\tNumber=Sing\t3\tobj\t_\t_
3\tvede\tvedere\tVERB\t_\tMood=Ind|Number=Sing|Person=3|VerbForm=Fin\t0\troot\t_\t_
4\til\til\tDET\t_\t_\t5\tdet\t_\t_
5\tcane\tcane\tNOUN\t_\tNumber=Sing\t3\tnsubj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

# sent_id = a-3
# text = La porta fu aperta da Anna.
1\tLa\til\tDET\t_\t_\t2\tdet\t_\t_
2\tporta\tporta\tNOUN\t_\tNumber=Sing\t4\tnsubj:pass\t_\t_
3\tfu\tessere\tAUX\t_\tMood=Ind|Number=Sing|Person=3|VerbForm=Fin\t4\taux:pass\t_\t_
4\taperta\taprire\tVERB\t_\tGender=Fem|Number=Sing|Tense=Past|VerbForm=Part\t0\troot\t_\t_
5\tda\tda\tADP\t_\t_\t6\tcase\t_\t_
6\tAnna\tAnna\tPROPN\t_\t_\t4\tobl:agent\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

"""

LINES = """\
Il sole scalda i tetti rossi.
Due righe qui. Una frase di cinque parole.
senza maiuscola non si mostra nulla
Il SOLE scalda i tetti rossi!
"""

RUNNING = """\
Era una notte buia e
tempestosa. Il dott. Rossi
dormiva.

Chi bussa?
"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "a.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    return path


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


def mined_texts(path: Path, task: str, target: object, **options: object) -> list[str]:
    found = mine(read_candidates(path), get_constraint(task), [target], **options)  # type: ignore[arg-type]
    return sorted(row["text"] for row in found.rows)


# --- reading ---


def test_a_treebank_gives_its_sentences_with_their_ids(treebank: Path) -> None:
    found = list(read_candidates(treebank))
    assert [c.text for c in found] == ["Il cane vede l'osso.", "L'osso vede il cane.", "La porta fu aperta da Anna."]
    assert found[1].source == {"file": "a.conllu", "sent_id": "a-2"}
    assert found[1].tree is not None


def test_a_sentence_without_an_id_is_known_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "b.conllu"
    path.write_text(TREEBANK.replace("# sent_id = a-2\n", "").replace("# text = L'osso vede il cane.\n", ""), "utf-8")
    second = list(read_candidates(path))[1]
    assert second.source == {"file": "b.conllu", "sentence": 2}
    assert second.text == "L'osso vede il cane."  # out of the forms


def test_lines_are_split_into_sentences(lines: Path) -> None:
    found = list(read_candidates(lines))
    assert [c.text for c in found][1:3] == ["Due righe qui.", "Una frase di cinque parole."]
    assert found[2].source == {"file": "lines.txt", "line": 2}


def test_running_text_is_joined_over_lines_and_ends_at_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    path.write_text(RUNNING, encoding="utf-8")
    found = list(read_candidates(path, "running"))
    assert [(c.text, c.source["line"]) for c in found] == [
        ("Era una notte buia e tempestosa.", 1),
        ("Il dott. Rossi dormiva.", 1),
        ("Chi bussa?", 5),
    ]


def test_a_paragraph_of_any_length_streams(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("Il fiume scorre\nverso il mare.\n" * 40_000, encoding="utf-8")
    texts = [c.text for c in read_candidates(path, "running")]
    assert len(texts) == 40_000
    assert set(texts) == {"Il fiume scorre verso il mare."}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TREEBANK.replace("3\tvede", "7\tvede", 1).encode(), r"bad\.conllu:5: "),
        (b"# text = a\n1\ta\n", r"bad\.conllu:2: 2 columns"),
        (b"# text = citt\xe0\n", r"bad\.conllu:1: .*UTF-8"),
    ],
)
def test_a_broken_treebank_is_named_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.conllu"
    path.write_bytes(content)
    with pytest.raises((DataError, ConlluError), match=message):
        list(read_candidates(path))


def test_broken_text_and_missing_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"Va bene.\nCitt\xe0 bella.\n")
    with pytest.raises(DataError, match=r"bad\.txt:2: the line is not UTF-8 \(byte 5"):
        list(read_candidates(path))
    path.write_bytes(b"Va bene.\nUn NUL\x00 qui.\n")
    with pytest.raises(DataError, match=r"bad\.txt:2: .*NUL"):
        list(read_candidates(path))
    with pytest.raises(DataError, match=r"none\.txt"):
        list(read_candidates(tmp_path / "none.txt"))


# --- choosing ---


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Il sole scalda i tetti.", True),
        ("«Vieni?» chiese Marco.", True),
        ("È tardi…", True),
        ("Disse: «Basta!»", True),
        ("Che ore sono?", True),
        ("il sole scalda i tetti.", False),
        ("Il sole scalda i tetti", False),
        ("Disse: «Basta!", False),
        ("Il sole ( quello vero scalda.", False),
        ("@mario Il sole scalda.", False),
        ("Leggete su www.esempio.it.", False),
        ("Il sole , quello vero , scalda .", False),
        ("1. Il sole scalda.", False),
        ("IL SOLE SCALDA i tetti.", False),
        ("", False),
    ],
)
def test_whole_sentences_are_told_from_fragments(text: str, whole: bool) -> None:
    assert is_whole_sentence(text) is whole


def test_what_passes_is_taken_once(lines: Path) -> None:
    # 6 words: «Il sole scalda i tetti rossi.», which stands there twice but for case and stop
    found = mine(read_candidates(lines), get_constraint("word_length"), [5, 6, 7])
    assert [row["text"] for row in found.rows] == ["Una frase di cinque parole.", "Il sole scalda i tetti rossi."]
    assert (found.read, found.fit) == (5, 4)
    assert found.passing == {5: 1, 6: 2, 7: 0}


def test_rows_are_demonstrations_with_a_source(lines: Path) -> None:
    (row,) = mine(read_candidates(lines), get_constraint("word_length"), ["5"]).rows
    assert row["id"].startswith("word_length/5/")
    assert {k: v for k, v in row.items() if k != "id"} == {
        "task": "word_length",
        "target": 5,
        "text": "Una frase di cinque parole.",
        "source": {"file": "lines.txt", "line": 2},
    }


def test_voice_and_order_are_read_off_the_gold_tree(treebank: Path) -> None:
    # «L'osso vede il cane» is OVS because its tree says so, whatever a parser would think of it
    assert mined_texts(treebank, "word_order", "SVO") == ["Il cane vede l'osso."]
    assert mined_texts(treebank, "word_order", "OVS") == ["L'osso vede il cane."]
    assert mined_texts(treebank, "voice", "passive") == ["La porta fu aperta da Anna."]
    assert len(mined_texts(treebank, "voice", "active")) == 2


def test_the_gold_tree_outweighs_what_is_likely(tmp_path: Path) -> None:
    path = tmp_path / "c.conllu"
    roles = {"3\tobj\t_\t_\n": "3\tnsubj\t_\t_\n", "3\tnsubj\t_\tSpaceAfter=No": "3\tobj\t_\tSpaceAfter=No"}
    changed = TREEBANK
    for old, new in roles.items():  # in the second sentence the bone now sees the dog
        assert changed.count(old) == 1
        changed = changed.replace(old, new)
    path.write_text(changed, encoding="utf-8")
    assert mined_texts(path, "word_order", "SVO") == ["Il cane vede l'osso.", "L'osso vede il cane."]


def test_length_shape_and_exclusion(lines: Path, tmp_path: Path) -> None:
    assert mined_texts(lines, "word_length", 6, whole=False) == [
        "Il sole scalda i tetti rossi.",
        "senza maiuscola non si mostra nulla",
    ]
    assert mined_texts(lines, "word_length", 6, length=(3, 5)) == []
    shown = tmp_path / "shown.jsonl"
    shown.write_text(json.dumps({"text": "Il sole scalda i tetti rossi"}) + "\n", encoding="utf-8")
    assert mined_texts(lines, "word_length", 6, exclude=texts_to_exclude([shown])) == []
    assert mined_texts(lines, "word_length", 5, exclude=texts_to_exclude([lines])) == []


def test_the_sample_depends_on_the_seed_and_not_on_the_order() -> None:
    texts = [f"Il numero {n} è bello." for n in range(100)]
    candidates = [Candidate(text, {"file": "x", "line": n}) for n, text in enumerate(texts, 1)]
    constraint = get_constraint("word_length")

    def sample(order: list[Candidate], seed: int) -> list[str]:
        return [row["text"] for row in mine(order, constraint, [5], per_target=10, seed=seed).rows]

    first = sample(candidates, 0)
    assert len(set(first)) == 10
    assert sample(candidates[::-1], 0) == first
    assert sample(candidates + candidates, 0) == first
    assert sample(candidates, 1) != first
    # a larger sample begins with the smaller one
    assert [r["text"] for r in mine(candidates, constraint, [5], per_target=20).rows][:10] == first


def test_damaged_candidates_are_passed_over() -> None:
    candidates = [Candidate("Un testo\x00 rotto.", {"file": "x"}), Candidate("Un testo \ud800 rotto.", {"file": "x"})]
    found = mine(candidates, get_constraint("word_length"), [3])
    assert (found.read, found.fit, found.rows) == (2, 0, [])


def test_a_target_that_fits_no_task_is_refused() -> None:
    with pytest.raises(TargetError):
        mine([], get_constraint("lipogram"), ["ab"])


# --- the command ---


def test_the_command_writes_rows_that_score_as_passed(lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["mine", str(lines), "--task", "lipogram", "--target", "u", "--per-target", "1", "-o", str(out)]) == 0
    (row,) = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert get_constraint("lipogram").check(row["text"], "u").passed


def test_the_command_says_what_it_lacks(lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["mine", str(lines), "--task", "word_length", "--per-target", "2", "-o", str(out)]) == 1
    table = capsys.readouterr().err.split("\n")
    assert [line.split() for line in table[2:5]] == [["5", "1", "1"], ["10", "0", "0"], ["15", "0", "0"]]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--task", "lipogramm"],
        ["--task", "lipogram", "--target", "è ò"],
        ["--task", "lipogram", "--exclude", "none.jsonl"],
    ],
)
def test_a_bad_call_gives_two(lines: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mine", str(lines), *arguments]) == 2
    assert capsys.readouterr().err.startswith("oulibench mine: ")


def test_a_source_is_never_overwritten(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mine", str(lines), "--task", "lipogram", "-o", str(lines)]) == 2
    assert lines.read_text("utf-8") == LINES


@pytest.mark.slow
@pytest.mark.skipif("OULIBENCH_UD" not in os.environ, reason="OULIBENCH_UD names no folder of treebanks")
@pytest.mark.parametrize(
    ("task", "fewest"), [("word_length", 15), ("char_length", 15), ("lipogram", 15), ("voice", 15), ("word_order", 5)]
)
def test_real_treebanks_have_demonstrations_for_every_target(task: str, fewest: int) -> None:
    constraint = get_constraint(task)
    files = sorted(Path(os.environ["OULIBENCH_UD"]).glob("*.conllu"))
    candidates = (candidate for file in files for candidate in read_candidates(file))
    targets = [spec.value for spec in constraint.targets()]
    found = mine(candidates, constraint, targets)
    for target in targets:
        rows = [row for row in found.rows if row["target"] == target]
        assert len(rows) >= fewest, target
        if task not in ("voice", "word_order"):
            assert all(constraint.check(row["text"], target).passed for row in rows)


@pytest.mark.parametrize(
    ("task", "targets"), [("lipogram", ["e", "i"]), ("word_length", ["3", "5"]), ("palindrome", [None])]
)
@pytest.mark.parametrize("characters", [1, 100, 3_000])
def test_parts_put_together_are_what_the_whole_gives(
    task: str, targets: list[str | None], characters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oulibench.suite.mine._CHUNK_CHARACTERS", characters)
    sentences = ["Il mare dorme.", "Dormo solo.", "Oro, oro, oro.", "Il mare DORME!", "Ogni gatto qui canta piano."]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(f"{sentences[i % 5]} Numero {i % 37} va qui." for i in range(200)), "utf-8")
    whole = mine(read_candidates(path), get_constraint(task), targets, per_target=5, seed=7)
    work = MineWork(task, tuple(map(get_constraint(task).parse_target, targets)), per_target=5, seed=7)
    chunks = list(read_chunks(path))
    assert len(chunks) > 1
    assert work.merge(map(work, chunks)) == whole
    assert whole.fit > 200
    halves = [half for chunk in chunks for half in work.halves(chunk) or (chunk,)]
    assert work.merge(map(work, halves)) == whole


def test_processes_find_what_one_finds(tmp_path: Path, treebank: Path, lines: Path) -> None:
    found = []
    for jobs in ("1", "2"):
        main(["mine", str(treebank), str(lines), "--task", "voice", "-j", jobs, "-o", str(tmp_path / jobs)])
        found.append((tmp_path / jobs).read_bytes())
    assert found[0] == found[1] != b""


def test_a_folder_is_mined_all_the_way_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.conllu").write_text(TREEBANK, encoding="utf-8")
    (tmp_path / "in" / "deep" / "b.txt").write_text(LINES, encoding="utf-8")
    (tmp_path / "in" / "c.json").write_text("no text", encoding="utf-8")
    main(["mine", str(tmp_path / "in"), "--task", "lipogram", "--target", "u"])
    assert {json.loads(line)["source"]["file"] for line in capsys.readouterr().out.splitlines()} == {
        "a.conllu",
        "b.txt",
    }
    assert main(["mine", str(tmp_path / "none"), "--task", "lipogram"]) == 2


def test_a_corpus_without_sentences_gives_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("\n", encoding="utf-8")
    assert main(["mine", str(tmp_path / "a.txt"), "--task", "lipogram", "--target", "e"]) == 1
    assert "0 sentences read" in capsys.readouterr().err
