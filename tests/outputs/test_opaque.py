"""What text without lines to read is."""

from __future__ import annotations

import base64
import gzip

import pytest

from keyhole.outputs.kinds import name_opaque
from keyhole.outputs.read import decode_output, terminal_text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
GZIP = gzip.compress(bytes(range(256)) * 20, mtime=0)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("!function(e){return e=>e+1}();" * 200, "minified script"),
        ("a{color:red}b{margin:0}" * 200, "minified style sheet"),
        (base64.b64encode(bytes(range(256)) * 20).decode(), "base64"),
        (base64.b64encode(PNG).decode(), "base64 of a PNG image"),
        ((bytes(range(256)) * 9).hex(), "hexadecimal"),
        ("<svg><path d='M0 0'/></svg>" * 200, "markup"),
        ("word " * 2_000, "text"),
        (terminal_text(decode_output(PNG)), "PNG image"),
        (base64.b64encode(GZIP * 9).decode(), "base64 of a gzip archive"),
        (terminal_text(decode_output(bytes(range(128, 256)) * 20)), "binary data"),
    ],
)
def test_the_beginning_tells_what_a_text_is(text: str, name: str) -> None:
    assert name_opaque(text).startswith(f"{name}; longest line ")


def test_the_longest_line_is_told() -> None:
    assert name_opaque("ab\n" + "word" * 300 + "\nd") == "base64; longest line 1,200 characters"
