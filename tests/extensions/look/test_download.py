"""A session or a call is saved as one file that needs no server."""

from __future__ import annotations

import pytest

from tests.store.calls import samples
from tests.support.look import empty_look, page_client


@pytest.mark.parametrize(("path", "name"), [("/sessions/s1", "session-s1"), ("/calls/c%221", "call-c-1")])
def test_the_file_is_saved_under_a_plain_name_and_loads_nothing(path: str, name: str) -> None:
    look = empty_look()
    look.calls.add(samples.call('c"1', "s1", query="zebra crossing"))
    answer = page_client(look).get(f"{path}/export")
    assert answer.headers["content-disposition"] == f'attachment; filename="keyhole-{name}.html"'
    assert "zebra crossing" in answer.text and "src=" not in answer.text and "<script" not in answer.text


@pytest.mark.parametrize("path", ["/sessions/none/export", "/calls/none/export"])
def test_an_unknown_session_or_call_is_not_found(path: str) -> None:
    assert page_client(empty_look()).get(path).status_code == 404


@pytest.mark.parametrize("path", ["/sessions/s1", "/calls/c1"])
def test_the_page_links_to_its_file(path: str) -> None:
    look = empty_look()
    look.calls.add(samples.call("c1", "s1"))
    client = page_client(look)
    assert f'href="{path}/export"' in client.get(path).text
    assert "/export" not in client.get(f"{path}/export").text
