"""Many engines' hits into one list: one entry per page, fused by rank. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from keyhole.records import Hit

RANK_CONSTANT = 60
"""Damps the first ranks so that agreement of engines counts more than one engine's favourite. Cormack, Clarke
and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, who measured 60 as safe."""

_TRACKING = frozenset({"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "igshid", "yclid", "ref_src"})


def merge(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Hits fused over engines, best first; the first title and the longest snippet of each page are kept."""
    score: dict[str, float] = {}
    first: dict[str, Hit] = {}
    snippet: dict[str, str] = {}
    for hits in lists:
        seen: set[str] = set()
        for hit in hits:
            key = canonical(hit.url)
            if not key or key in seen:
                continue
            seen.add(key)  # so that its size is the rank among distinct pages
            score[key] = score.get(key, 0.0) + 1 / (RANK_CONSTANT + len(seen))
            first.setdefault(key, hit)
            snippet[key] = max(snippet.get(key, ""), hit.snippet, key=len)
    # Sorting is stable, and `score` has the pages in the order in which they were first met.
    order = sorted(score, key=lambda key: -score[key])
    return tuple(Hit(first[k].url, first[k].title, snippet[k], first[k].engine) for k in order)


def canonical(url: str) -> str:
    """The form by which two URLs are the same page: no scheme, `www.`, fragment, tracking or trailing slash."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.")
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host:
        return ""
    fields = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name.lower() not in _TRACKING and not name.lower().startswith("utm_")
    ]
    query = f"?{urlencode(sorted(fields), errors='backslashreplace')}" if fields else ""
    return f"{host}{port}{parts.path.rstrip('/')}{query}"
