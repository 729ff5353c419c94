"""The tests that every artifact store must pass. The test class of a store inherits them."""

from __future__ import annotations

import io
import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.records import TOPIC, UNDIGESTED, ArtifactPart
from keyhole.store.base import Limits, Store, Traces
from keyhole.store.chunks import TextFile
from keyhole.store.filters import ALL, Filters, Scope
from keyhole.store.forget_mark import FORGOTTEN, NO_MARK, ForgetMark
from tests.support.fakes import Clock, artifact
from tests.support.stores import noise

DAY = 86_400.0
TTL = 30 * DAY
LOW = {"ttl": Limits(1.5 * DAY, 10**9), "max_bytes": Limits(TTL, 400_000)}
"""For each limit, a value that allows one of two texts of 240 KB that are put at an interval of a day."""
TEXTS = st.text(st.sampled_from(list("aé中😀\x00\n\r\u2028\ud800\udfff'\"%")) | st.characters(), max_size=60)


def code_of(store: Store, id: str) -> Code:
    """Return the code of the error for reading an id."""
    with pytest.raises(KeyholeError) as caught:
        store.get(id)
    return caught.value.code


class StoreContract(ABC):
    """Tests of the Store protocol. Subclasses define `open_store`."""

    @abstractmethod
    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        """Return an empty store with these limits."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def store(self, tmp_path: Path, clock: Clock) -> Iterator[Store]:
        store = self.open_store(tmp_path, clock, Limits(TTL, 10**9))
        yield store
        store.close()

    # Storing.

    def test_a_text_that_is_too_large_for_memory_is_stored_from_its_file(self, store: Store) -> None:
        text = "".join(f"{number} 中 😀 \ud800\x00\n" for number in range(20_000))
        file = TextFile(io.BytesIO(), [text[:70_000], text[70_000:]])
        store.put(artifact(text=""), "word", packed=file.packed())
        assert store.get("a" * 16).text == text
        assert store.part("a" * 16, 100_000, 170_000).artifact.text == text[100_000:170_000]
        assert [found.text for found in store.search(["word"], 5)] == [text]

    def test_get_returns_every_field_of_an_artifact(self, store: Store, clock: Clock) -> None:
        stored = artifact(
            text="Größe\n", url="https://example.org/final", requested_url="https://example.org/requested"
        )
        stored = replace(stored, cut=True, language="de-AT", media_type="text/markdown", fetched_at=clock.now + 0.25)
        stored = replace(
            stored, etag='W/"1"', last_modified_header="Sun, 06 Nov 1994 08:49:37 GMT", author="Ä. Nin", site="S"
        )
        stored = replace(stored, published="2024-11-21", modified="2025", replaces="b" * 16)
        stored = replace(stored, notes=(("zeta", "1"), ("alpha", 'ü " \x00 \ud800 中'), ("", "")), main_end=3)
        store.put(stored, "grösse")
        assert store.get(stored.id) == stored
        assert store.part(stored.id, 4, 6).artifact.main_end == 3

    @settings(
        deadline=None,
        max_examples=60,
        # One store for all examples, as in production.
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(text=TEXTS, title=TEXTS)
    def test_any_text_is_returned_unchanged(self, store: Store, text: str, title: str) -> None:
        stored = artifact(text=text, title=title.encode("utf-8", "ignore").decode())
        store.put(stored, "word")
        assert store.get(stored.id).title == stored.title
        store.remove(stored.id)
        store.put(stored, "word")
        assert store.get(stored.id) == stored

    def test_a_long_text_is_returned_unchanged(self, store: Store) -> None:
        stored = artifact(text="Zeile 中 😀\n" * 200_000)
        store.put(stored, "zeile")
        assert store.get(stored.id).text == stored.text

    def test_putting_the_same_id_again_replaces_the_artifact(self, store: Store, clock: Clock) -> None:
        old = artifact(title="Old", cut=True, fetched_at=clock.now)
        new = replace(old, title="New", cut=False, requested_url="https://example.org/other", fetched_at=clock.now + 9)
        store.put(old, "old page")
        clock.advance(9)
        store.put(new, "new page")
        assert store.get(old.id) == new
        (row,) = store.list(10)
        assert (row.title, row.fetched_at, row.last_access) == ("New", new.fetched_at, clock.now)
        assert store.search(("new",), 10) == (new,)
        assert store.search(("old",), 10) == ()

    def test_putting_the_same_id_again_replaces_every_field(self, store: Store) -> None:
        old = replace(artifact(), etag='"1"', author="A", replaces="b" * 16, notes=(("changed", "1"),), main_end=4)
        new = replace(
            artifact(), last_modified_header="Sun, 06 Nov 1994 08:49:37 GMT", site="S", language="fr", modified="2"
        )
        for stored in (old, new, old):
            store.put(stored, "x")
            assert store.get(stored.id) == stored

    def test_an_unchanged_page_is_renewed_without_its_text(self, store: Store, clock: Clock) -> None:
        store.put(artifact(fetched_at=clock.now), "word")
        clock.advance(TTL - 1)
        assert store.renew(artifact().id, clock.now)
        clock.advance(TTL - 1)
        assert store.get(artifact().id) == artifact(fetched_at=clock.now - TTL + 1)
        assert store.search(("word",), 1) == (store.get(artifact().id),)

    @pytest.mark.parametrize("id", ["bbbbbbbbbbbbbbbb", "", "\ud800"])
    def test_an_unknown_or_expired_artifact_cannot_be_renewed(self, store: Store, clock: Clock, id: str) -> None:
        store.put(artifact(), "x")
        assert not store.renew(id, clock.now)
        clock.advance(TTL + 1)
        assert not store.renew(artifact().id, clock.now)
        assert code_of(store, artifact().id) is Code.EXPIRED_ARTIFACT

    def test_putting_an_artifact_again_restarts_its_expiry(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x")
        clock.advance(TTL - 1)
        store.put(artifact(), "x")
        clock.advance(TTL - 1)
        assert store.get(artifact().id) == artifact()

    # Parts.

    @pytest.mark.parametrize("edge", [0, 4_096, 8_192, 16_384, 32_768, 65_536, 98_304, 120_000])
    def test_a_part_is_exact_at_every_chunk_edge(self, store: Store, edge: int) -> None:
        stored = artifact(text="aé中😀\ud800\n" * 20_000)
        store.put(stored, "x")
        for start, end in ((edge - 1, edge), (edge, edge + 1), (edge - 4, edge + 4), (edge - 3, edge + 40_000)):
            start, end = max(0, start), max(0, end)
            stretch = replace(stored, text=stored.text[start:end])
            assert store.part(stored.id, start, end) == ArtifactPart(stretch, min(start, 120_000), 120_000)

    @pytest.mark.parametrize(
        ("start", "end", "clamped_start", "text"),
        [(-5, 3, 0, "012"), (8, 99, 8, "89"), (10, 12, 10, ""), (50, 99, 10, ""), (7, 3, 7, ""), (-9, -2, 0, ""),
         (0, 10**18, 0, "0123456789"), (4, 4, 4, "")],
    )  # fmt: skip
    def test_a_part_is_clamped_to_the_text(
        self, store: Store, start: int, end: int, clamped_start: int, text: str
    ) -> None:
        stored = artifact(text="0123456789")
        store.put(stored, "x")
        assert store.part(stored.id, start, end) == ArtifactPart(replace(stored, text=text), clamped_start, 10)

    def test_an_empty_text_has_an_empty_part(self, store: Store) -> None:
        store.put(artifact(text=""), "x")
        assert store.part(artifact().id, 0, 5) == ArtifactPart(artifact(text=""), 0, 0)

    @settings(
        deadline=None,
        max_examples=40,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(text=TEXTS, times=st.sampled_from([1, 700, 3_000]), size=st.integers(1, 50_000))
    def test_consecutive_parts_make_up_the_text(self, store: Store, text: str, times: int, size: int) -> None:
        stored = artifact(text=text * times)
        store.remove(stored.id)
        store.put(stored, "x")
        starts = range(0, len(stored.text), max(size, len(stored.text) // 20))
        edges = [*starts, len(stored.text)]
        parts = [store.part(stored.id, a, b).artifact.text for a, b in itertools.pairwise(edges)]
        assert "".join(parts) == stored.text

    def test_part_and_get_fail_alike_for_unknown_and_expired_artifacts(self, store: Store, clock: Clock) -> None:
        stored = artifact(url="https://example.org/old")
        store.put(stored, "x")
        with pytest.raises(KeyholeError) as caught:
            store.part("bbbbbbbbbbbbbbbb", 0, 5)
        assert caught.value.code is Code.UNKNOWN_ARTIFACT
        clock.advance(TTL + 1)
        with pytest.raises(KeyholeError) as caught:
            store.part(stored.id, 0, 5)
        assert (caught.value.code, caught.value.facts) == (Code.EXPIRED_ARTIFACT, {"url": stored.url})

    def test_reading_a_part_postpones_expiry(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x")
        for _ in range(3):
            clock.advance(TTL - DAY)
            store.part(artifact().id, 0, 5)
        assert store.get(artifact().id) == artifact()

    # Equal texts.

    def test_equal_texts_are_stored_once_and_deleted_with_their_last_artifact(self, store: Store) -> None:
        one, two = (artifact(name, text="The same.\n" * 9_000, url=f"https://{name}.example/") for name in ("a", "b"))
        store.put(one, "x")
        alone = store.stats()
        store.put(two, "x")
        both = store.stats()
        assert (both.artifacts, both.contents, both.text_bytes) == (2, 1, 2 * alone.text_bytes)
        assert store.remove("a")
        assert store.get("b") == two
        assert store.part("b", 80_000, 80_010).artifact.text == two.text[80_000:80_010]
        assert store.remove("b")
        assert (store.stats().artifacts, store.stats().contents) == (0, 0)
        store.put(one, "x")
        assert store.get("a") == one

    # Statistics and verification.

    def test_stats_count_artifacts_texts_bytes_and_tombstones(self, store: Store, clock: Clock) -> None:
        empty = store.stats()
        assert (empty.artifacts, empty.contents, empty.text_bytes, empty.tombstones, empty.damaged) == (0, 0, 0, 0, 0)
        assert (empty.oldest_fetch, empty.newest_fetch) == (None, None)
        store.put(artifact("old", "x", fetched_at=clock.now - 5), "x")
        clock.advance(TTL)
        store.put(artifact("one", "中😀\ud800", fetched_at=clock.now), "x")
        store.put(artifact("two", "two", fetched_at=clock.now + 7), "x")
        clock.advance(1)
        store.collect()
        stats = store.stats()
        assert (stats.artifacts, stats.contents, stats.text_bytes, stats.tombstones) == (2, 2, 3 + 4 + 3 + 3, 1)
        assert (stats.oldest_fetch, stats.newest_fetch) == (clock.now - 1, clock.now + 6)
        assert stats.stored_bytes >= 0

    def test_stats_count_what_expires_within_a_day_a_week_and_a_month(self, store: Store, clock: Clock) -> None:
        assert (store.stats().pinned, store.stats().expiring) == (0, (0, 0, 0))
        store.put(artifact("soon"), "x")
        clock.advance(20 * DAY)
        store.put(artifact("later"), "x")
        store.put(artifact("pinned"), "x")
        store.pin("pinned", True)
        clock.advance(9.5 * DAY)
        assert (store.stats().pinned, store.stats().expiring) == (1, (1, 1, 2))
        store.get("soon")
        assert store.stats().expiring[:2] == (0, 0)

    def test_verify_checks_every_text(self, store: Store) -> None:
        assert (store.verify().checked, store.verify().damaged) == (0, ())
        for n in range(150):
            store.put(artifact(f"id{n:03}", text=f"Text {n % 7}"), "x")
        count, warning = len(store.list(1_000)), store.warning()
        assert (store.verify().checked, store.verify().damaged) == (count, ())
        assert store.warning() == warning

    # Unknown and expired ids.

    @pytest.mark.parametrize("id", ["bbbbbbbbbbbbbbbb", "", "AAAAAAAAAAAAAAAA", "a' OR 1=1 --", "\x00", "\ud800", "%"])
    def test_an_unknown_id_is_an_unknown_artifact(self, store: Store, id: str) -> None:
        store.put(artifact(), "x")
        assert code_of(store, id) is Code.UNKNOWN_ARTIFACT

    def test_an_expired_artifact_names_the_url_to_fetch_again(self, store: Store, clock: Clock) -> None:
        stored = artifact(url="https://example.org/old?p=1")
        store.put(stored, "x")
        clock.advance(TTL + 1)
        for _ in range(2):
            with pytest.raises(KeyholeError) as caught:
                store.get(stored.id)
            assert caught.value.code is Code.EXPIRED_ARTIFACT
            assert caught.value.facts == {"url": stored.url}
            store.collect()

    def test_an_artifact_is_available_until_it_expires(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x")
        clock.advance(TTL)
        assert store.get(artifact().id) == artifact()

    def test_reading_an_artifact_postpones_expiry(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x")
        for _ in range(5):
            clock.advance(TTL - DAY)
            assert store.get(artifact().id) == artifact()

    # Pins.

    def test_a_pinned_artifact_does_not_expire_until_it_is_unpinned(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "kept")
        store.put(artifact("other"), "kept")
        assert store.pin(artifact().id, True)
        clock.advance(TTL + 1)
        assert store.collect() == 1
        assert store.get(artifact().id) == artifact()
        clock.advance(TTL + 1)
        assert [(row.id, row.pinned) for row in store.list(10)] == [(artifact().id, True)]
        assert store.search(("kept",), 10) == (artifact(),)
        assert store.recent(artifact().requested_url, 0) == artifact()
        assert store.renew(artifact().id, artifact().fetched_at)
        clock.advance(TTL + 1)
        assert store.pin(artifact().id, False)
        assert not store.list(1)[0].pinned
        clock.advance(TTL + 1)
        assert store.list(10) == ()
        assert code_of(store, artifact().id) is Code.EXPIRED_ARTIFACT

    def test_a_pinned_artifact_stays_pinned_when_it_is_put_again_and_not_when_it_was_removed(
        self, store: Store, clock: Clock
    ) -> None:
        store.put(artifact(), "word")
        assert not store.list(1)[0].pinned
        store.pin(artifact().id, True)
        store.put(artifact(title="New"), "word")
        assert [(row.title, row.pinned) for row in store.list(1)] == [("New", True)]
        assert store.remove(artifact().id)
        store.put(artifact(), "word")
        assert not store.list(1)[0].pinned

    def test_only_a_stored_artifact_can_be_pinned(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "word")
        clock.advance(TTL + 1)
        for id in (artifact().id, "never", "\ud800\x00"):
            assert not store.pin(id, True)
            assert not store.pin(id, False)

    def test_an_artifact_can_be_pinned_and_unpinned_twice(self, store: Store) -> None:
        store.put(artifact(), "word")
        for pinned in (True, True, False, False):
            assert store.pin(artifact().id, pinned)
            assert store.list(1)[0].pinned is pinned

    def test_an_expired_artifact_can_be_put_again(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x")
        clock.advance(TTL + 1)
        store.collect()
        store.put(artifact(), "x")
        assert store.get(artifact().id) == artifact()
        assert store.search(("x",), 10) == (artifact(),)

    def test_an_expired_artifact_is_in_no_search_or_list(self, store: Store, clock: Clock) -> None:
        store.put(artifact(fetched_at=clock.now), "x")
        clock.advance(TTL + 1)
        assert store.recent(artifact().url, 0) is None
        assert store.search(("x",), 10) == ()
        assert store.list(10) == ()

    # Listing.

    def test_a_list_has_the_newest_first_within_its_limit(self, store: Store, clock: Clock) -> None:
        for n in (2, 0, 4, 1, 3):
            store.put(artifact(f"id{n}", url=f"https://example.org/{n}", fetched_at=clock.now + n), "x")
        assert [row.id for row in store.list(3)] == ["id4", "id3", "id2"]
        assert [row.id for row in store.list(100)] == ["id4", "id3", "id2", "id1", "id0"]
        assert store.list(0) == ()

    def test_a_list_continues_after_a_place_despite_changes(self, store: Store, clock: Clock) -> None:
        for n in range(5):
            store.put(artifact(f"id{n}", url=f"https://example.org/{n}", fetched_at=clock.now + n // 2 + 0.1), "x")
        (*_, last) = first = store.list(2)
        store.put(artifact("new", url="https://example.org/new", fetched_at=clock.now + 9), "x")
        store.remove(last.id)
        second = store.list(2, last.place)
        third = store.list(2, second[-1].place)
        assert [row.id for row in (*first, *second, *third)] == ["id4", "id2", "id3", "id0", "id1"]
        assert store.list(2, third[-1].place) == ()

    def test_a_summary_has_every_field_but_the_text(self, store: Store, clock: Clock) -> None:
        notes = (("command", "make"), ("exit", "2"))
        stored = replace(artifact(text="中文 😀", title="Titel", fetched_at=clock.now - 5), notes=notes)
        store.put(stored, "x")
        (row,) = store.list(1)
        assert (row.id, row.url, row.title, row.chars, row.size) == (stored.id, stored.url, "Titel", 4, 11)
        assert row.notes == notes
        assert (row.fetched_at, row.last_access) == (clock.now - 5, clock.now)

    # Searching.

    def test_a_search_finds_artifacts_with_any_word_and_the_most_words_first(self, store: Store) -> None:
        one, both, none = (artifact(name, text=name) for name in ("one", "both", "none"))
        store.put(one, "fish water")
        store.put(both, "fish bread wine")
        store.put(none, "stone fishing")
        assert store.search(("fish", "bread"), 10) == (both, one)
        assert store.search(("fish", "bread"), 1) == (both,)
        assert store.search(("absent",), 10) == ()
        assert store.search((), 10) == ()

    @pytest.mark.parametrize(
        "word",
        [
            "größe",
            "नमस्ते",
            "数据",
            "ภาษา",
            "العربية",
            "ελληνικά",
            "o'neil",
            "c",
            "42",
            "日本",
            "한국어",
            "straße",
            "i̇",
            "𠀀",
            "ﬁ",
        ],
    )
    def test_words_of_any_script_are_found(self, store: Store, word: str) -> None:
        stored = artifact()
        store.put(stored, f"before {word} after")
        assert store.search((word,), 10) == (stored,)
        assert store.search((word[0] + "x",), 10) == ()

    @pytest.mark.parametrize("near", ["grosse", "groβe", "größ", "größen"])
    def test_a_similar_word_is_not_found(self, store: Store, near: str) -> None:
        store.put(artifact(), "größe")
        assert store.search((near,), 10) == ()

    @pytest.mark.parametrize(
        "word",
        ['"', '"a"', "a*", "AND", "NEAR(a b)", "stems:a", "a:b", "^a", "-a", "(", "'", "\x00", "a\x00b", "", " ", "a b",
         "\ud800", "x\u037ay", "x\u0600y", "\ufe76", "\u200d", "😀", "+", "x" * 10_000],
    )  # fmt: skip
    def test_no_word_makes_a_search_fail(self, store: Store, word: str) -> None:
        store.put(artifact(), "other words")
        assert store.search((word,), 10) == ()
        assert store.search((word, "words"), 10) == (artifact(),)

    def test_a_search_accepts_many_words(self, store: Store) -> None:
        store.put(artifact(), "w1999")
        assert store.search(tuple(f"w{n}" for n in range(2_000)), 10) == (artifact(),)

    def test_any_form_of_a_word_matches(self, store: Store) -> None:
        for number in range(6):
            store.put(artifact(f"other{number}"), "fish")
        mice, mouse, cat = (artifact(name, text=name) for name in ("mice", "mouse", "cat"))
        store.put(mice, "mice")
        store.put(mouse, "mouse cat")
        store.put(cat, "cat dog bird")
        assert set(store.search((("mouse", "mice"),), 10)) == {mice, mouse}
        assert store.search((("mouse", "mice"), "cat"), 1) == (mouse,)

    def test_an_artifact_about_a_word_precedes_those_that_only_contain_it(self, store: Store) -> None:
        for name in ("b", "a", "c"):
            store.put(artifact(name, text=name), "fish water" + (f" {TOPIC}fish" if name == "a" else ""))
        assert store.search(("fish",), 1)[0].id == "a"
        assert len(store.search(("fish",), 10)) == 3

    def test_a_search_filters_by_site_age_and_language(self, store: Store, clock: Clock) -> None:
        old, new = (replace(artifact(name, url=f"https://{name}.example.org/"), language="") for name in ("old", "new"))
        store.put(replace(old, published="2001-02-03", language="de"), "fish")
        store.put(replace(new, fetched_at=clock.now), "fish")

        def found(filters: Filters) -> set[str]:
            return {each.id for each in store.search(("fish",), 10, filters)}

        assert found(Filters()) == found(Filters(sites=("example.org",))) == {"old", "new"}
        assert (
            found(Filters(sites=("old.example.org",))) == found(Filters(exclude_sites=("new.example.org",))) == {"old"}
        )
        assert found(Filters(age="year")) == found(Filters(language="fr")) == {"new"}
        assert found(Filters(sites=("else.example",))) == set()

    def test_filtered_searches_consider_all_artifacts(self, store: Store) -> None:
        for n in range(60):
            store.put(artifact(f"n{n}", url="https://many.example/"), "fish water")
        store.put(artifact("one", url="https://one.example/"), "fish and much more in a long text")
        assert [each.id for each in store.search(("fish", "water"), 1, Filters(("one.example",)))] == ["one"]

    def test_a_store_reports_which_words_it_contains(self, store: Store) -> None:
        store.put(artifact(), "fish water größe")
        assert (
            store.contains_words(("fish", "bird", ("birds", "water"), "größe", "", "a b"))
            == (True, False, True, True) + (False,) * 2
        )
        assert store.contains_words(()) == ()

    # Recent artifacts.

    def test_the_latest_artifact_of_a_requested_url_is_found(self, store: Store, clock: Clock) -> None:
        requested = "https://example.org/requested"
        for n in (1, 3, 2):
            page = artifact(f"id{n}", url=f"https://example.org/{n}", requested_url=requested, fetched_at=clock.now + n)
            store.put(page, "x")
        latest = store.recent(requested, clock.now)
        assert latest is not None
        assert latest.id == "id3"

    def test_an_artifact_older_than_the_limit_is_not_recent(self, store: Store, clock: Clock) -> None:
        store.put(artifact(fetched_at=clock.now), "x")
        assert store.recent(artifact().url, clock.now) == artifact(fetched_at=clock.now)
        assert store.recent(artifact().url, clock.now + 0.001) is None

    @pytest.mark.parametrize("url", ["https://example.org/other", "", "%", "\ud800"])
    def test_a_url_that_was_not_requested_has_nothing_recent(self, store: Store, url: str) -> None:
        store.put(artifact(requested_url="https://example.org/requested"), "x")
        assert store.recent(url, 0) is None

    # Undigested texts.

    @pytest.mark.parametrize("notice", [UNDIGESTED, ""])
    def test_an_undigested_text_is_replaced_when_its_page_is_stored_again(
        self, store: Store, clock: Clock, notice: str
    ) -> None:
        bare = replace(artifact("b" * 16, "Menu Home\n"), notes=(("notice", UNDIGESTED),), cut=True)
        store.put(bare, "menu home")
        assert store.recent(bare.requested_url, 0) == bare
        whole = artifact("c" * 16, url="https://example.org/final", requested_url=bare.requested_url)
        store.put(replace(whole, notes=(("notice", notice),)), "text home")
        assert (
            [found.id for found in store.search(("home", "menu"), 9)] == [row.id for row in store.list(9)] == ["c" * 16]
        )
        with pytest.raises(KeyholeError) as caught:
            store.get(bare.id)
        assert (caught.value.code, caught.value.facts["url"]) == (Code.EXPIRED_ARTIFACT, bare.url)
        assert store.stats().artifacts == 1

    def test_only_unpinned_undigested_texts_of_the_same_page_are_replaced(self, store: Store) -> None:
        forged = f'["notice","{UNDIGESTED}"], "notice": "{UNDIGESTED}"'
        others = {
            "d" * 16: replace(artifact(text="d"), notes=(("notice", "paywalled"), ("rest", forged)), title=forged),
            "e" * 16: replace(artifact(text="e", url="https://example.org/2"), notes=(("notice", UNDIGESTED),)),
            "f" * 16: replace(artifact(text="f"), notes=(("notice", UNDIGESTED),)),
        }
        for id, other in others.items():
            store.put(replace(other, id=id), "x")
        store.pin("f" * 16, True)
        store.put(artifact(text="whole"), "x")
        assert {row.id for row in store.list(9)} == {*others, artifact().id}

    # Removal.

    def test_a_removed_artifact_is_unknown(self, store: Store) -> None:
        store.put(artifact(), "x")
        assert store.remove(artifact().id)
        assert code_of(store, artifact().id) is Code.UNKNOWN_ARTIFACT
        assert store.list(10) == ()
        assert store.search(("x",), 10) == ()
        assert store.recent(artifact().url, 0) is None
        assert not store.remove(artifact().id)

    @pytest.mark.parametrize("id", ["bbbbbbbbbbbbbbbb", "", "\ud800"])
    def test_removing_an_unknown_id_changes_nothing(self, store: Store, id: str) -> None:
        store.put(artifact(), "x")
        assert not store.remove(id)
        assert store.get(artifact().id) == artifact()

    @pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
    def test_each_limit_drops_the_older_of_two_texts(self, tmp_path: Path, clock: Clock, name: str) -> None:
        with closing(self.open_store(tmp_path, clock, LOW[name])) as store:
            for id, seed in (("old", 1), ("new", 2)):
                store.put(artifact(id, noise(200_000, seed)), "word")
                assert store.get(id)
                clock.advance(DAY)
            store.collect()
            assert code_of(store, "old") is Code.EXPIRED_ARTIFACT
            assert [row.id for row in store.list(5)] == ["new"]

    def test_collecting_drops_and_counts_expired_artifacts(self, store: Store, clock: Clock) -> None:
        for n in range(3):
            store.put(artifact(f"old{n}"), "x")
        clock.advance(TTL)
        store.put(artifact("new"), "x")
        clock.advance(1)
        assert store.collect() == 3
        assert store.collect() == 0
        assert [row.id for row in store.list(10)] == ["new"]
        assert {code_of(store, f"old{n}") for n in range(3)} == {Code.EXPIRED_ARTIFACT}

    def test_an_empty_store_returns_nothing(self, store: Store) -> None:
        assert store.list(10) == ()
        assert store.search(("x",), 10) == ()
        assert store.recent("https://example.org/", 0) is None
        assert store.collect() == 0

    # Known URLs.

    def test_url_keys_are_remembered_and_outlive_the_page(self, store: Store, clock: Clock) -> None:
        store.put(artifact(), "x", [b"with it"])
        store.remember([b"one", b"two"])
        store.remember(frozenset({b"two", b"three"}))
        store.remember([])
        store.remove(artifact().id)
        clock.advance(TTL + 1)
        store.collect()
        assert all(store.remembers(key) for key in (b"with it", b"one", b"two", b"three"))
        assert not any(store.remembers(key) for key in (b"four", b""))

    # Vectors of passages.

    def test_vectors_are_returned_by_key_and_outlive_pages(self, store: Store, clock: Clock) -> None:
        assert store.vectors([b"one"]) == {}
        store.keep_vectors({b"one": b"\x00\xff'", b"two": b""})
        store.keep_vectors({})
        store.keep_vectors({b"two": b"newer"})
        clock.advance(TTL + 1)
        store.collect()
        assert store.vectors([b"two", b"one", b"three", b"one"]) == {b"one": b"\x00\xff'", b"two": b"newer"}
        assert store.vectors([]) == {}

    def test_more_vectors_than_fit_one_statement_are_returned(self, store: Store) -> None:
        vectors = {number.to_bytes(16, "big"): number.to_bytes(4, "little") for number in range(2_001)}
        store.keep_vectors(vectors)
        assert store.vectors([*vectors, b"other"]) == vectors

    def test_only_the_newest_vectors_are_stored(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys.modules[type(store).__module__], "MAX_VECTORS", 3)
        for name in (b"a", b"b", b"c", b"a", b"d"):
            store.keep_vectors({name: name})
        assert set(store.vectors([b"a", b"b", b"c", b"d"])) == {b"a", b"c", b"d"}

    # Forgetting.

    def test_a_scope_is_compared_with_all_addresses_and_times(self, store: Store, clock: Clock) -> None:
        short = "https://short.example/x"
        store.put(artifact(id="a", url="https://one.example/a", requested_url=short, fetched_at=clock.now), "word")
        store.put(artifact(id="b", url="https://docs.two.example/b?q=1", fetched_at=clock.now), "word")
        store.put(artifact(id="c", url="output:log", requested_url="output:log", fetched_at=clock.now - DAY), "word")
        clock.advance(2 * TTL)  # expired artifacts count too
        for scope, ids in (
            (ALL, "abc"),
            (Scope(sites=("two.example",)), "b"),
            (Scope(urls=("https://SHORT.example/x#part",)), "a"),
            (Scope(urls=("https://one.example/a",), sites=("two.example",)), ""),
            (Scope(before=clock.now - 2 * TTL), "c"),
            (Scope(sites=("one.example", "two.example"), before=clock.now), "ab"),
        ):
            assert store.match(scope) == set(ids)

    def test_several_artifacts_are_removed_at_once(self, store: Store) -> None:
        for id in "abc":
            store.put(artifact(id=id), "word")
        assert store.remove("a", "b", "unknown") == {"a", "b"}
        assert [row.id for row in store.list(10)] == ["c"]
        assert store.remove() == frozenset()

    def test_what_began_before_the_mark_is_not_stored(self, store: Store, clock: Clock) -> None:
        assert store.last_mark() == NO_MARK
        store.add_mark(ForgetMark(clock.now, clock.now))
        store.add_mark(ForgetMark(0.0, clock.now + 1))
        assert store.last_mark() == ForgetMark(clock.now, clock.now + 1)
        with pytest.raises(KeyholeError) as raised:
            store.put(artifact(id="a", fetched_at=clock.now - 1), "word", [b"key"])
        assert raised.value.message == FORGOTTEN and not store.remembers(b"key")
        store.put(artifact(id="b", fetched_at=clock.now), "word")
        assert store.match(ALL) == {"b"}

    def test_the_traces_of_artifacts_are_removed(self, store: Store, clock: Clock) -> None:
        store.put(artifact(id="a", url="https://one.example/a", requested_url="https://one.example/a"), "word")
        store.remember([b"one", b"two"])
        store.keep_vectors({b"v": b"vector"})
        clock.advance(2 * TTL)
        store.collect()
        assert code_of(store, "a") is Code.EXPIRED_ARTIFACT
        traces = store.remove_traces(Scope(sites=("two.example",)))
        assert (traces.dropped, traces.known_urls) == (0, 2)
        assert not store.remembers(b"one") and store.vectors([b"v"]) == {}
        assert store.remove_traces(Scope(before=1.0)) == Traces(1, 0, 0)
        assert code_of(store, "a") is Code.UNKNOWN_ARTIFACT
        store.remember([b"three"])  # the totals are right
        assert store.remembers(b"three")
        store.erase()
        assert store.remembers(b"three")
