"""Addresses name any id and any query, and omit what is empty."""

from __future__ import annotations

import pytest

from keyhole.extensions.look.page import ServedLinks
from tests.store.calls import samples
from tests.support.look import empty_look, page_client

ODD = 'a"<?#%&= \u05d0\ud800'


def test_addresses_are_below_the_base_and_omit_empty_fields() -> None:
    links = ServedLinks("/look")
    assert links.sessions() == "/look/"
    assert links.sessions(words="a b", site="") == "/look/?words=a+b"
    assert links.text("t1", 7, call="c1") == "/look/texts/t1?start=7&call=c1"
    assert [links.rendered("t1"), links.action("x"), links.asset("y")] == [
        "/look/texts/t1/rendered", "/look/actions/x", "/look/static/y"
    ]  # fmt: skip


def test_odd_characters_are_encoded() -> None:
    assert ServedLinks().session('a"?#%') == "/sessions/a%22%3F%23%25"
    assert ServedLinks().page("misses", words="\ud800&") == "/misses?words=%3F%26"


@pytest.mark.parametrize("path", ["/", "/?outcome=ok", "/sessions/{id}", "/calls/{id}"])
def test_pages_show_calls_whose_ids_and_queries_are_odd(path: str) -> None:
    look, id = empty_look(), ODD.rstrip("\ud800")
    text = samples.read_text(samples.page(1), (0, 9))
    look.store.put(samples.page(1), "words")
    look.calls.add(samples.call(id, id, query=ODD, target=ODD, client=ODD, texts=[text]))
    links = ServedLinks()
    address = {"/sessions/{id}": links.session(id), "/calls/{id}": links.call(id)}.get(path, path)
    assert page_client(look).get(address).status_code == 200
