"""What is said when healthy engines find nothing: which words and filters may be too narrow. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from keyhole.records import EngineReport, SearchRequest
from keyhole.text.measure import clip
from keyhole.websearch.filters import in_force
from keyhole.websearch.outcome import every_fault

MOST: Final = 4
"""Words and filters named: more would be the question told back."""
MAX_NAMED: Final = 40
"""Bytes of each as it is named."""
LONG_WORD: Final = 14
"""Letters. Of English running text about one word in a hundred is as long; as a query's word it is a rare one or, in
German, Finnish or Turkish, a compound of which pages may hold only the parts."""
FAULT_ROOM: Final = 120
"""Bytes for the faults of engines beside the healthy ones; an error's message has 300."""

_QUOTED: Final = re.compile(r'"[^"]{1,300}"|“[^”]{1,300}”|„[^“”]{1,300}[“”]|«[^»]{1,300}»|「[^」]{1,300}」')
_OPERATOR: Final = re.compile(r"(?<!\S)(?:-?[a-z]{2,12}:\S+|[-+](?=[^\W\d_])\S+|AND|OR|NOT)(?!\S)")
_WORD: Final = re.compile(r"\S+")
_EDGES: Final = "\"'“”„«»「」()[]{}<>,;:.!?…"
_IDENTIFIER: Final = re.compile(r"\w[._/\\:@#-]+\w|_|[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]|\(\)$")
_NUMBER: Final = re.compile(r"[+-]?\d[\d.,:%-]*")


def too_narrow(request: SearchRequest) -> tuple[str, ...]:
    """What of a request may keep pages out, likeliest first: quoted phrases, operators, filters, rare-looking words."""
    quoted = [found[0] for found in _QUOTED.finditer(request.query)]
    rest = _QUOTED.sub(" ", request.query)
    operators = [found[0] for found in _OPERATOR.finditer(rest)]
    rest = _OPERATOR.sub(" ", rest)
    named = [*quoted, *operators, *_filters(request), *_rare(rest)]
    return tuple(dict.fromkeys(clip(name, MAX_NAMED) for name in named))[:MOST]


def nothing_found(request: SearchRequest, reports: Sequence[EngineReport], elsewhere: bool = False) -> str:
    """That the engines which answered found nothing, which did not answer, and what may be too narrow.

    `elsewhere`: they found pages, none of them on a site that may be fetched.
    """
    faults = every_fault(reports, FAULT_ROOM)
    well = sum(not report.fault for report in reports)
    who = f"{well} of {len(reports)} engines found" if faults else "the engines are well and found"
    where = " on the sites that may be fetched" if elsewhere else ""
    named = ", ".join(too_narrow(request))
    advice = f"; perhaps too narrow: {named}" if named else ""
    return f"{who} nothing{where}{advice}" + (f" ({faults})" if faults else "")


def _filters(request: SearchRequest) -> Iterator[str]:
    values = {
        "sites": ", ".join(request.sites),
        "exclude_sites": ", ".join(request.exclude_sites),
        "freshness": request.freshness,
        "language": request.language,
        "country": request.country,
        "news": "news",
    }
    for name in in_force(request):
        yield f"{'kind' if name == 'news' else name}={values[name]}"


def _rare(text: str) -> Iterator[str]:
    """Identifiers, then numbers, then long words, each in the order of the query."""
    words = [
        word for found in _WORD.finditer(text) if (word := found[0].strip(_EDGES) if "()" not in found[0] else found[0])
    ]
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    identifiers = [word for word in words if word not in numbers and _IDENTIFIER.search(word)]
    yield from identifiers
    yield from numbers
    yield from (word for word in words if len(word) >= LONG_WORD and word not in identifiers and _spaced(word))


def _spaced(word: str) -> bool:
    """Whether a word's script parts words by spaces: a run of Chinese, Japanese or Thai is a sentence, not a word."""
    return not any("\u0e00" <= letter <= "\u0eff" or "\u3040" <= letter <= "\u9fff" for letter in word)
