"""The `oulibench` command. Each sub-command is a module of its own, imported only when it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from oulibench.errors import OuLiBenchError
from oulibench.version import __version__

# Command → what it does. A command `x-y` lives in the module `oulibench.cli.x_y`, with two functions:
# `add_parser(subparsers)` and `main(args) -> exit code`.
COMMANDS: Final[dict[str, str]] = {
    "run": "ask models, score their answers, print the table",
    "score": "score texts or responses that are in a file",
    "check": "judge one text, in words",
    "extract": "read the sentences out of responses",
    "tasks": "list tasks, targets, difficulty and prompts",
    "parse": "Universal Dependencies analysis of a text, as CoNLL-U",
    "profile": "linguistic profile of a text",
    "report": "tables, figures and one HTML page over one or more runs",
    "annotate": "rate the outputs that passed, in the browser",
    "agreement": "agreement between annotators",
    "judge": "let a model rate the outputs that passed",
    "mine": "find demonstrations in treebanks or text",
    "export": "export the benchmark as a dataset, annotation files for other tools",
    "lm-eval-path": "print the folder of the tasks for lm-evaluation-harness",
    "serve": "serve a local model to OpenAI clients on this machine",
}

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
"""Done, but something did not pass or could not be done."""
EXIT_BAD_CALL: Final = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    called = next((a for a in arguments if not a.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="oulibench",
        description="How well do language models write Italian under formal constraints?",
        epilog="«oulibench COMMAND --help» explains a command with an example.",
    )
    parser.add_argument("--version", action="version", version=f"oulibench {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    module = None
    for name, summary in COMMANDS.items():
        if name == called:
            module = import_module(f"oulibench.cli.{name.replace('-', '_')}")
            module.add_parser(subparsers)
        else:
            subparsers.add_parser(name, help=summary, add_help=False)
    args = parser.parse_args(arguments)
    if module is None:  # an option's value was taken for the command; argparse has refused that already
        parser.error("name a command")
    try:
        return int(module.main(args))
    except OuLiBenchError as error:
        print(f"oulibench {args.command}: {error}", file=sys.stderr)
        return EXIT_BAD_CALL
    except BrokenPipeError:  # the reader of our output has gone (… | head)
        sys.stderr.close()
        return EXIT_OK
    except OSError as error:  # a disk that is full, a file that breaks off: nothing that we did wrong
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"oulibench {args.command}: {where}{error.strerror or error}", file=sys.stderr)
        return EXIT_BAD_CALL
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
