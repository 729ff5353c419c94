"""The sources of a search: cited with passages, or listed on one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.records import Source
from keyhole.render.boundary import enclose
from keyhole.render.sources import (
    CitedSource,
    ListedSource,
    render_cited,
    render_listed,
    search_details,
    search_facts,
    shorten_snippet,
)
from tests.support.fakes import artifact
from tests.support.product import SECRET

ARTIFACT = artifact(text="x" * 1_234, url="https://example.org/page", title="A page")
SOURCE = Source(ARTIFACT.url, ARTIFACT.title, artifact=ARTIFACT, stored=True)


def render(source: Source = SOURCE, repeats: tuple[int, ...] = ()) -> str:
    return render_cited(CitedSource(source, "body", repeats), 3, SECRET, brief=False)


def test_a_source_has_its_address_title_size_id_and_text() -> None:
    assert render() == (
        f'[3] https://example.org/page “A page”, 1,234 characters, id="aaaaaaaaaaaaaaaa".\n{enclose("body", SECRET)}'
    )


def test_the_id_is_shown_once_and_only_for_stored_sources() -> None:
    assert render().count("aaaaaaaaaaaaaaaa") == 1
    assert "aaaaaaaaaaaaaaaa" not in render(replace(SOURCE, stored=False))


def test_a_site_is_named_unless_title_or_address_name_it() -> None:
    assert "“A page”, from “The Mill Post”, 2024-05-01, 1,234" in render(
        replace(SOURCE, artifact=replace(ARTIFACT, site="The Mill Post"), date="2024-05-01T09:00:00Z")
    )
    assert "from" not in render(replace(SOURCE, artifact=replace(ARTIFACT, site="example.org")))


def test_truncation_copies_and_repetitions_are_reported_on_one_line() -> None:
    source = replace(
        SOURCE, artifact=replace(ARTIFACT, cut=True), copies=("https://www.b.example/x", "not a url", "//[x")
    )
    line = render(source, repeats=(2, 1)).splitlines()[0]
    assert "Partial: " in line
    assert "Also at: b.example, not%20a%20url, //%5Bx." in line
    assert line.endswith("Shares a passage with [1], [2], left out here.")


def test_the_shortest_form_of_a_source_says_that_its_page_is_truncated() -> None:
    cut = CitedSource(replace(SOURCE, artifact=replace(ARTIFACT, cut=True)), "body")
    head = '[3] https://example.org/page id="aaaaaaaaaaaaaaaa"'
    assert render_cited(cut, 3, SECRET, brief=True).startswith(f"{head} Partial.\n---")
    assert render_cited(CitedSource(SOURCE, "body"), 3, SECRET, brief=True).startswith(f"{head}\n---")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (SOURCE, '[7] https://example.org/page “A page” id="aaaaaaaaaaaaaaaa"'),
        (Source("https://b.example/", "", not_read="timed out"), "[7] https://b.example/ (not read: timed out)"),
        (Source("https://b.example/", "B", date="2024-05-01"), "[7] https://b.example/ “B” (2024-05-01)"),
    ],
)
def test_a_source_without_passages_has_one_line(source: Source, line: str) -> None:
    assert render_listed(ListedSource(source), 7, brief=False) == line


def test_a_snippet_is_one_line_that_forms_no_markdown() -> None:
    assert (
        shorten_snippet("one\n[2] two ![x](https://evil.example)", 200)
        == "one [2] two !&#91;x]&#40;https://evil.example)"
    )
    assert len(shorten_snippet("é" * 900, 100).encode()) <= 100


def test_details_count_all_sources_and_list_the_shown_ones() -> None:
    details = search_details([], [ListedSource(SOURCE)], total=7, weak=False)
    assert details["total"] == 7
    assert [row["url"] for row in details["sources"]] == [SOURCE.url]  # type: ignore[attr-defined]


def test_the_facts_that_are_sent_are_the_ids_of_stored_sources() -> None:
    unread = Source("https://b.example/", "B", not_read="timed out")
    assert search_facts([], [ListedSource(SOURCE), ListedSource(unread)]) == {"artifact_ids": ["aaaaaaaaaaaaaaaa"]}
