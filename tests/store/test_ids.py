"""Tests of artifact ids: equal for equal URL and text, and unguessable without the secret."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.store.ids import artifact_id

SECRET = b"s" * 32
URL = "https://example.org/"


def test_the_id_of_a_text_never_changes() -> None:
    assert artifact_id(SECRET, URL, "text") == "onumy6brzq2rbrvp"


def test_the_id_of_a_text_in_pieces_is_that_of_the_text() -> None:
    assert artifact_id(SECRET, URL, iter(["te", "", "xt"])) == artifact_id(SECRET, URL, "text")


@given(st.binary(min_size=1, max_size=40), st.text(), st.text())
def test_an_id_is_sixteen_characters_that_survive_copying(secret: bytes, url: str, text: str) -> None:
    id = artifact_id(secret, url, text)
    assert re.fullmatch(r"[a-z2-7]{16}", id)
    assert id == artifact_id(secret, url, text)


@pytest.mark.parametrize(
    "other",
    [
        artifact_id(b"t" * 32, URL, "text"),
        artifact_id(SECRET, URL + "x", "text"),
        artifact_id(SECRET, URL, "text "),
        artifact_id(SECRET, URL, ""),
        artifact_id(SECRET, "", URL + "text"),
        artifact_id(SECRET, URL + "te", "xt"),
        artifact_id(SECRET, URL + "text", ""),
    ],
)
def test_another_secret_url_or_text_gives_another_id(other: str) -> None:
    assert other != artifact_id(SECRET, URL, "text")


@given(st.text(min_size=1), st.data())
def test_the_boundary_between_url_and_text_changes_the_id(joined: str, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(joined) - 1))
    right = data.draw(st.integers(left + 1, len(joined)))
    assert artifact_id(SECRET, joined[:left], joined[left:]) != artifact_id(SECRET, joined[:right], joined[right:])


def test_lone_surrogates_have_distinct_ids() -> None:
    ids = {artifact_id(SECRET, URL, text) for text in ("\ud800", "\udfff", "\ufffd", "?", "")}
    assert len(ids) == 5
