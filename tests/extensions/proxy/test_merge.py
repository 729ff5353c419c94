"""The answers of several servers become one, and the pages of a list are gathered within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.proxy import merge
from keyhole.extensions.proxy.eras import Introduction
from keyhole.extensions.proxy.merge import MAX_LIST_BYTES, MAX_PAGES, Pages, merge_greetings, merge_lists

MODERN = Introduction("modern", "2026-07-28")
PAGE = {"tools": [{"name": "a"}], "nextCursor": "1"}


def test_the_oldest_version_that_a_server_chose_is_announced() -> None:
    answers = {"a": {"protocolVersion": "2025-11-25"}, "b": {"protocolVersion": "2025-03-26"}, "c": {}}
    assert merge_greetings("initialize", answers, {}, Introduction())["protocolVersion"] == "2025-03-26"


def test_without_a_server_of_its_era_the_client_gets_its_own_version() -> None:
    modern = {"a": {"supportedVersions": ["2026-07-28"]}}
    client = Introduction(version="2025-06-18")
    assert merge_greetings("initialize", modern, {}, client)["protocolVersion"] == "2025-06-18"
    assert merge_greetings("initialize", modern, {}, Introduction(version="9"))["protocolVersion"] == "2025-11-25"
    older = {"a": {"protocolVersion": "2025-03-26"}}
    assert merge_greetings("server/discover", older, {}, MODERN)["supportedVersions"] == ["2026-07-28"]


def test_the_versions_that_all_servers_of_the_modern_era_support_are_announced() -> None:
    answers = {"a": {"supportedVersions": ["3", "2"]}, "b": {"supportedVersions": ["2", "1"]}, "c": {}}
    assert merge_greetings("server/discover", answers, {}, MODERN)["supportedVersions"] == ["2"]


def test_a_server_that_is_missing_is_named_in_the_instructions_and_may_have_any_capability() -> None:
    answers = {"a": {"instructions": "Be a."}}
    merged = merge_greetings("initialize", answers, {"b": "the server b ended"}, Introduction())
    assert set(merged["capabilities"]) == {"tools", "prompts", "resources", "completions"}
    assert merged["instructions"] == "a: Be a.\nb: not available yet: the server b ended."


@pytest.mark.parametrize(
    ("other", "missing", "cached"),
    [
        ({"ttlMs": 5, "cacheScope": "public"}, {}, (5, "public")),
        ({"ttlMs": 90, "cacheScope": "private"}, {}, (9, "private")),
        ({}, {}, (0, "private")),
        ({"ttlMs": "soon", "cacheScope": "public"}, {}, (0, "private")),
        ({"ttlMs": 5, "cacheScope": "public"}, {"c": "it ended"}, (0, "private")),
    ],
)
def test_a_merged_list_may_be_cached_as_long_as_each_of_its_parts(other: Any, missing: Any, cached: Any) -> None:
    answers = {"a": {"tools": [1], "ttlMs": 9, "cacheScope": "public"}, "b": {"tools": [2], **other}}
    merged = merge_lists("tools", answers, missing, is_cacheable=True)
    assert merged["tools"] == [1, 2]
    assert (merged["ttlMs"], merged["cacheScope"]) == cached


class TestPages:
    def test_are_gathered_until_there_is_no_further_one(self) -> None:
        pages = Pages()
        assert pages.add("tools", {**PAGE, "new": 1}, 10) == "1"
        assert pages.add("tools", {"tools": [{"name": "b"}]}, 10) is None
        assert [item["name"] for item in pages.items] == ["a", "b"]
        assert (pages.fields, pages.cut) == ({"new": 1}, "")

    def test_without_end_are_cut_after_their_number(self) -> None:
        pages, count = Pages(), 1
        while pages.add("tools", {**PAGE, "nextCursor": str(count)}, 10) is not None:
            count += 1
        assert (count, len(pages.items)) == (MAX_PAGES, MAX_PAGES)
        assert pages.cut == "it has more than 250 pages"

    def test_that_lead_back_to_an_earlier_one_are_cut(self) -> None:
        pages = Pages()
        assert [pages.add("tools", PAGE, 10) for _ in range(2)] == ["1", None]
        assert "leads back" in pages.cut

    @pytest.mark.parametrize("entries", [3, 20])
    def test_of_too_many_bytes_are_cut_at_the_entry_that_does_not_fit(self, entries: int) -> None:
        pages, entry, cursors = Pages(), {"name": "x" * 999_000}, iter("abcdefgh")
        page = {"tools": [entry] * entries}
        while pages.add("tools", {**page, "nextCursor": next(cursors)}, entries * 1_000_000) is not None:
            pass
        assert pages.cut == f"it has more than {MAX_LIST_BYTES:,} bytes"
        assert len(pages.items) == MAX_LIST_BYTES // 1_000_000

    def test_with_a_cursor_that_is_no_text_have_no_further_one(self) -> None:
        assert Pages().add("tools", {"tools": [], "nextCursor": 5}, 10) is None


def test_a_result_keeps_only_what_has_the_type_that_the_protocol_gives_it() -> None:
    assert merge.well_formed("tools/list", {"tools": [{"name": "a"}, "b", None], "new": 1}) == {
        "tools": [{"name": "a"}],
        "new": 1,
    }
    assert merge.well_formed("initialize", {"capabilities": [], "instructions": 5, "protocolVersion": None}) == {}
