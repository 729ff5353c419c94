"""A result that is shortened says which images it lacks, and comes back with them."""

from __future__ import annotations

from typing import Any

import pytest

import keyhole
from tests.support.product import SECRET, retrieval

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 400}}
LINE = "\n[Keyhole shortened this result, without its 1 image or file."


@pytest.mark.parametrize("text", ["The disk is full.", "step done\n" * 3_000])
def test_a_shortened_result_names_the_images_that_it_lacks(text: str) -> None:
    content = [{"type": "text", "text": text}, IMAGE]
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Look at the screen."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": content}]},
    ]
    store: Any = retrieval().store
    done = keyhole.compact(items, 1_000, store=store, secret=SECRET)
    assert done.report.shortened == ((2, 0),)
    [part] = done.items[2]["content"][0]["content"]
    assert LINE in part["text"]
    assert keyhole.restore(done.items, store) == items
    [part] = keyhole.compact(items, 1_000).items[2]["content"][0]["content"]
    assert part["text"].endswith(LINE + " It is not stored.]")
