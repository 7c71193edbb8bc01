"""The constraint of docs/extending.md, as a package that somebody has installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def titled(title: str) -> str:
    """The code block with this title."""
    match = re.search(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', PAGE, re.M | re.S)
    assert match is not None
    return match[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that holds the module and what an installer writes beside it: its name and entry points."""
    folder = tmp_path_factory.mktemp("site-packages")
    (folder / "monovocalism.py").write_text(titled("monovocalism.py"), encoding="utf-8")
    project = tomllib.loads(titled("pyproject.toml"))["project"]
    information = folder / f"{project['name']}-{project['version']}.dist-info"
    information.mkdir()
    heading = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (information / "METADATA").write_text(heading, encoding="utf-8")
    lines = [
        line
        for group, names in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {where}" for name, where in names.items()))
    ]
    (information / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def oulibench(installed: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "oulibench", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, timeout=120)


def test_the_commands_know_an_installed_constraint(installed: Path) -> None:
    passed = oulibench(installed, "check", "monovocalism", "a", "Sara amava la pasta")
    assert passed.returncode == 0, passed.stderr
    failed = oulibench(installed, "check", "monovocalism", "a", "1. L'amaca è là")
    assert failed.returncode == 1
    assert "violations: è (11–12)" in failed.stdout  # as it stands in the text, list mark and all
    assert "task:monovocalism|v:1" in failed.stdout


def test_a_response_is_read_and_scored(installed: Path) -> None:
    row = {"task": "monovocalism", "target": "E", "response": "Ecco:\n1. Bere bene\n2. Perché no?", "n": 2}
    done = oulibench(installed, "score", "-", text=json.dumps(row))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["text"], r["passed"]) for r in rows] == [("Bere bene", True), ("Perché no?", False)]


def test_a_target_that_is_no_vowel_is_a_bad_call(installed: Path) -> None:
    done = oulibench(installed, "check", "monovocalism", "b", "bb")
    assert done.returncode == 2
    assert "a vowel such as «a», not 'b'" in done.stderr


def test_a_run_asks_for_it(installed: Path) -> None:
    done = oulibench(installed, "run", "--tasks", "monovocalism", "--limit", "1", "--n", "3", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Genera 3 frasi in italiano in cui l'unica vocale sia la «a»." in done.stdout
    assert "numerandole da 1 a 3" in done.stdout


def test_it_is_in_the_list_of_tasks(installed: Path) -> None:
    done = oulibench(installed, "tasks", "--json")
    described = {task["task"]: task for task in json.loads(done.stdout)}
    assert [t["target"] for t in described["monovocalism"]["targets"]] == list("aeoiu")
