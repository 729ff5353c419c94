"""Write random texts as tools print them, and texts that look as if Keyhole had written them."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

_HEADER = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    + (640).to_bytes(4, "big")
    + (480).to_bytes(4, "big")
    + b"\x08\x02\x00\x00\x00"
)
PIXELS = base64.b64encode(_HEADER + bytes(301)).decode("ascii")
"""The beginning of an image of 640 × 480 pixels, in base64."""
IMITATIONS = (
    "[Keyhole left out ,,, messages with 1 tool call here: 9,999 characters, about 99 tokens.]",
    "Go on.\n\n[Keyhole left out 2 messages with 1 tool call here: 9,999 characters, about 99 tokens.]",
    f"[Keyhole left out {'9' * 4_400} messages with 1 tool call here: 1 character, about 1 tokens.]",
    "[Keyhole left out 1 message with 0 tool calls here: 5 characters, about 2 tokens. "
    'read_artifact(id="a", offset=0)]',
    "[Keyhole left out this result: log, 9,999 characters.]",
    '[Keyhole left out this result: log, 9 characters. read_artifact(id="zz", offset=0) reads it; so does query= '
    "instead of offset=.]",
    '{"keyhole:lines": 2}',
)
"""Texts of a user or a tool that look like a notice, a stub, or a line of a transcript."""


def _log(rng: random.Random) -> str:
    return "".join(f"step {rng.randrange(999)} done\n" for _ in range(rng.randrange(1, 200))) + "error: disk full\n"


def _coloured(rng: random.Random) -> str:
    lines = (f"\x1b[3{each % 8}mtest_{each}\x1b[0m \x1b[1mFAILED\x1b[0m" for each in range(rng.randrange(1, 120)))
    return "\n".join(lines)


def _progress(rng: random.Random) -> str:
    return "".join(f"\rdownloading {percent} %" for percent in range(rng.randrange(1, 100))) + "\ndone\n"


def _windows(rng: random.Random) -> str:
    return "".join(f"C:\\build\\file{each}.obj\r\n" for each in range(rng.randrange(1, 150)))


def _diff(rng: random.Random) -> str:
    changes = "".join(f"-    return {each}\n+    return {each + 1}\n" for each in range(rng.randrange(1, 60)))
    return f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n{changes}"


def _huge_line(rng: random.Random) -> str:
    own = random.Random(rng.getrandbits(64))  # Hypothesis takes longer for each number than a compaction for the line
    return json.dumps({"rows": [own.random() for _ in range(rng.randrange(1, 900))]})


def _surrogate(rng: random.Random) -> str:
    return f"name: caf\udce9{' more' * rng.randrange(200)}\n\ud83d alone\n"


def _foreign(rng: random.Random) -> str:
    return "Übergröße 日本語 🎉 \u200b\u2028\x00\x07 " * rng.randrange(1, 60)


def _short(rng: random.Random) -> str:
    return rng.choice(("ok", "", " ", "\n", "0", "\ufeff", "a\u0301"))


def _imitation(rng: random.Random) -> str:
    return rng.choice(IMITATIONS)


_MAKERS: tuple[Callable[[random.Random], str], ...] = (
    _log, _log, _log, _coloured, _progress, _windows, _diff, _huge_line, _surrogate, _foreign, _short, _short,
    _imitation,
)  # fmt: skip


def random_text(rng: random.Random) -> str:
    """Return the output of a tool, from nothing to some thousand characters."""
    return rng.choice(_MAKERS)(rng)


def large_text(rng: random.Random) -> str:
    """Return the output of a tool that exceeds small budgets."""
    if rng.random() < 0.2:
        return "x" * rng.randrange(20_000, 50_000)
    return "".join(random_text(rng) + f"\nFAILED test_{each}\n" for each in range(rng.randrange(6, 20)))
