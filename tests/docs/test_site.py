"""The documentation site builds strictly, has no broken links, and loads nothing from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import lxml.html
import pytest
from markdown_it import MarkdownIt

from tests.support.documentation import DOCS, PAGES, README, ROOT

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
sys.path.append(str(DOCS / "make"))

import hook

PAGES_OUTSIDE_DOCS = {
    README: "index",
    ROOT / "SECURITY.md": "security",
    ROOT / "CHANGELOG.md": "changelog",
    ROOT / "benchmarks" / "README.md": "figures",
}
SOURCES = [*PAGES, *(page for page in PAGES_OUTSIDE_DOCS if page not in PAGES)]
COUNTED = (
    "h1",
    "h2",
    "h3",
    "p[not(ancestor::li)]",
    "li",
    "ol",
    "ul",
    "table",
    "tr",
    "pre",
    "blockquote",
    "strong",
    "em",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder


@cache
def parsed(path: Path) -> lxml.html.HtmlElement:
    return lxml.html.fromstring(path.read_bytes())


def test_every_link_and_anchor_has_a_target(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= len(SOURCES)
    for page in pages:
        if page.name == "404.html":  # its links are absolute paths
            continue
        for link in parsed(page).xpath("//@href | //@src"):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {link}"
            if anchor and target.suffix == ".html" and not anchor.startswith("__"):
                named = set(parsed(target).xpath("//@id | //a/@name"))
                assert anchor in named, f"{page.name}: {link}"


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = parsed(page).xpath("//script/@src | //link[not(@rel='canonical')]/@href | //img/@src | //iframe/@src")
        assert not [each for each in loaded if re.match(r"(?:https?:)?//", each)], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text("utf-8")), sheet.name


def test_the_generated_pages_have_their_content(site: Path) -> None:
    for name, expected in {
        "reference/tools.html": "read_artifact",
        "reference/settings.html": "KEYHOLE_OAUTH_JWKS_URL",
        "reference/errors.html": "quote_not_found",
        "reference/commands.html": "keyhole artifacts verify",
        "figures.html": "mcp-server-fetch",
        "security.html": "How to report",
        "changelog.html": "Unreleased",
        "index.html": "Try it and check it",
    }.items():
        assert expected in parsed(site / name).xpath("string(//article)"), name


def test_the_front_page_shows_the_picture_and_transcripts_wrap(site: Path) -> None:
    (picture,) = parsed(site / "index.html").xpath("//article//img/@src")
    assert (site / picture).read_bytes() == (DOCS / "shots" / "output.svg").read_bytes()
    styles = "".join(path.read_text("utf-8") for path in (site / "stylesheets").glob("*.css"))
    assert "white-space: pre-wrap" in styles


def test_the_scripts_of_docs_make_are_not_published(site: Path) -> None:
    assert not list(site.rglob("*.py"))
    assert not (site / "make").exists()


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_markdown_and_commonmark_parse_a_page_alike(site: Path, page: Path) -> None:
    """Compare counts of elements. The parsers differ in some lists, tables and fences, which pages must avoid."""
    name = PAGES_OUTSIDE_DOCS.get(page) or page.relative_to(DOCS).with_suffix("").as_posix()
    (article,) = lxml.html.fromstring((site / f"{name}.html").read_bytes()).xpath("//article")
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    common = lxml.html.fromstring(markdown.render(page.read_text(encoding="utf-8")))
    assert count_elements(article) == count_elements(common)


LINKS = {
    "[s](../../SECURITY.md#how)": "[s](../security.md#how)",
    "[a](../artifacts.md#to)": "[a](../artifacts.md#to)",
    "[l](long-page.md)": "[l](long-page.md)",
    "[table](../../server/keyhole/errors.py)": "table (`server/keyhole/errors.py`)",
    "[`errors.py`](../../server/keyhole/errors.py)": "`errors.py`",
    "![a picture](../shots/answer.svg)": "![a picture](../shots/answer.svg)",
    "[web](https://example.org/a.md)": "[web](https://example.org/a.md)",
    "[here](#there)": "[here](#there)",
    "```\n[a](../../SECURITY.md)\n```\n[b](../../README.md)": "```\n[a](../../SECURITY.md)\n```\n[b](../index.md)",
}


@pytest.mark.parametrize("link", LINKS)
def test_a_repository_link_becomes_a_site_link_or_the_file_s_path(link: str) -> None:
    assert hook.rewrite_links(link, "docs/cookbook/x.md", "cookbook/x.md") == LINKS[link]


def count_elements(tree: lxml.html.HtmlElement) -> Counter[str]:
    return Counter({tag: len(tree.xpath(f".//{tag}")) for tag in COUNTED})
