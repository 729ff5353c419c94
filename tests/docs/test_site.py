"""The documentation as a site: it builds strictly, nothing in it leads nowhere, and it loads nothing from elsewhere."""

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

ELSEWHERE = {
    README: "index",
    ROOT / "SECURITY.md": "security",
    ROOT / "CHANGELOG.md": "changelog",
    ROOT / "benchmarks" / "README.md": "figures",
}
SOURCES = [*PAGES, *(page for page in ELSEWHERE if page not in PAGES)]
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


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= len(SOURCES)
    for page in pages:
        if page.name == "404.html":  # its addresses begin at the root of a host
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


def test_the_generated_pages_hold_what_they_are_made_of(site: Path) -> None:
    for name, said in {
        "tools.html": "read_artifact",
        "settings.html": "KEYHOLE_OAUTH_JWKS_URL",
        "errors.html": "quote_not_found",
        "commands.html": "keyhole artifacts export",
        "figures.html": "mcp-server-fetch",
        "security.html": "How to report",
        "changelog.html": "Unreleased",
        "index.html": "The three tools",
    }.items():
        assert said in parsed(site / name).xpath("string(//article)"), name


def test_no_tool_of_the_site_becomes_a_page(site: Path) -> None:
    assert not list(site.rglob("*.py"))
    assert not (site / "make").exists()


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_site_reads_a_page_as_other_readers_of_markdown_do(site: Path, page: Path) -> None:
    """Python-Markdown and CommonMark differ in lists, tables and fences; what both read alike is written."""
    name = ELSEWHERE.get(page) or page.relative_to(DOCS).with_suffix("").as_posix()
    (article,) = lxml.html.fromstring((site / f"{name}.html").read_bytes()).xpath("//article")
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    common = lxml.html.fromstring(markdown.render(page.read_text(encoding="utf-8")))
    assert counted(article) == counted(common)


LINKS = {
    "[s](../../SECURITY.md#how)": "[s](../security.md#how)",
    "[a](../artifacts.md#to)": "[a](../artifacts.md#to)",
    "[l](long-page.md)": "[l](long-page.md)",
    "[table](../../server/keyhole/errors.py)": "table (`server/keyhole/errors.py`)",
    "[`errors.py`](../../server/keyhole/errors.py)": "`errors.py`",
    "[web](https://example.org/a.md)": "[web](https://example.org/a.md)",
    "[here](#there)": "[here](#there)",
    "```\n[a](../../SECURITY.md)\n```\n[b](../../README.md)": "```\n[a](../../SECURITY.md)\n```\n[b](../index.md)",
}


@pytest.mark.parametrize("link", LINKS)
def test_a_link_of_the_repository_becomes_one_of_the_site_or_the_file_s_path(link: str) -> None:
    assert hook.linked(link, "docs/cookbook/x.md", "cookbook/x.md") == LINKS[link]


def counted(tree: lxml.html.HtmlElement) -> Counter[str]:
    return Counter({tag: len(tree.xpath(f".//{tag}")) for tag in COUNTED})
