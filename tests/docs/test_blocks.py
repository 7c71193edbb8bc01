"""Every command and every Python block of README.md and docs/ does what the page says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.docs.blocks import PAGES, ROOT, Block, accepts, blocks, can_run, extras, oulibench_calls, session

RUN = ("sh", "python")
WITH_BLOCKS = [page for page in PAGES if any(block.language in RUN for block in blocks(page))]
ALL = [block for page in PAGES for block in blocks(page)]


def named(value: object) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else value.name if isinstance(value, Block) else ""


def runnable(page: Path) -> list[Block]:
    return [b for b in blocks(page) if b.language in RUN and not b.installs and can_run(b)]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=named)
def test_the_blocks_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    chosen = [block for block in runnable(page) if not block.takes]
    if not chosen:
        pytest.skip("nothing on this page can be run here")
    with session(tmp_path) as running:
        for block in chosen:
            running.run(block)


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in WITH_BLOCKS if any(b.takes for b in runnable(p))], ids=named)
def test_all_blocks_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    with session(tmp_path) as running:
        for block in runnable(page):
            running.run(block)


CALLS = [
    pytest.param(call, id=f"{block.name} {' '.join(call)}"[:120])
    for block in ALL
    if block.language == "sh"
    for call in oulibench_calls(block.code)
]


@pytest.mark.parametrize("call", CALLS)
def test_every_oulibench_command_on_a_page_is_one_that_its_parser_accepts(call: list[str]) -> None:
    assert accepts(call) == ""


@pytest.mark.parametrize("block", [b for b in ALL if b.language in ("json", "jsonl", "toml")], ids=named)
def test_data_on_a_page_can_be_read(block: Block) -> None:
    if block.language == "toml":
        tomllib.loads(block.code)
    elif block.language == "json":
        json.loads(block.code)
    else:
        for line in block.code.splitlines():
            json.loads(line)


@pytest.mark.parametrize("block", [b for b in ALL if b.language in RUN and b.needs], ids=named)
def test_python_that_cannot_be_run_here_is_at_least_python(block: Block) -> None:
    if block.language == "python":
        compile(block.code, block.name, "exec")


def test_languages_of_blocks_are_known_ones() -> None:
    """A block of another language is run by nobody: `bash` or `shell` would slip through."""
    known = {*RUN, "text", "json", "jsonl", "toml", "yaml", "bibtex", "latex", "csv", "console", "xml"}
    assert {block.name: block.language for block in ALL if block.language not in known} == {}


def _plain(command: str) -> str:
    """A command less what only makes it quiet or says where its environment is."""
    command = re.sub(r" (-q|--quiet|--disable-pip-version-check)(?= |$)", "", command, flags=re.M)
    return re.sub(r'"?(?:\$\w+|\.venv)(?:/venv)?(?:/bin/(\w+)|)"?', r"\1", command).strip()


def test_the_two_commands_of_the_readme_are_those_that_ci_runs() -> None:
    """They make environments and load packages: here it is only checked that .ci/run does the same, word for word."""
    lines = [
        line for b in blocks(ROOT / "README.md") if b.installs for line in b.code.splitlines() if "-m venv" in line
    ]
    assert len(lines) == 2
    ci = _plain((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    parts = [_plain(part) for line in lines for part in line.split("&&")]
    assert [part for part in parts if part not in ci] == []


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (".venv/bin/pip install -q '.[run]'", "pip install '.[run]'"),
        ('"$venv/bin/pip" install --quiet --disable-pip-version-check -e .', "pip install -e ."),
        ('"$folder/venv/bin/oulibench" run --out runs/quick', "oulibench run --out runs/quick"),
        ("python3 -m venv .venv ", "python3 -m venv"),
        ('python3 -m venv "$folder/venv"', "python3 -m venv"),
    ],
)
def test_commands_are_compared_by_what_they_do(written: str, plain: str) -> None:
    assert _plain(written) == plain


def test_extras_that_pages_name_exist() -> None:
    named_extras = {
        extra
        for page in PAGES
        for group in re.findall(r"(?:oulibench|'\.|\"\.)\[([\w,-]+)\]", page.read_text(encoding="utf-8"))
        for extra in group.split(",")
    }
    assert named_extras <= set(extras())


# --- the reading of blocks itself ---


def test_commands_are_found_in_pipes_lists_and_continued_lines() -> None:
    code = """\
export A=1; oulibench tasks --json > tasks.json   # oulibench nonsense
echo x | oulibench score - -o out.jsonl && .venv/bin/oulibench report \\
  runs/a 2> errors
OMP_NUM_THREADS=1 oulibench check lipogram e "Oggi; vado & torno"
lm_eval --include_path "$(oulibench lm-eval-path)" --tasks oulibench
pip install oulibench
"""
    assert list(oulibench_calls(code)) == [
        ["lm-eval-path"],
        ["tasks", "--json"],
        ["score", "-", "-o", "out.jsonl"],
        ["report", "runs/a"],
        ["check", "lipogram", "e", "Oggi; vado & torno"],
    ]


@pytest.mark.parametrize(
    ("call", "accepted"),
    [
        (["tasks", "lipogram", "--json"], True),
        (["tasks", "--jason"], False),
        (["tasks", "--wording", "loud"], False),
        (["run", "--shots", "$K", "--limit", "${LIMIT}"], True),
        (["run", "--shots", "five"], False),
        (["export", "annotation", "quality", "--to", "csv"], True),
        (["export", "annotation", "quality", "--to", "pdf"], False),
        (["wander"], False),
        (["tasks", "--help"], True),
        (["--version"], True),
        ([], False),
    ],
)
def test_a_call_is_accepted_as_the_command_itself_would(call: list[str], accepted: bool) -> None:
    assert (accepts(call) == "") is accepted


def test_a_block_knows_what_it_needs() -> None:
    block = Block(ROOT / "x.md", 1, "sh", "# needs: an API key\noulibench run --model gpt-4o-mini\n")
    assert block.needs == "an API key" and not can_run(block)
    assert not can_run(Block(ROOT / "x.md", 1, "sh", "# needs: the extra levitation\ntrue\n"))
    assert can_run(Block(ROOT / "x.md", 1, "sh", "oulibench tasks\n"))


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("sh", "oulibench tasks --jason\n"),
        ("sh", "false\ntrue\n"),
        ("sh", "false | true\n"),
        ("python", "1 + 1  # 3\n"),
        ("python", "1 + 1  # 3: a sum\n"),
        ("python", "import no_such_module\n"),
    ],
)
def test_a_block_that_does_not_work_fails(language: str, code: str, tmp_path: Path) -> None:
    with session(tmp_path) as running, pytest.raises(AssertionError):
        running.run(Block(ROOT / "x.md", 1, language, code))


def test_python_blocks_share_their_names_and_shell_blocks_their_files(tmp_path: Path) -> None:
    with session(tmp_path) as running:
        running.run(
            Block(
                ROOT / "x.md",
                1,
                "python",
                "from pathlib import Path\nx = 2\nx + 1  # 3: was 2\nx  # ah: well\n",
            )
        )
        running.run(Block(ROOT / "x.md", 2, "sh", "echo ciao > saluto.txt\nsleep 60 &\n"))
        running.run(Block(ROOT / "x.md", 3, "python", "Path('saluto.txt').read_text()  # 'ciao\\n'\nx  # 2\n"))
