"""Find the Markdown version of a page."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from keyhole.fetch.markdown_versions import MAX_HOSTS, MarkdownHosts, find_markdown_url
from keyhole.records import Page
from tests.support.fakes import page
from tests.support.machine import allowed

URL = "https://docs.example/guide/start"
FOUND = "https://docs.example/guide/start.md"
LINK = '<link rel="alternate" type="text/markdown" href="start.md">'


def find(head: str, *, link: str = "", content_type: str = "text/html") -> str:
    return find_markdown_url(replace(page(URL, head, content_type), link=link))


@pytest.mark.parametrize(
    "head",
    [
        LINK,
        "<!doctype html><head><meta charset=utf-8>" + LINK,
        "<LINK HREF=/guide/start.md TYPE='text/markdown; charset=utf-8' REL='nofollow alternate' />",
        '<link rel=alternate type="application/rss+xml" href=/feed>' + LINK.replace("/markdown", "/x-markdown"),
        '<link rel="alternate" type="text/markdown" href="https://docs.example:443/guide/start.md">',
        '<link rel="alternate" type="text/markdown" href="/llms.txt">' + LINK,
        '<link rel="alternate" type="text/markdown" href="https://other.example/x.md">' + LINK,
    ],
)
def test_a_link_in_the_head_is_found(head: str) -> None:
    assert find(head) == FOUND


@pytest.mark.parametrize(
    "head",
    [
        "",
        "<link rel=alternate type=text/html href=start.md>",
        "<link rel=stylesheet type=text/markdown href=start.md>",
        "<link rel=alternate type=text/markdown>",
        '<link rel=alternate type=text/markdown href="">',
        "<link rel=alternate type=text/markdown href=start>",
        "<link rel=alternate type=text/markdown hreflang=de href=start.de.md>",
        "<link rel=alternate type=text/markdown href=http://docs.example/guide/start.md>",
        "<link rel=alternate type=text/markdown href=https://docs.example:8443/guide/start.md>",
        "<link rel=alternate type=text/markdown href=https://docs.example@evil.example/x.md>",
        "<link rel=alternate type=text/markdown href=https://a.docs.example/x.md>",
        "<link rel=alternate type=text/markdown href=file:///etc/passwd>",
        "<link rel=alternate type=text/markdown href=/llms-full.txt>",
        f"<!-- {LINK} -->",
        f"<script>'{LINK}'</script>",
        f"<head></head><body>{LINK}",
        f"<base href=https://docs.example/other/>{LINK}",
    ],
)
def test_other_links_are_ignored(head: str) -> None:
    assert find(head) == ""


def test_the_link_header_takes_precedence() -> None:
    header = '</style.css>; rel=preload, </guide/start.md>; rel="alternate"; type="text/markdown", </b>; rel=next'
    assert find(LINK.replace("start.md", "other.md"), link=header) == FOUND
    assert find("", link='<https://evil.example/x.md>; rel="alternate"; type="text/markdown"') == ""


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/markdown", ""])
def test_only_html_has_an_alternate(content_type: str) -> None:
    assert find(LINK, content_type=content_type) == ""


@pytest.mark.parametrize(
    "piece", ["<link ", "<!--", "<link a=", '<link a="', "<script", "<style><", "<link a='\">", "<base "]
)
def test_a_hostile_head_is_searched_in_bounded_time(piece: str) -> None:
    begun = time.process_time()
    find(piece * 100_000, link=piece * 1_000)
    assert time.process_time() - begun < allowed(5)


# Guesses

HTML = "<title>Valves</title><p>Open them slowly."
GITBOOK = '<head><meta name="generator" content="GitBook (28f7fba)"></head>'
MINTLIFY = '<head><meta content="Mintlify" name="generator"/></head>'
LLMS = "# Works\n- [A](https://docs.example/a.md)\n- [B](/b.md)\n- [C](/c.md): more\n"


def guess_after(seen: Page, url: str = "https://docs.example/guide/valves") -> str:
    hosts = MarkdownHosts()
    hosts.observe(seen)
    return hosts.guess(page(url, HTML))


@pytest.mark.parametrize(
    "seen",
    [
        page("https://docs.example/a", GITBOOK),
        page("https://docs.example/a", MINTLIFY),
        replace(page("https://docs.example/a", HTML), link='</llms.txt>; rel="llms-txt"'),
        page("https://docs.example/llms.txt", LLMS, "text/plain"),
        page("https://docs.example/a.md", "# A", "text/markdown"),
    ],
    ids=["GitBook", "Mintlify", "header", "llms.txt", "read before"],
)
def test_a_host_that_is_known_to_have_markdown_versions_is_asked(seen: Page) -> None:
    assert guess_after(seen) == "https://docs.example/guide/valves.md"


@pytest.mark.parametrize(
    "seen",
    [
        page("https://docs.example/a", HTML),
        page("https://other.example/a.md", "# A", "text/markdown"),
        page("https://docs.example/llms.txt", "# Works\n- [A](/a)\n- [README](/b.md)\n", "text/plain"),
        page("https://docs.example/a.md", HTML),
        page("https://docs.example/a", "<body><p>" + GITBOOK.replace("<meta", "&lt;meta")),
    ],
    ids=["no mark", "another host", "links to HTML", "HTML", "only words"],
)
def test_other_hosts_are_not_asked(seen: Page) -> None:
    assert guess_after(seen) == ""


@pytest.mark.parametrize(
    ("url", "guess"),
    [
        ("https://docs.example/guide/", "https://docs.example/guide.md"),
        ("https://docs.example/", "https://docs.example/index.md"),
        ("https://docs.example/guide.html", "https://docs.example/guide.html.md"),
        ("https://docs.example/guide?page=2", ""),
        ("https://docs.example/guide.pdf", ""),
        ("https://docs.example/v1.2", ""),
    ],
)
def test_the_suffix_follows_the_path(url: str, guess: str) -> None:
    assert guess_after(page("https://docs.example/a", GITBOOK), url) == guess


def test_the_versions_of_a_host_may_stand_in_the_folders() -> None:
    seen = page("https://docs.example/a/index.md", "# A", "text/markdown")
    assert guess_after(seen, "https://docs.example/guide/") == "https://docs.example/guide/index.md"
    assert guess_after(seen, "https://docs.example/guide") == ""


def test_a_host_without_the_version_is_not_asked_again() -> None:
    hosts = MarkdownHosts()
    hosts.observe(page("https://docs.example/a", GITBOOK))
    hosts.reject("https://docs.example/a")
    hosts.observe(page("https://docs.example/b", GITBOOK))
    assert hosts.guess(page("https://docs.example/b", GITBOOK)) == ""


def test_only_so_many_hosts_are_remembered() -> None:
    hosts = MarkdownHosts()
    for number in range(MAX_HOSTS + 1):
        hosts.observe(page(f"https://{number}.example/a", GITBOOK))
    assert hosts.guess(page("https://0.example/b", HTML)) == ""
    assert hosts.guess(page(f"https://{MAX_HOSTS}.example/b", HTML))
