"""Filter an engine's hits by sites and freshness, and describe a search that found nothing. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from keyhole.records import EngineReport, Hit, SearchRequest
from keyhole.text.measure import clip
from keyhole.text.sites import AGES, is_allowed_by_sites
from keyhole.websearch.breaker import describe_faults
from keyhole.websearch.hits import date_range

HITS_PER_RESULT: Final = 4
"""Hits used of one answer, per requested result: half of them may be copies, and twice the requested results are read.
With more, one engine's less relevant hits could outweigh those on which the engines agree."""


def active_filters(request: SearchRequest) -> tuple[str, ...]:
    """Return the names of the filters that a request sets, in the order in which reports list them."""
    values = {
        "sites": request.sites,
        "exclude_sites": request.exclude_sites,
        "freshness": request.freshness,
        "language": request.language,
        "country": request.country,
        "news": request.kind == "news",
    }
    return tuple(name for name, value in values.items() if value)


def adapt_request(request: SearchRequest, supported: frozenset[str]) -> SearchRequest:
    """Return the request for an engine. A request for news becomes one for web pages if the engine has no news."""
    return request if request.kind == "web" or "news" in supported else replace(request, kind="web")


def filter_hits(hits: Sequence[Hit], request: SearchRequest, supported: frozenset[str], now: float) -> tuple[Hit, ...]:
    """Return the hits that pass the filters, at most `HITS_PER_RESULT` per requested result.

    Sites are always checked, since engines treat them as hints. Freshness is checked only if the engine does not apply
    it, because an engine knows more about a page's age than one date. `now`: seconds since the epoch.
    """
    passed = [hit for hit in hits if is_allowed_by_sites(hit.url, request)]
    if request.freshness and "freshness" not in supported:
        passed = [hit for hit in passed if not _is_too_old(hit, request.freshness, now)]
    return tuple(passed[: request.max_results * HITS_PER_RESULT])


def unapplied_filters(hits: Sequence[Hit], request: SearchRequest, supported: frozenset[str]) -> tuple[str, ...]:
    """Return the active filters that neither the engine nor `filter_hits` applied to these hits.

    Hits without a date pass every freshness, so freshness counts as applied here only if every hit has a date.
    """
    applied = {"sites", "exclude_sites", *supported}
    if "locale" in supported and request.language:
        applied.add("country")
    if all(date_range(hit.date) for hit in hits):
        applied.add("freshness")
    return tuple(name for name in active_filters(request) if name not in applied) if hits else ()


def _is_too_old(hit: Hit, freshness: str, now: float) -> bool:
    """Return True if the hit's date ended before the period that `freshness` allows."""
    dates = date_range(hit.date)
    return dates is not None and dates[1] < now - AGES[freshness]


# A search without results: which words and filters may be too narrow, and which engines failed.

MAX_TERMS: Final = 4
"""Maximum of words and filters in the list. More would repeat the whole question."""
MAX_TERM: Final = 40
"""Bytes of each word or filter in the list."""
LONG_WORD: Final = 14
"""Letters. About one word in a hundred of English text is this long. Such a word is rare or, in German, Finnish or
Turkish, a compound. Pages may contain only its parts."""
MAX_FAULTS: Final = 120
"""Bytes of the list of engines that failed. An error message may have 300."""

_QUOTED: Final = re.compile(r'"[^"]{1,300}"|“[^”]{1,300}”|„[^“”]{1,300}[“”]|«[^»]{1,300}»|「[^」]{1,300}」')
_OPERATOR: Final = re.compile(r"(?<!\S)(?:-?[a-z]{2,12}:\S+|[-+](?=[^\W\d_])\S+|AND|OR|NOT)(?!\S)")
_EDGES: Final = "\"'“”„«»「」()[]{}<>,;:.!?…"
_IDENTIFIER: Final = re.compile(r"\w[._/\\:@#-]+\w|_|[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]|\(\)$")
_NUMBER: Final = re.compile(r"[+-]?\d[\d.,:%-]*")


def find_narrow_terms(request: SearchRequest) -> tuple[str, ...]:
    """Return the parts of a request that may be too narrow: quoted phrases, operators, filters, rare-looking words."""
    quoted = [match[0] for match in _QUOTED.finditer(request.query)]
    rest = _QUOTED.sub(" ", request.query)
    operators = [match[0] for match in _OPERATOR.finditer(rest)]
    rest = _OPERATOR.sub(" ", rest)
    terms = [*quoted, *operators, *_filter_terms(request), *_rare_words(rest)]
    return tuple(dict.fromkeys(clip(term, MAX_TERM) for term in terms))[:MAX_TERMS]


def describe_no_results(request: SearchRequest, reports: Sequence[EngineReport], has_disallowed: bool = False) -> str:
    """Return the message of a search without results: how many engines answered, which failed, and the narrow terms.

    `has_disallowed`: True if the engines found pages, but only on sites that may not be fetched.
    """
    faults = describe_faults(reports, MAX_FAULTS)
    healthy = sum(not report.fault for report in reports)
    subject = f"{healthy} of {len(reports)} engines found" if faults else "the engines answered and found"
    where = " on the sites that may be fetched" if has_disallowed else ""
    terms = ", ".join(find_narrow_terms(request))
    advice = f"; perhaps too narrow: {terms}" if terms else ""
    return f"{subject} nothing{where}{advice}" + (f" ({faults})" if faults else "")


def _filter_terms(request: SearchRequest) -> Iterator[str]:
    values = {
        "sites": ", ".join(request.sites),
        "exclude_sites": ", ".join(request.exclude_sites),
        "freshness": request.freshness,
        "language": request.language,
        "country": request.country,
        "news": "news",
    }
    for name in active_filters(request):
        yield f"{'kind' if name == 'news' else name}={values[name]}"


def _rare_words(text: str) -> Iterator[str]:
    """Yield the identifiers, then the numbers, then the long words of a query, each in its order."""
    words = [word for raw in text.split() if (word := raw if "()" in raw else raw.strip(_EDGES))]
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    identifiers = [word for word in words if word not in numbers and _IDENTIFIER.search(word)]
    yield from identifiers
    yield from numbers
    yield from (
        word for word in words if len(word) >= LONG_WORD and word not in identifiers and _has_word_spacing(word)
    )


def _has_word_spacing(word: str) -> bool:
    """Return False for Chinese, Japanese and Thai, in which a run of letters may be a sentence."""
    return not any("\u0e00" <= letter <= "\u0eff" or "\u3040" <= letter <= "\u9fff" for letter in word)
