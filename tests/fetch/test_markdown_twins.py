"""Which hosts are asked for the Markdown version of a page, and at which address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.fetch.markdown_twins import MAX_HOSTS, MarkdownHosts
from keyhole.records import Page
from tests.support.fakes import page

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
