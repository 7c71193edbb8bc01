"""The YAML files in `tasks/`, made from the benchmark's tasks: `python -m oulibench.engines.lm_eval.generate`.

The harness wants a file for each task and each group. What the tasks have in common stands in `tasks/_oulibench`.
"""

from __future__ import annotations

from typing import Final

from oulibench.constraints import get_constraint, task_names
from oulibench.engines.lm_eval import tasks_folder
from oulibench.suite import load_suite

_FAMILIES: Final = ("quantitative", "syntactic", "stylistic")
_FROM: Final = "# Made by python -m oulibench.engines.lm_eval.generate; do not edit.\n"
_METRICS: Final = """\
aggregate_metric_list:  # the plain mean over tasks, whatever their number of prompts
  - metric: sr
    weight_by_size: false
  - metric: passed_per_requested
    weight_by_size: false
  - metric: yield
    weight_by_size: false
"""
_SPEARMAN: Final = """\
  - metric: spearman
    weight_by_size: false
"""


def task_files() -> dict[str, str]:
    """Name of file → content: every task without demonstrations and, as the paper asks it, with them."""
    suite = load_suite("paper")
    built_in = [name for name in task_names() if get_constraint(name).family in _FAMILIES]
    shots = {name: suite.shots_of(name) if get_constraint(name).few_shot else (0,) for name in built_in}
    files: dict[str, str] = {}
    for name in built_in:
        for number in shots[name]:
            files[f"{task_name(name, number)}.yaml"] = _task(name, number)
    for family in _FAMILIES:
        members = [task_name(name, 0) for name in built_in if get_constraint(name).family == family]
        files[f"oulibench_{family}.yaml"] = _group(f"oulibench_{family}", members, family == "quantitative")
    files["oulibench.yaml"] = _group("oulibench", [f"oulibench_{family}" for family in _FAMILIES])
    for number in sorted({n for numbers in shots.values() for n in numbers if n}):
        members = [task_name(name, number) for name in built_in if number in shots[name]]
        files[f"oulibench_{number}shot.yaml"] = _group(f"oulibench_{number}shot", members)
    return files


def task_name(task: str, shots: int) -> str:
    """What the harness calls a task with a number of demonstrations."""
    return f"oulibench_{task}" + (f"_{shots}shot" if shots else "")


def _task(task: str, shots: int) -> str:
    lines = [f"{_FROM}include: _oulibench", f"task: {task_name(task, shots)}", "dataset_kwargs:", f"  task: {task}"]
    return "\n".join([*lines, *([f"num_fewshot: {shots}"] if shots else []), ""])


def _group(name: str, members: list[str], spearman: bool = False) -> str:
    listed = "".join(f"  - {member}\n" for member in members)
    return f"{_FROM}group: {name}\ntask:\n{listed}{_METRICS}{_SPEARMAN if spearman else ''}metadata:\n  version: 1\n"


def write() -> None:
    """Write the files, and take away those that are none any more."""
    folder = tasks_folder()
    files = task_files()
    for old in folder.glob("*.yaml"):
        if old.name not in files:
            old.unlink()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    write()
