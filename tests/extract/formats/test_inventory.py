"""Sphinx inventories: each name with its address, as a list that a query can rank."""

from __future__ import annotations

import zlib

import pytest

from keyhole.errors import KeyholeError
from keyhole.extract import extract

HEAD = b"# Sphinx inventory version 2\n# Project: Works\n# Version: 1.0\n# The rest is compressed using zlib.\n"
LINES = (
    "works.open py:function 1 api/valves.html#$ -\n"
    "open valves std:label -1 guide.html#open Opening valves\n"
    "guide std:doc -1 guide.html The guide\n"
)
URL = "https://docs.example/en/1.0/objects.inv"


def read(body: bytes, content_type: str = "application/octet-stream") -> str:
    return extract(body, url=URL, content_type=content_type).text


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/plain; charset=utf-8", ""])
def test_an_inventory_is_a_list_of_links(content_type: str) -> None:
    assert read(HEAD + zlib.compress(LINES.encode()), content_type).splitlines() == [
        "# Works 1.0",
        "",
        "- [works.open](/en/1.0/api/valves.html#works.open) py:function",
        "- [Opening valves](/en/1.0/guide.html#open) (open valves) std:label",
        "- [The guide](/en/1.0/guide.html) (guide)",
    ]


def test_a_damaged_inventory_is_an_error() -> None:
    with pytest.raises(KeyholeError, match="damaged or empty"):
        read(HEAD + b"not zlib")


def test_a_cut_inventory_keeps_its_beginning() -> None:
    long = LINES * 1 + "".join(f"name{number} py:data 1 a.html#$ -\n" for number in range(5_000))
    assert "works.open" in read(HEAD + zlib.compress(long.encode())[:-200])


def test_an_llms_txt_is_markdown_whatever_the_server_calls_it() -> None:
    document = extract(
        b"# Works\n\n- [A](a.md): first\n", url="https://docs.example/llms.txt", content_type="text/plain"
    )
    assert document.media_type == "text/markdown"
    assert "[A](/a.md)" in document.text
