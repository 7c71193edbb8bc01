"""`oulibench tasks`: what the benchmark asks."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_OK
from oulibench.constraints import AnyConstraint, get_constraint, task_names
from oulibench.constraints.base import WORDINGS

if TYPE_CHECKING:
    from oulibench.cli.options import Subparsers

_EXAMPLE = """\
examples:
  $ oulibench tasks
  $ oulibench tasks lipogram --wording technical
  $ oulibench tasks --json
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "tasks",
        help="list tasks, targets, difficulty and prompts",
        description="List the tasks: family, targets with difficulty (1 easiest to 5 hardest) and why, the prompt.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tasks", metavar="TASK", nargs="*", help="tasks to list (default: all)")
    parser.add_argument("--json", action="store_true", help="as one JSON array")
    parser.add_argument("--n", type=int, default=50, help="how many texts the prompt asks for (default: 50)")
    parser.add_argument("--wording", choices=WORDINGS, default="explicit", help="wording of the prompt")


def main(args: argparse.Namespace) -> int:
    constraints = [get_constraint(name) for name in args.tasks or task_names()]
    described = [describe(constraint, args.n, args.wording) for constraint in constraints]
    if args.json:
        print(json.dumps(described, ensure_ascii=False, indent=2))
    else:
        print("\n\n".join(in_words(task) for task in described))
    return EXIT_OK


def describe(constraint: AnyConstraint, n: int, wording: Any) -> dict[str, Any]:
    """A task as JSON-ready data."""
    return {
        "task": constraint.name,
        "family": constraint.family,
        "version": constraint.version,
        "few_shot": constraint.few_shot,
        "policies": list(constraint.policies),
        "signature": constraint.signature(),
        "targets": [
            {
                "target": t.value,
                "difficulty": t.difficulty,
                "why": t.why,
                "prompt": constraint.prompt(t.value, n, wording),
            }
            for t in constraint.targets()
        ],
    }


def in_words(task: dict[str, Any]) -> str:
    lines = [f"{task['task']} ({task['family']}{', few-shot' if task['few_shot'] else ''})"]
    for t in task["targets"]:
        target = "(no target)" if t["target"] is None else t["target"]
        lines.append(f"  {target!s:<28} difficulty {t['difficulty']}  {t['why']}")
    if task["targets"]:
        lines.append(f"  prompt: {task['targets'][0]['prompt']}")
    return "\n".join(lines)
