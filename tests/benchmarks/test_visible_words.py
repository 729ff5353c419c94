"""The benchmark of visible words: the words of both sides, which are missing, and what Chromium shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.extraction.visible_words.__main__ import format_table, format_worst, measure
from benchmarks.extraction.visible_words.browser_text import read_visible_text, read_visible_texts
from benchmarks.extraction.visible_words.words import list_missing, split_markdown_words, split_words
from tests.support.chromium import MISSING, Chromium, find_chromium

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason=MISSING)


def test_words_are_in_lower_case_without_invisible_characters_and_cjk_is_split_by_character() -> None:
    assert split_words("Straße, snake_case 東京 co\u00adop\u200ber") == [
        "strasse",
        "snake",
        "case",
        "東",
        "京",
        "cooper",
    ]


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("[label](https://example.com/address) ![alt](/i.png)", "label"),
        ("List&lt;String> and `a_b` and \\*", "list string and a b and"),
        ("text[^1]\n\n[^1]: the note", "text 1 1 the note"),
        ("# Title\n\n# [rest: navigation, under “Title”]\n\n- Home\n", "title home"),
        ("```python\nx = 1\n```\n", "x 1"),
    ],
)
def test_the_words_of_markdown_are_those_that_it_shows(markdown: str, words: str) -> None:
    assert sorted(split_markdown_words(markdown)) == sorted(words.split())


@pytest.mark.parametrize(
    ("visible", "found", "missing"),
    [
        ("a b b", "b a", "b"),
        ("a b", "b a c", ""),
        ("foobar end", "foo bar end", ""),
        ("foo bar end", "foobar end", ""),
        ("foobar foobar", "foo bar", "foobar"),
        ("foobar", "foo x bar", "foobar"),
        ("foobar foo bar", "foo bar", "foobar"),
    ],
)
def test_a_word_is_missing_unless_its_characters_are_there_for_it_alone(visible: str, found: str, missing: str) -> None:
    assert list_missing(visible.split(), found.split()) == missing.split()


def test_a_page_has_the_share_of_its_visible_words_and_none_if_it_is_not_read() -> None:
    html = "<title>A page</title><main><h1>A page</h1><p>It has these few words, and not many more.</p></main>"
    page = {"id": 1, "type": "article", "url": "https://page.example/", "html": html}
    results = [measure(page, "A page\nIt has these few words, and unseen"), measure(page | {"html": ""}, "two words")]
    assert [result.missing for result in results] == [("unseen",), ("two", "words")]
    assert results[1].error == "empty_document"
    assert list(format_table(results))[-2:] == [
        "| without errors | 1 | 9 | 1 | 88.889% | 88.889% |",
        "| all | 2 | 11 | 3 | 72.727% | 44.444% |",
    ]
    assert next(format_worst(results, 1)) == "2 of 2 (0.00%) 1 https://page.example/ empty_document: two words"


@needs_chromium
def test_the_text_of_a_page_is_what_a_reader_sees() -> None:
    html = """<style>.clip { position: absolute; clip: rect(0, 0, 0, 0) }</style>
        <p style="text-transform: uppercase">Seen</p><p hidden>hidden</p><p style="opacity: 0">transparent</p>
        <span class=clip>clipped</span><div style="position: absolute; left: -9999px">left</div>
        <div style="text-indent: -9999px">indented</div><div style="font-size: 0">tiny <b style="font-size: 9px">big</b>
        </div><noscript>noscript</noscript><textarea>value</textarea><select><option>option</select><button>button</button>
        <details><summary>summary</summary>closed</details>"""
    with Chromium() as browser:
        assert read_visible_text(browser, "https://page.example/", html).split() == ["Seen", "big", "button", "summary"]


@needs_chromium
def test_the_text_of_a_page_is_read_from_the_cache_the_second_time(tmp_path: Path) -> None:
    pages = [("https://page.example/", "<p>text</p>")]
    assert list(read_visible_texts(pages, tmp_path)) == ["text"]
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    assert list(read_visible_texts(pages, tmp_path)) == ["text"]
    assert file.stat().st_mtime_ns == before
