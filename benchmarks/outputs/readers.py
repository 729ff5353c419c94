"""Bound an output to a number of characters, in the ways that are compared."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import keyhole
from benchmarks.outputs.corpus import Output
from keyhole.passages import select

Reader = Callable[[Output, str | None, int], str]
"""Returns the bounded form of an output for a query, in at most this many characters."""

GAP = "\n…\n"
SEED_HEAD = SEED_TAIL = 1_200
"""Characters that the seed's rule shows of the beginning and of the end."""
SEED_HINTS = 12
"""Most paths, and most URLs, that the seed's rule lists."""
SEED_CHARS = 2_665
"""Characters of its whole result: it has no other budget."""

_URL = re.compile(r"https?://[^\s\"'<>)\]]+")
_PATH = re.compile(r"(?:[\w.@-]+)?(?:/[\w.@+-]+)+")
_WORD = re.compile(r"\w{2,}")


def head_tail(output: Output, _query: str | None, max_chars: int) -> str:
    """Return the beginning and the end, half each."""
    return _ends(output.text, (max_chars - len(GAP)) // 2, (max_chars - len(GAP)) // 2, max_chars)


def seed_rule(output: Output, _query: str | None, _max_chars: int) -> str:
    """Return 1,200 characters of each end with up to 12 paths and 12 URLs, whatever the limit is."""
    urls = list(dict.fromkeys(_URL.findall(output.text)))[:SEED_HINTS]
    paths = list(dict.fromkeys(_PATH.findall(_URL.sub(" ", output.text))))[:SEED_HINTS]
    ends = _ends(output.text, SEED_HEAD, SEED_TAIL, SEED_HEAD + SEED_TAIL + len(GAP))
    return "\n".join([ends, *paths, *urls])[:SEED_CHARS]


def _ends(text: str, head: int, tail: int, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[:head] + GAP + text[len(text) - tail :]


def query_lines(output: Output, query: str | None, max_chars: int) -> str:
    """Return the lines with most different words of the query, or of the command, in their order.

    A line that does not fit is cut, as grep in a terminal of that width would be read.
    """
    words = {word.lower() for word in _WORD.findall(query or output.command)}
    lines = output.text.splitlines()
    scores = {place: len(words & {word.lower() for word in _WORD.findall(line)}) for place, line in enumerate(lines)}
    shown: dict[int, str] = {}
    left = max_chars
    for place in sorted((place for place in scores if scores[place]), key=lambda place: (-scores[place], place)):
        if left <= 1:
            break
        shown[place] = lines[place][: left - 1]
        left -= len(shown[place]) + 1
    return "\n".join(shown[place] for place in sorted(shown))


def passages(output: Output, query: str | None, max_chars: int) -> str:
    """Return the passages that Keyhole shows of a page."""
    return select(output.text, query, max_chars, fill=True).text


def bounded(output: Output, query: str | None, max_chars: int) -> str:
    """Return what `keyhole.bound` returns."""
    return keyhole.bound(output.text, query=query, budget=max_chars, command=output.command).text


def rtk(output: Output, _query: str | None, _max_chars: int) -> str:
    """Return what `rtk pipe` prints. It has no budget and takes no query."""
    command = ["rtk", "pipe"]
    done = subprocess.run(command, input=output.text.encode(), capture_output=True, timeout=60, check=False)
    return done.stdout.decode(errors="replace")


READERS: dict[str, Reader] = {
    "head+tail": head_tail,
    "seed's rule": seed_rule,
    "query lines": query_lines,
    "passages": passages,
    "rtk": rtk,
    "bound": bounded,
}
UNBOUNDED = ("seed's rule", "rtk")
"""Readers whose result has one size, whatever the limit: they are measured once."""


def missing_readers() -> dict[str, str]:
    """Return the readers that cannot run here, and why."""
    return {} if shutil.which("rtk") else {"rtk": "`rtk` is not installed"}
