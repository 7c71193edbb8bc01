"""The code blocks of README.md and docs/, and what runs them.

A block whose first line is `# needs: …` is run where the need is an extra that is installed; where it is a key, a
graphics card or a cluster, its commands are read by the real parsers and not run. A block whose first line is
`# takes: …` is run by hand (-m slow).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from docs.hooks import command_parsers

from oulibench.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MINUTES_AT_MOST = 300  # seconds for one block

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]+)[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.M | re.S)
_FIRST_LINE = re.compile(r"# (needs|takes): *(.*)")


@dataclass(frozen=True)
class Block:
    """A code block; `line` is the number of its first line of code on the page."""

    page: Path
    line: int
    language: str
    code: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def needs(self) -> str:
        return self._said("needs")

    @property
    def takes(self) -> str:
        return self._said("takes")

    def _said(self, what: str) -> str:
        heads = (_FIRST_LINE.match(line) for line in self.code.splitlines()[:2])
        return next((head[2] for head in heads if head and head[1] == what), "")

    @property
    def installs(self) -> bool:
        """Whether it makes an environment: .ci/run does that, with the same commands."""
        return "pip install" in self.code or "-m venv" in self.code


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        indent = len(match["indent"])
        code = "".join(line[indent:] if line.strip() else line for line in match["code"].splitlines(keepends=True))
        found.append(Block(page, text.count("\n", 0, match.start()) + 2, match["language"], code))
    return found


def can_run(block: Block) -> bool:
    """Whether what the block needs is there: an extra whose packages are installed, or nothing."""
    if not block.needs:
        return True
    extra = re.fullmatch(r"the extras? ([\w-]+(?:(?:,| and) [\w-]+)*)", block.needs)
    return extra is not None and all(map(has_extra, re.split(r",? (?:and )?", extra[1])))


def extras() -> dict[str, list[str]]:
    """The package's extras, each with its requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


def has_extra(extra: str) -> bool:
    wanted = extras().get(extra)
    return wanted is not None and all(map(_is_installed, wanted))


def _is_installed(requirement: str) -> bool:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    if name[0] == "oulibench":  # oulibench[run,local]
        return all(map(has_extra, re.findall(r"[\w-]+", requirement.partition("[")[2].partition("]")[0])))
    try:
        distribution(name[0])
    except PackageNotFoundError:
        return False
    return True


# --- reading commands ---

_ENDS = ("&&", "||", "|", "|&", ";", "&", ">", ">>", "<", "<<", "<<<", ">&", "(", ")")
_INNER = re.compile(r"\$\(([^()]*)\)")


def oulibench_calls(code: str) -> Iterator[list[str]]:
    """The arguments of every `oulibench …` in shell code."""
    code = code.replace("\\\n", " ")
    for inner in _INNER.findall(code):
        yield from oulibench_calls(inner)
    for line in _INNER.sub("1", code).splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        try:
            tokens = list(words)
        except ValueError:  # half of a quotation over several lines: part of no command
            continue
        for i, token in enumerate(tokens):
            if token.rpartition("/")[2] == "oulibench" and _is_called(tokens, i):
                call = tokens[i + 1 :]
                end = next((j for j, word in enumerate(call) if word in _ENDS), len(call))
                if end < len(call) and call[end - 1 : end] in (["1"], ["2"]) and call[end] in (">", ">&"):
                    end -= 1  # 2> errors.txt
                yield call[:end]


def _is_called(tokens: list[str], i: int) -> bool:
    """Whether the word is a command's name, and not an argument (`lm_eval --tasks oulibench`)."""
    before, after = tokens[max(0, i - 1)] if i else ";", tokens[i + 1] if i + 1 < len(tokens) else ""
    return after in COMMANDS or before in _ENDS or re.fullmatch(r"\w+=.*|nice|time|exec|do|then", before) is not None


def accepts(call: list[str]) -> str:
    """What the real parsers object to in a call; empty where they accept it."""
    if not call or call[0].startswith("-"):
        return "" if call in (["--version"], ["--help"]) else "no command"
    parser = command_parsers().get(f"oulibench {call[0]}")
    if parser is None:
        return f"no command {call[0]}"
    if "--help" in call[1:]:
        return "" if call[-1] == "--help" else "arguments after --help"
    problems: list[str] = []

    def say(message: str) -> Any:
        problems.append(message)
        raise SystemExit(2)

    for each in (parser, *_all_subparsers(parser)):
        each.error = say
    with suppress(SystemExit):
        parser.parse_args([re.sub(r"\$\{?\w+\}?", "1", word) for word in call[1:]])
    return "; ".join(problems)


def _all_subparsers(parser: Any) -> Iterator[Any]:
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                yield below
                yield from _all_subparsers(below)


# --- running ---

# `check` and `mine` say by exit code 1 that a text did not pass, or that fewer were found than asked for.
_PRELUDE = """\
set -euo pipefail
oulibench() {
  local code=0
  command oulibench "$@" || code=$?
  case "$1" in check|mine) [ "$code" -le 1 ] ;; *) return "$code" ;; esac
}
"""

# Runs Python blocks one after the other in one namespace. A literal in the comment after an expression is its
# value; what follows it after a colon is an explanation.
_INTERPRETER = r"""
import ast, io, json, os, sys, tokenize, traceback
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
names = {"__name__": "__main__"}

def comments(code):
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {t.start[0]: t.string[1:].strip() for t in tokens if t.type == tokenize.COMMENT}

def run(code, name):
    said = comments(code)
    for statement in ast.parse(code, name).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), name, "exec"), names)
            continue
        value = eval(compile(ast.Expression(statement.value), name, "eval"), names)
        for literal in (said.get(statement.end_lineno, ""), said.get(statement.end_lineno, "").partition(": ")[0]):
            try:
                expected = ast.literal_eval(literal)
            except (ValueError, SyntaxError):
                continue
            assert value == expected, f"line {statement.lineno} gives {value!r}, and the page says {expected!r}"
            break

for line in sys.stdin:
    try:
        run(*json.loads(line))
        answer = ""
    except BaseException:
        answer = traceback.format_exc()
    sys.stdout.flush()
    print(json.dumps(answer), file=answers, flush=True)
"""


class Session:
    """Runs the blocks of one page in a folder of its own, each finding what the ones before it have made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        scripts = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "INSPECT_DISPLAY": "none",
        }
        self._python: subprocess.Popen[str] | None = None
        self._groups: list[int] = []

    def run(self, block: Block) -> None:
        """Run a block; fails the test with its output where it fails."""
        if block.language == "python":
            self._run_python(block)
        else:
            self._run_shell(block)

    def _run_shell(self, block: Block) -> None:
        output = self.folder.parent / "output.txt"  # a pipe would be held open by what is left in the background
        with output.open("wb") as stream:
            process = subprocess.Popen(
                ["bash", "-c", _PRELUDE + block.code],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            self._groups.append(process.pid)
            code = process.wait(MINUTES_AT_MOST)
        assert code == 0, f"{block.name} ended with {code}:\n{block.code}\n{output.read_text(errors='replace')}"

    def _run_python(self, block: Block) -> None:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", _INTERPRETER],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        assert self._python.stdin is not None and self._python.stdout is not None
        print(json.dumps([block.code, block.name]), file=self._python.stdin, flush=True)
        answer = json.loads(self._python.stdout.readline() or '"The interpreter died."')
        assert not answer, f"{block.name}:\n{answer}"

    def end(self) -> None:
        if self._python is not None:
            self._python.communicate()
        for group in self._groups:  # servers that a block has left in the background
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


@contextmanager
def session(folder: Path) -> Iterator[Session]:
    """A session in a copy of the repository's small files."""
    copy = folder / "oulibench"
    copy.mkdir()
    for name in ("README.md", "docs", "benchmarks"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    running = Session(copy)
    try:
        yield running
    finally:
        running.end()
