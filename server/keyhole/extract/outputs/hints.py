"""Find the paths and URLs of an output, which a reader may need although their lines are left out. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Part

HINTED_KINDS: Final = frozenset({"log", "text", "test", "compiler", "trace", "opaque"})
"""Kinds whose paths are neither all that they are, as in listings, nor named as parts, as in diffs."""
MAX_HINTS: Final = 12
"""Paths, and URLs, at most."""
MAX_EXAMINED: Final = 500
"""Matches that are examined, at most: the rest of an output repeats them."""
MAX_HINT: Final = 120
"""Characters of a path or URL. A longer one is mostly data."""

_SLASH = lazy_pattern(r"/[\w.@+~%-]+(?:/[\w.@+~%-]+)*(?:[?#][\w.=&%/-]*)*")
"""What follows the first slash is searched for: most characters of an output are no slash, which `re` sees fastest."""
_SCHEMES: Final = ("https:/", "http:/")
"""What is before that slash in a URL."""
_BEFORE = lazy_pattern(r"[\w.@+~-]*\Z")
_PATH = lazy_pattern(r"(?:~|\.{0,2})/[^/]+/.+|[\w.@+~/-]*\w\.[a-z]\w{0,4}")
"""An absolute path, or a relative one of a file with a suffix: other words with a slash are not paths."""
_LETTERS = lazy_pattern("[A-Za-z]{2}")
_ENDS: Final = frozenset(" \t\n\"'`:;,)]>")
"""Characters after a path. Code such as `a/Math.pow(b)` goes on with others."""


def find_hints(text: str) -> tuple[Part, ...]:
    """Return the first paths and URLs of a text, each where it first occurs."""
    paths: dict[str, Part] = {}
    urls: dict[str, Part] = {}
    for part in _candidates(text):
        found = urls if "://" in part.entry else paths
        if len(found) < MAX_HINTS:
            found.setdefault(part.entry, part)
    return tuple(sorted([*paths.values(), *urls.values()]))


def _candidates(text: str) -> Iterator[Part]:
    for match in islice(_SLASH.finditer(text), MAX_EXAMINED):
        start, end = match.start(), match.start() + len(match[0].rstrip(".-"))
        is_url = text.endswith(_SCHEMES, 0, start)
        if is_url:
            start = text.rfind("http", 0, start)
        elif before := _BEFORE.search(text, max(0, start - MAX_HINT), start):
            start = before.start()
        if end - start <= MAX_HINT and (is_url or _is_path(text, start, end)):
            yield Part(start, end, "", text[start:end])


def _is_path(text: str, start: int, end: int) -> bool:
    is_alone = text[end : end + 1] in _ENDS and text[max(0, start - 1) : start] not in ("<", "/", ":")
    return is_alone and _PATH.fullmatch(text, start, end) is not None and _LETTERS.search(text, start, end) is not None
