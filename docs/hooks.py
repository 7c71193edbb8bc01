"""What the site shows that is not a page under docs/: the README, the changelog, the cards and the commands.

Nothing is written twice. README.md is the site's first page; the reference of the commands is made of the argparse
parsers, and the dataset's card by the exporter, whenever the site is built. Links are written as they work in the
repository, and translated here.
"""

from __future__ import annotations

import argparse
import posixpath
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"

PAGES: Final = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "src/oulibench/data/it/parser/MODEL_CARD.md": "model-card.md",
}
"""Files of the repository that are pages of the site → the page's path."""

DATASET_CARD: Final = "dataset-card.md"
COMMANDS_HERE: Final = "<!-- commands -->"


# --- MkDocs calls these ---


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, DATASET_CARD, content=dataset_card()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.abs_src_path is None:  # made here
        return markdown
    source = Path(page.file.abs_src_path).resolve().relative_to(ROOT).as_posix()
    return spaced_lists(site_links(markdown, source, page.file.src_uri)).replace(COMMANDS_HERE, commands_page())


# --- links ---

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//|/", re.IGNORECASE)
_FENCE = re.compile(r"^ *(```|~~~)", re.MULTILINE)


def site_links(markdown: str, source: str, page: str) -> str:
    """`markdown` of the repository's file `source` with its links as they are on the site's `page`.

    A link to a file that is no page becomes its text; one that leads nowhere stays, for the build to complain about.
    """

    def translate(link: re.Match[str]) -> str:
        text, target = link.groups()
        if _ABSOLUTE.match(target):
            return link.group()
        path, hash_, anchor = target.partition("#")
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if wanted in PAGES:
            there = PAGES[wanted]
        elif wanted.startswith("docs/"):
            there = wanted.removeprefix("docs/")
        elif (ROOT / wanted).exists():
            return text
        else:
            return link.group()
        return f"[{text}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{hash_}{anchor})"

    return "".join(part if fenced else _LINK.sub(translate, part) for part, fenced in _by_fences(markdown))


_LIST_AFTER_TEXT = re.compile(r"^(?=[^\s|])(?!- |\d+\. |#)(.*\n)(?=- |1\. )", re.MULTILINE)


def spaced_lists(markdown: str) -> str:
    """`markdown` with an empty line before each list: MkDocs sees none without it, where others do."""
    return "".join(part if fenced else _LIST_AFTER_TEXT.sub(r"\1\n", part) for part, fenced in _by_fences(markdown))


def _by_fences(markdown: str) -> Iterator[tuple[str, bool]]:
    """Stretches of the text, each with whether it is fenced code."""
    start, opening = 0, ""
    for fence in _FENCE.finditer(markdown):
        if not opening:
            yield markdown[start : fence.start()], False
            start, opening = fence.start(), fence.group(1)
        elif fence.group(1) == opening:
            yield markdown[start : fence.end()], True
            start, opening = fence.end(), ""
    yield markdown[start:], bool(opening)


# --- what is made ---


def dataset_card() -> str:
    """The card that goes with the exported dataset, as `oulibench export dataset` writes it for the suite `paper`."""
    from oulibench.suite import load_suite
    from oulibench.suite.dataset import build_dataset
    from oulibench.suite.publication import card_text

    text = card_text(build_dataset(load_suite("paper")))
    return text.replace("# OuLiBench\n", "# Dataset card\n", 1)


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its full name («oulibench export annotation»), in the order of the help."""
    from oulibench.cli import COMMANDS

    top = argparse.ArgumentParser(prog="oulibench").add_subparsers()
    for name in COMMANDS:
        import_module(f"oulibench.cli.{name.replace('-', '_')}").add_parser(top)
    return dict(_named(top))


def _named(subparsers: Any) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for parser in subparsers.choices.values():
        yield parser.prog, parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from _named(action)


def commands_page() -> str:
    """All commands as Markdown: usage, what it does, arguments, examples."""
    return "\n\n".join(part for name, parser in command_parsers().items() for part in _command(name, parser))


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"{'#' * len(name.split())} {name}"
    yield from _prose(parser.description or "")
    yield f"```text\n{_usage(parser)}\n```"
    arguments, options, *groups = parser._action_groups
    for group in (arguments, *groups, options):
        actions = [a for a in group._group_actions if not isinstance(a, _NOT_SHOWN)]
        if not actions:
            continue
        if group in groups:
            yield f"**{group.title}**{f': {group.description}' if group.description else ''}"
        elif groups and group is options:
            yield "**other options**"
        yield "\n".join(["| | |", "|---|---|", *(_row(action, parser) for action in actions)])
    yield from _epilog(parser.epilog or "")


def _usage(parser: argparse.ArgumentParser) -> str:
    """The call in one line; the options stand in the tables below."""
    form = argparse.HelpFormatter(parser.prog)._format_args
    shown = [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]
    options = ["[options]"] if any(a.option_strings for a in shown) else []
    required = [
        f"{a.option_strings[0]} {a.metavar or a.dest.upper()}" for a in shown if a.option_strings and a.required
    ]
    return " ".join([parser.prog, *options, *required, *(form(a, "") for a in shown if not a.option_strings)])


_NOT_SHOWN: Final = (argparse._HelpAction, argparse._SubParsersAction)


def _prose(description: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", description.strip("\n")):
        if paragraph.startswith("  "):
            yield f"```text\n{paragraph}\n```"
        elif paragraph:
            yield _escape(paragraph)


def _row(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if not metavar and action.choices is not None:
        metavar = "{" + ",".join(map(str, action.choices)) + "}"
    if not metavar and action.nargs != 0:
        metavar = action.dest.upper()
    value = f" {metavar}" if metavar and action.nargs != 0 else ""
    if action.nargs in ("+", "*"):
        value += " …"
    shown = ", ".join(action.option_strings) + value if action.option_strings else value.strip()
    meaning = (action.help or "") % {**vars(action), "prog": parser.prog}
    return f"| `{shown.replace('|', chr(92) + '|')}` | {_escape(meaning)} |"


def _epilog(epilog: str) -> Iterator[str]:
    lines = epilog.strip("\n").splitlines()
    examples = [line.strip() for line in lines if line.startswith("  ")]
    if examples:
        yield "```text\n" + "\n".join(examples) + "\n```"
    yield from _prose("\n".join(line for line in lines if line[:1] != " " and line not in ("example:", "examples:")))


def _escape(text: str) -> str:
    """Text with nothing in it that Markdown would take for mark-up."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
