"""Merge the hits of several engines into one list, one entry per page, by reciprocal rank fusion. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import idna

from keyhole.records import Hit

# Canonical URLs: they recognize results that are the same page, and have no tracking parameters.

MAX_URL: Final = 4_000
"""Characters. Longer URLs encode application state rather than a page."""

_TRACKING: Final = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl",
    "fbclid", "igshid", "igsh", "msclkid", "yclid", "ymclid", "_openstat", "twclid", "ttclid", "li_fat_id",
    "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "vero_id",
    "oly_anon_id", "oly_enc_id", "wickedid", "ref_src", "ref_url", "cmpid", "ncid", "spm", "scm", "at_medium",
    "at_campaign", "at_custom1", "sc_campaign", "sc_channel", "guccounter", "guce_referrer", "guce_referrer_sig",
})  # fmt: skip
"""Parameters that track where a visitor came from, as advertising and mailing services document them."""
_TRACKING_PREFIXES: Final = ("utm_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_", "stm_", "itm_")

_AMP_CACHE = re.compile(r"/(?:amp|[cv])/(?:s/)?(?P<rest>[^/?#][^/?#.]*+\.[^/?#]+(?:/.*)?)", re.DOTALL)
"""A path in an AMP cache: `s/` if the original URL has https, then the original URL without its scheme."""
_AMP_HOSTS: Final = (".cdn.ampproject.org", ".google.com", ".bing-amp.com")
_AMP_PATH = re.compile(r"^/amp(?=/.)|(?:/amp|\.amp(?=\.html?$)|\.amp)(?=/*$|\.html?$)", re.IGNORECASE)
_AMP_FIELDS: Final = frozenset({("amp", ""), ("amp", "1"), ("amp", "true"), ("outputtype", "amp")})
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_HOST_PREFIX = re.compile(r"^(?:www\d?|amp|m|mobile)\.(?=[^.]+\.)")
"""Host prefixes that lead to the same page: www, mobile and AMP."""
_MOBILE_LABEL = re.compile(r"^([a-z-]{2,12})\.m\.(?=[^.]+\.[^.]+)")
"""A label of mobile sites after the language, as in en.m.wikipedia.org."""
_ROUTE_PREFIXES: Final = ("!", "/")
"""Prefixes of fragments that are routes in a single-page application rather than positions in a page."""


def page_key(url: str) -> str:
    """Return a key that is equal for URLs of the same page, or "" if `url` is not a web address.

    The key omits the scheme, `www.`, mobile and AMP variants, the default port, the default document, the fragment,
    tracking parameters and trailing slashes, and sorts the remaining parameters.
    """
    parts = _split(_unwrap_amp_cache(url))
    if parts is None:
        return ""
    host, port, path, query, fragment = parts
    host = _MOBILE_LABEL.sub(r"\1.", _HOST_PREFIX.sub("", host))
    path = _INDEX.sub("", _AMP_PATH.sub("", _normalize_escapes(path))).rstrip("/")
    fields = [pair for pair in _query_fields(query) if (pair[0].lower(), pair[1].lower()) not in _AMP_FIELDS]
    sorted_query = f"?{urlencode(sorted(fields), errors='backslashreplace')}" if fields else ""
    return f"{host}{port}{path}{sorted_query}" + (f"#{fragment}" if fragment.startswith(_ROUTE_PREFIXES) else "")


def clean_url(url: str) -> str:
    """Return the URL to fetch: the original of a URL in an AMP cache, without fragment and tracking parameters."""
    url = _unwrap_amp_cache(url).strip()
    base, _, fragment = url.partition("#")
    path, mark, query = base.partition("?")
    fields = "&".join(part for part in query.split("&") if not _is_tracking(unquote(part.partition("=")[0])))
    return path + (mark + fields if fields else "") + (f"#{fragment}" if fragment.startswith(_ROUTE_PREFIXES) else "")


def is_variant(url: str) -> bool:
    """Return True if a URL leads to the mobile or AMP variant of a page."""
    parts = _split(url)
    if parts is None:
        return False
    host, _, path, query, _ = parts
    host = host.removeprefix("www.")
    fields = {(name.lower(), value.lower()) for name, value in _query_fields(query)}
    return bool(
        _HOST_PREFIX.match(host)
        or _MOBILE_LABEL.match(host)
        or _AMP_PATH.search(path)
        or not fields.isdisjoint(_AMP_FIELDS)
    )


def _split(url: str) -> tuple[str, str, str, str, str] | None:
    """Return the ASCII host, the port as `:port` ("" for 80 and 443), path, query and fragment of a web address."""
    url = url.strip()
    if len(url) > MAX_URL:
        return None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        host = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:  # idna's errors are ValueErrors too
        return None
    # A URL with a user name is never fetched, and must not get the key of the URL without it.
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
        return None
    return host, port, parts.path, parts.query, parts.fragment


def _normalize_escapes(path: str) -> str:
    """Return a path in which only the necessary characters are percent-encoded."""
    return quote(unquote(path), safe="/:@!$&'()*+,;=~", errors="backslashreplace")


def _query_fields(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]


def _is_tracking(name: str) -> bool:
    name = name.lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _unwrap_amp_cache(url: str) -> str:
    """Return the original URL of a URL in an AMP cache, or `url` unchanged."""
    parts = _split(url)
    if parts is None:
        return url
    host = parts[0].removeprefix("www.")
    cached = _AMP_CACHE.fullmatch(parts[2]) if f".{host}".endswith(_AMP_HOSTS) else None
    return f"https://{cached['rest']}" + (f"?{parts[3]}" if parts[3] else "") if cached else url


# Fusion: hits of all engines and phrasings, one entry per page.

RANK_CONSTANT: Final = 60
"""Damps the first ranks, so that agreement of engines counts more than the first hit of one engine. Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, measured 60 as safe."""


def merge_hits(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Merge the hits of all engines and phrasings into one list, best first.

    Each page keeps its first title and date, its longest snippet, and its first URL that is not a mobile variant.
    """
    score: dict[str, float] = {}
    pages: dict[str, Hit] = {}
    for hits in lists:
        seen: set[str] = set()
        for hit in hits:
            key = page_key(hit.url)
            if not key or key in seen:
                continue
            seen.add(key)  # its size is the rank among distinct pages
            score[key] = score.get(key, 0.0) + 1 / (RANK_CONSTANT + len(seen))
            pages[key] = _merge_pair(pages[key], hit) if key in pages else replace(hit, url=clean_url(hit.url))
    # Sorting is stable: pages with equal scores stay in the order in which they first appeared.
    return tuple(pages[key] for key in sorted(score, key=lambda key: -score[key]))


def _merge_pair(first: Hit, other: Hit) -> Hit:
    url = clean_url(other.url) if is_variant(first.url) and not is_variant(other.url) else first.url
    return Hit(
        url,
        first.title or other.title,
        max(first.snippet, other.snippet, key=len),
        first.engine,
        first.date or other.date,
    )
