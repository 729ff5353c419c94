"""Forms delete and pin; nothing else changes anything."""

from __future__ import annotations

import pytest

from keyhole.extensions.look.app import ACTIONS, MAX_FORM_BYTES, own_path, parse_form, with_done
from keyhole.extensions.look.page import Look
from keyhole.store.calls.base import ReadText, find_session
from tests.store.calls import samples
from tests.support.look import empty_look, page_client, words_of


def look_with_a_call() -> Look:
    look = empty_look(samples.START + 60)
    look.calls.add(samples.call("c1", "s1"))
    look.calls.add(samples.call("c2", "s1"))
    look.store.put(samples.page(1), "words")
    return look


def test_a_session_is_deleted_with_its_calls() -> None:
    look = look_with_a_call()
    answer = page_client(look).post("/actions/delete-session", data={"id": "s1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?done=delete-session")
    assert find_session(look.calls, "s1") is None and look.calls.get("c1") is None


def test_one_call_is_deleted() -> None:
    look = look_with_a_call()
    page_client(look).post("/actions/delete-call", data={"id": "c1", "next": "/sessions/s1"})
    assert look.calls.get("c1") is None and look.calls.get("c2") is not None


def test_a_text_is_pinned_unpinned_and_deleted() -> None:
    look = look_with_a_call()
    client, id = page_client(look), samples.page_id(1)
    client.post("/actions/pin-text", data={"id": id})
    assert look.store.list(1)[0].pinned
    client.post("/actions/unpin-text", data={"id": id})
    assert not look.store.list(1)[0].pinned
    answer = client.post("/actions/delete-text", data={"id": id, "next": "/texts?words=a"})
    assert (answer.headers["location"], look.store.list(1)) == ("/texts?words=a&done=delete-text", ())


def test_the_texts_of_a_session_are_pinned() -> None:
    look = look_with_a_call()
    look.store.put(samples.page(2), "words")
    text = samples.read_text(samples.page(1), (0, 9))
    look.calls.add(samples.call("c3", "s1", texts=[text, ReadText("", "https://h.example/", state="timed out")]))
    assert page_client(look).post("/actions/pin-session", data={"id": "s1"}).status_code == 303
    assert [each.id for each in look.store.list(9) if each.pinned] == [samples.page_id(1)]


def test_a_session_without_stored_texts_has_none_to_pin() -> None:
    assert page_client(look_with_a_call()).post("/actions/pin-session", data={"id": "s1"}).status_code == 404


@pytest.mark.parametrize("name", ACTIONS)
def test_the_page_after_an_action_says_what_was_done(name: str) -> None:
    html = page_client(empty_look()).get(f"/?done={name}").text
    assert 'role="status">The ' in html


@pytest.mark.parametrize("name", ["", "explode", "<b>"])
def test_a_page_says_nothing_of_other_actions(name: str) -> None:
    assert 'id="done"' not in page_client(empty_look()).get("/", params={"done": name}).text


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/", "/?done=x"),
        ("/texts?words=%C3%A4+b&done=y", "/texts?words=%C3%A4+b&done=x"),
        ("/calls/1#text", "/calls/1?done=x#text"),
    ],
)
def test_the_address_after_an_action_names_it_once(path: str, address: str) -> None:
    assert with_done(path, "x") == address


@pytest.mark.parametrize("name", [*ACTIONS, "explode"])
def test_get_changes_nothing(name: str) -> None:
    look = look_with_a_call()
    assert page_client(look).get(f"/actions/{name}?id=s1").status_code == 405
    assert find_session(look.calls, "s1") is not None


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/actions/explode", {"id": "s1"}, 400),
        ("/actions/delete-session", {}, 400),
        ("/actions/delete-session", {"id": "s2"}, 404),
        ("/actions/delete-session", {"id": "s1", "x": "x" * MAX_FORM_BYTES}, 400),
        ("/actions/pin-text", {"id": "no-such-id"}, 404),
    ],
)
def test_a_form_that_names_nothing_is_refused_with_a_page(path: str, form: dict[str, str], status: int) -> None:
    look = look_with_a_call()
    answer = page_client(look).post(path, data=form)
    assert answer.status_code == status and "This page cannot be shown" in words_of(answer.text)
    assert find_session(look.calls, "s1") is not None


@pytest.mark.parametrize("body", [None, b"\xff\xfe", b"&".join([b"a=b"] * 9)])
def test_a_body_that_is_no_form_has_no_fields(body: bytes | None) -> None:
    assert parse_form(body) == {}


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/texts?x=1", "/texts?x=1"),
        ("//evil.example", ""),
        ("/\\evil.example", ""),
        ("/\t/evil.example", ""),
        ("https://evil.example/", ""),
        ("javascript:alert(1)", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_form_leads_only_to_pages_of_this_server(address: str, path: str) -> None:
    assert own_path(address) == path
