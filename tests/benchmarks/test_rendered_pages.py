"""The benchmark of pages that scripts write: its pages, their server, which words were read, and its table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.browser.pages.build import SOURCES
from benchmarks.browser.pages.catalogue import PAGES, Page
from benchmarks.browser.pages.processes import MemorySampler, browser_memory
from benchmarks.browser.pages.report import Row, format_details, format_table, read_words
from benchmarks.browser.pages.server import serve_pages
from benchmarks.browser.pages.texts import HIDDEN_PREFIX

ROW = Row("keyhole", "react-article", 200, 0, 0, "", 0.5, 1.0, 100_000_000)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    dist = tmp_path_factory.mktemp("dist")
    (dist / "apps").mkdir()
    (dist / "apps" / "lit.js").write_text("// the app")
    (dist / "next").mkdir()
    (dist / "next" / "guide.html").write_text("<html><head></head><body></body></html>")
    with serve_pages(dist) as port:
        yield f"127.0.0.1:{port}"


def get(endpoint: str, path: str) -> str:
    with urllib.request.urlopen(f"http://{endpoint}{path}", timeout=10) as response:
        return str(response.read().decode())


def test_there_are_forty_pages_and_each_has_a_source() -> None:
    assert len(PAGES) == 40
    sources = {file.stem for file in (SOURCES / "apps").iterdir()} | {"next"}
    assert {page.app for page in PAGES.values()} <= sources
    assert len({page.app for page in PAGES.values()}) >= 13


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.name)
def test_what_a_person_sees_of_a_page_are_a_hundred_words_or_more_and_no_hidden_ones(page: Page) -> None:
    assert len(page.visible.split()) >= 100
    assert HIDDEN_PREFIX not in page.visible


def test_a_page_is_a_shell_without_its_text_whose_api_has_the_text(endpoint: str) -> None:
    page = PAGES["lit-article"]
    shell = get(endpoint, page.address)
    assert page.data["title"] not in shell
    assert "/apps/lit.js" in shell
    assert get(endpoint, "/apps/lit.js") == "// the app"
    assert json.loads(get(endpoint, f"/api/{page.name}")) == page.data


def test_an_endless_list_is_sent_in_batches(endpoint: str) -> None:
    data = PAGES["react-feed"].data
    assert json.loads(get(endpoint, "/api/react-feed/batch?number=0"))["items"] == data["items"]
    assert json.loads(get(endpoint, "/api/react-feed/batch?number=1"))["items"] == data["later"][:12]


def test_a_fragment_is_html_and_one_for_turbo_is_in_its_frame(endpoint: str) -> None:
    section = PAGES["htmx-lazy"].data["sections"][1]
    assert get(endpoint, "/fragment/htmx-lazy/section-1") == f"<h2>{section['heading']}</h2><p>{section['text']}</p>"
    assert get(endpoint, "/fragment/turbo-frames/heading").startswith('<turbo-frame id="heading"><h1>')


def test_every_page_asks_for_a_private_address_whose_connections_are_counted(endpoint: str) -> None:
    for path in (PAGES["react-tabs"].address, "/next/guide"):
        assert '<script src="/track.js" async>' in get(endpoint, path)
    script = get(endpoint, "/track.js")
    address = script.partition('"')[2].partition('"')[0]
    with pytest.raises(OSError):
        get(address, "/")
    assert json.loads(get(endpoint, "/counts"))["connections"] >= 1


def test_the_server_sends_no_file_outside_of_its_folder(endpoint: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(endpoint, "/../../etc/hostname")


def test_missing_and_hidden_words_of_a_page_are_counted() -> None:
    page = Page("react-article", {"title": "Guide to the harbour", "hidden": ["unseenba unseence"]})
    text = (
        "<p>Guide to the</p><p>harbour</p>" + "<p>More words than a page without text has, for example these.</p>" * 9
    )
    assert read_words(text, page) == (0, 0, 4)
    assert read_words(text.replace("harbour", "unseenba"), page) == (1, 1, 4)
    assert read_words("<div id=root></div><script src=a.js></script>", page) == (4, 0, 4)


def test_the_table_has_a_row_for_each_system_and_the_details_name_the_pages_that_were_not_read() -> None:
    rows = [ROW, Row("playwright", "lit-article", 200, 150, 6, "timeout", 0.2, 0.4, 200_000_000)]
    table = list(format_table(rows, {"keyhole": Counter(), "playwright": Counter(connections=4, datagrams=2)}))
    assert table[2:] == [
        "| keyhole | 1 of 1 | 100.0% | 0 | 1.00 s | 0.50 s | 0.50 s | 100 MB | 100 MB | 0 | 0 |",
        "| playwright | 0 of 1 | 25.0% | 6 | 0.40 s | 0.20 s | 0.20 s | 200 MB | 200 MB | 4 | 2 |",
    ]
    assert list(format_details(rows)) == ["playwright, lit-article: 25% of words, 6 hidden. timeout"]


@pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/smaps_rollup").exists(), reason="needs Linux's smaps_rollup")
def test_the_memory_of_a_browser_is_that_of_its_process_and_all_below_it() -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', {!r}])".format(
        "import sys; data = bytearray(30_000_000); print('ready', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, "--remote-debugging-pipe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as browser:
        assert browser.stdout
        assert browser.stdout.readline() == b"ready\n"
        assert browser_memory() > 30_000_000
        browser.communicate()
    assert browser_memory() == 0
    with MemorySampler() as sampler:
        pass
    assert sampler.peak == 0
