"""The site builds without a warning, and everything on it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docs.hooks import PAGES, site_links, spaced_lists
from tests.docs.blocks import PAGES as SOURCES
from tests.docs.blocks import ROOT, blocks

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is None:
                continue
            if key in ("id", "name"):
                self.anchors.add(value)
            elif key == "href" and tag == "a":
                self.links.append(value)
            elif (key == "href" and tag == "link") or key == "src":
                self.loaded.append(value)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {p.resolve(): Page(p.read_text(encoding="utf-8")) for p in site.rglob("*.html") if p.name != "404.html"}
    assert len(found) >= len(SOURCES)
    return found


def test_no_link_and_no_anchor_of_the_site_is_dead(pages: dict[Path, Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchors = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors):
                dead.append(f"{path.name}: {link}")
    assert dead == []


def test_the_site_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for source in page.loaded:
            parts = urlsplit(source)
            assert not parts.netloc, f"{path.name} loads {source}"
            assert (path.parent / unquote(parts.path)).exists(), f"{path.name} loads {source}, which there is not"
    assert (site / "search" / "search_index.js").is_file(), "no search where the pages are opened from disk"


def test_every_page_stands_in_the_navigation(site: Path, pages: dict[Path, Page]) -> None:
    index = (site / "index.html").resolve()
    reached = {(index.parent / urlsplit(link).path).resolve() for link in pages[index].links} | {index}
    assert sorted(p.name for p in pages if p not in reached) == []


@pytest.mark.parametrize("source", [*SOURCES, *(ROOT / p for p in PAGES if p != "README.md")], ids=lambda p: p.name)
def test_links_between_files_work_in_the_repository(source: Path) -> None:
    """As they are shown where the repository is, without the site."""
    text = source.read_text(encoding="utf-8")
    for block in blocks(source):
        text = text.replace(block.code, "")
    for link in LINK.findall(text):
        parts = urlsplit(link)
        if not parts.scheme and parts.path:
            assert (source.parent / unquote(parts.path)).exists(), link


@pytest.mark.parametrize(
    ("written", "source", "page", "shown"),
    [
        ("[a](docs/constraints.md#words)", "README.md", "index.md", "[a](constraints.md#words)"),
        ("[a](CHANGELOG.md)", "README.md", "index.md", "[a](changelog.md)"),
        ("[a](../README.md)", "docs/annotation.md", "annotation.md", "[a](index.md)"),
        ("[a](../../CHANGELOG.md)", "docs/reference/cli.md", "reference/cli.md", "[a](../changelog.md)"),
        ("[a](LICENSE)", "README.md", "index.md", "a"),
        ("[a](docs/no_such_page.md)", "README.md", "index.md", "[a](no_such_page.md)"),
        ("[a](no_such_file)", "README.md", "index.md", "[a](no_such_file)"),
        ("[a](#words)", "docs/constraints.md", "constraints.md", "[a](#words)"),
        ("[a](annotation.md)", "docs/constraints.md", "constraints.md", "[a](annotation.md)"),
        ("```sh\n[a](LICENSE)\n```", "README.md", "index.md", "```sh\n[a](LICENSE)\n```"),
        ("```sh\nx\n```\n[a](LICENSE)", "README.md", "index.md", "```sh\nx\n```\na"),
    ],
)
def test_links_are_translated_for_the_site(written: str, source: str, page: str, shown: str) -> None:
    assert site_links(written, source, page) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Text:\n- one\n- two\n", "Text:\n\n- one\n- two\n"),
        ("Text:\n\n- one\n- two\n", "Text:\n\n- one\n- two\n"),
        ("- one\n  goes on\n- two\n", "- one\n  goes on\n- two\n"),
        ("Text:\n1. one\n2. two\n", "Text:\n\n1. one\n2. two\n"),
        ("```text\nx\n- y\n```\n", "```text\nx\n- y\n```\n"),
        ("a\n-b\n", "a\n-b\n"),
    ],
)
def test_lists_are_seen_as_lists(written: str, shown: str) -> None:
    assert spaced_lists(written) == shown


def test_the_citation_is_the_same_everywhere() -> None:
    yaml = pytest.importorskip("yaml")
    bibtex = (ROOT / "src/oulibench/data/dataset/citation.bib").read_text(encoding="utf-8").strip()
    shown = next(block.code for block in blocks(ROOT / "docs" / "citing.md") if block.language == "bibtex")
    assert shown.strip() == bibtex
    fields = dict(re.findall(r"^ +(\w+) = \{(.*)\},?$", bibtex, re.M))
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    paper = cff["preferred-citation"]
    assert paper["title"] == re.sub("[{}]", "", fields["title"])
    authors = [f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]]
    assert authors == fields["author"].split(" and ")
    assert (str(paper["year"]), str(paper["volume"])) == (fields["year"], fields["volume"])
    assert (paper["collection-title"], paper["journal"]) == (fields["booktitle"], fields["series"])
    assert paper["url"] == fields["url"]
