"""Every command explains itself with an example, and the example is a call that the command accepts."""

from __future__ import annotations

import argparse
import re

import pytest
from docs.hooks import command_parsers, commands_page
from tests.docs.blocks import accepts, oulibench_calls

from oulibench.cli import COMMANDS

PARSERS = command_parsers()


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """The lines of a command's help that begin with a prompt, less it and what is said in the margin."""
    lines = re.findall(r"^ +\$ (.*)$", parser.epilog or "", re.M)
    return [re.sub(r" {2,}[(→].*$", "", line) for line in lines]


@pytest.mark.parametrize("name", PARSERS)
def test_a_command_has_a_description_and_an_example(name: str) -> None:
    assert (PARSERS[name].description or "").strip()
    calls = [f"oulibench {' '.join(call)} " for line in examples(PARSERS[name]) for call in oulibench_calls(line)]
    assert any(call.startswith(f"{name} ") for call in calls), "no line of the epilog, begun with «$ », calls it"


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=" ".join(call)[:120])
        for parser in PARSERS.values()
        for line in examples(parser)
        for call in oulibench_calls(line)
    ],
)
def test_an_example_is_accepted_by_the_command(call: list[str]) -> None:
    assert accepts(call) == ""


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_says_what_it_does(name: str) -> None:
    actions = [a for a in PARSERS[name]._actions if not isinstance(a, argparse._SubParsersAction)]
    assert [a.dest for a in actions if not (a.help or "").strip()] == []


def test_the_page_of_the_commands_has_them_all_with_their_options() -> None:
    page = commands_page()
    for command in COMMANDS:
        assert f"\n## oulibench {command}\n" in f"\n{page}\n"
    assert "## oulibench export annotation" in page
    for parser in PARSERS.values():
        for action in parser._actions:
            for option in action.option_strings:
                assert option in page


def test_nothing_in_a_help_text_becomes_mark_up_on_the_page() -> None:
    """{"task", "target"} and <stdin> are text, and a | ends no cell."""
    for line in commands_page().splitlines():
        if line.startswith("| `"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3, line
        if not line.startswith(("| `", "$", " ", "usage:")):
            assert not re.search(r"(?<!\\)[<]", line), line
