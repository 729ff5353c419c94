"""Artifacts made from pages, their link to the previous artifact, and validators for conditional requests."""

from __future__ import annotations

from dataclasses import replace

from keyhole import __version__
from keyhole.fetch.base import Validators
from keyhole.records import Document, Metadata
from keyhole.retrieval.artifact import link_to_previous, make_artifact, validators
from tests.support.fakes import artifact, page

OLD = artifact("old", "a\nb\n")
NEW = artifact("new", "a\nc\nb\n")


def test_a_first_artifact_replaces_nothing() -> None:
    assert link_to_previous(NEW, None) == NEW


def test_a_changed_text_names_the_artifact_it_replaces_and_the_new_ranges() -> None:
    noted = link_to_previous(replace(NEW, notes=(("other", "1"),)), OLD)
    assert noted == replace(NEW, replaces="old", notes=(("other", "1"), ("changed", "1 2:3")))


def test_an_unchanged_text_keeps_its_link() -> None:
    assert link_to_previous(NEW, link_to_previous(NEW, OLD)) == link_to_previous(NEW, OLD)
    assert link_to_previous(OLD, OLD) == OLD


def test_a_text_that_returns_replaces_the_one_between() -> None:
    between = link_to_previous(NEW, OLD)
    assert link_to_previous(OLD, between).replaces == "new"
    assert link_to_previous(OLD, between).note("changed") == "0"


def test_a_truncated_previous_text_is_not_compared() -> None:
    assert link_to_previous(NEW, replace(OLD, cut=True)) == NEW


def test_texts_of_different_formats_or_versions_of_keyhole_are_not_compared() -> None:
    assert link_to_previous(NEW, replace(OLD, media_type="text/markdown")) == NEW
    assert link_to_previous(NEW, replace(OLD, notes=(("reader", "0.0.9"),))) == NEW


def test_an_artifact_is_revalidated_only_if_it_is_whole_of_this_version_and_has_a_validator() -> None:
    whole = replace(artifact(), etag='"1"', notes=(("reader", __version__),))
    assert validators(whole) == Validators(whole.url, '"1"')
    assert validators(replace(whole, cut=True)) is None
    assert validators(replace(whole, notes=(("reader", "0.0.9"),))) is None
    assert validators(replace(whole, etag="no etag")) is None
    assert validators(None) is None


def test_an_artifact_has_the_page_s_metadata_and_only_safe_validators() -> None:
    about = Metadata(author="A", published="2024", modified="2025", site="S")
    served = replace(page("https://a.example/x", ""), etag='"1"\r\nX: y', last_modified="Sun, 06 Nov 1994 08:49:37 GMT")
    made = make_artifact(served, Document("T", "text\n", "text/html", metadata=about), "id")
    assert (made.author, made.published, made.modified, made.site) == ("A", "2024", "2025", "S")
    assert (made.etag, made.last_modified_header) == ("", "Sun, 06 Nov 1994 08:49:37 GMT")


def test_an_artifact_knows_where_its_main_part_ends_and_what_its_rest_holds() -> None:
    text = "Pumps.\n\n# [rest: footer]\n\nImprint\n"
    made = make_artifact(page("https://a.example/x", ""), Document("T", text, "text/html", main_end=7), "id")
    assert (made.main, made.main_end) == ("Pumps.\n", 7)
    assert made.note("rest") == "footer"
    whole = make_artifact(page("https://a.example/x", ""), Document("T", text, "text/html", main_end=0), "id")
    assert (whole.main, whole.note("rest")) == (text, "")


def test_only_main_parts_are_compared() -> None:
    old, new = (replace(each, text=f"{each.text}{each.id}", main_end=len(each.text)) for each in (OLD, NEW))
    assert link_to_previous(new, old).note("changed") == "1 2:3"
