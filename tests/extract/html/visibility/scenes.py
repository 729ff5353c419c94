"""Read the pages with the marker in fixtures/visibility, with Chromium's verdicts. Each line is a style and a body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parents[4] / "fixtures" / "visibility" / "scenes.jsonl"
_WORDS: Final = "".join(
    f"<li style=color:#777>The pump {number} runs at {number}7 rpm in the northern hall.</li>" for number in range(20)
)


def read_scenes(words: str = "") -> Iterator[tuple[str, str, bool]]:
    """Yield each page as its name, its HTML and whether the marker is visible. `words` follow the marker."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        scene = json.loads(line)
        head = f"<meta charset=utf-8><title>Pump</title><style>{scene['style']}</style>"
        body = f"<main><h1>The pump of the northern hall</h1>{scene['body']}{words}</main>"
        yield (
            f"scene: {scene['name']}",
            f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>",
            scene["visible"],
        )


SCENES = list(read_scenes())
LONG_SCENES = list(read_scenes(f"<ul>{_WORDS}</ul>"))
"""The same with enough text for a page of its own."""
