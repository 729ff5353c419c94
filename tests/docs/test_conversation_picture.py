"""The picture of a conversation shows what `keyhole.compact` returns now."""

from __future__ import annotations

import sys

from tests.support.documentation import DOCS

sys.path.append(str(DOCS / "make"))

import conversation_picture


def test_the_picture_of_a_conversation_is_current() -> None:
    drawn = conversation_picture.draw()
    assert conversation_picture.PICTURE.read_text("utf-8") == drawn, "run: python docs/make/conversation_picture.py"
