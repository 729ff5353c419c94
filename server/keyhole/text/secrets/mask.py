"""Mask the values in a text that look like secrets: command lines, titles, addresses, faults and lines of outputs.

Three files find them: shapes.py the keys of vendors and other texts of a certain shape, assignments.py the values of
names such as `API_TOKEN`, and commands.py the arguments of programs, as in `redis-cli -a`, by the table in programs.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from keyhole.text.secrets.programs import mentions_program
from keyhole.text.secrets.shapes import NAME_SIGNS, find_shapes

MASK: Final = "***"
"""What is shown in place of a secret, as in the logs of GitHub Actions."""


@lru_cache(maxsize=8)  # the title, the notes and the record of an output have the same command
def mask_secrets(text: str) -> str:
    """Return the text with a mask in place of each value that looks like a secret. Masking it again changes nothing."""
    before = None
    while text != before:  # with a mask in its place, a secret no longer hides the beginning of another one
        before, text = text, _mask_once(text)
    return text


def _mask_once(text: str) -> str:
    lowered = text.lower()
    spans = set(find_shapes(text, lowered))
    if any(sign in lowered for sign in NAME_SIGNS):
        from keyhole.text.secrets.assignments import find_values  # imported late, as below: a hook has no time for it

        spans.update(find_values(text))
    if mentions_program(text):
        from keyhole.text.secrets.commands import find_arguments

        spans.update(find_arguments(text))
    pieces, done = [], 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += [text[done:start], MASK]
        done = max(done, end)
    return "".join(pieces) + text[done:]
