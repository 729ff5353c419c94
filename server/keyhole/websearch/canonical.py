"""When two results are one page, and by which address it is asked for. Pure; nothing is looked up or fetched."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import idna

MAX_URL: Final = 4_000
"""Characters. Longer addresses carry a state and no page."""

_TRACKING: Final = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl",
    "fbclid", "igshid", "igsh", "msclkid", "yclid", "ymclid", "_openstat", "twclid", "ttclid", "li_fat_id",
    "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "vero_id",
    "oly_anon_id", "oly_enc_id", "wickedid", "ref_src", "ref_url", "cmpid", "ncid", "spm", "scm", "at_medium",
    "at_campaign", "at_custom1", "sc_campaign", "sc_channel", "guccounter", "guce_referrer", "guce_referrer_sig",
})  # fmt: skip
"""Parameters that say how a reader came and not what is shown: those of advertisers' and mailers' documentation."""
_TRACKING_PREFIXES: Final = ("utm_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_", "stm_", "itm_")

_AMP_CACHE = re.compile(r"/(?:amp|[cv])/(?:s/)?(?P<rest>[^/?#]+\.[^/?#]+(?:/.*)?)", re.DOTALL)
"""The paths of AMP caches: the page's own address without its scheme follows; `s/` says https."""
_AMP_HOSTS: Final = (".cdn.ampproject.org", ".google.com", ".bing-amp.com")
_AMP_PATH = re.compile(r"^/amp(?=/.)|(?:/amp|\.amp(?=\.html?$)|\.amp)(?=/*$|\.html?$)", re.IGNORECASE)
_AMP_FIELDS: Final = frozenset({("amp", ""), ("amp", "1"), ("amp", "true"), ("outputtype", "amp")})
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_PLAIN_HOST = re.compile(r"^(?:www\d?|amp|m|mobile)\.(?=[^.]+\.)")
"""Names before a site's name that lead to the same page: the www one, those for phones and for AMP."""
_PHONE_LABEL = re.compile(r"^([a-z-]{2,12})\.m\.(?=[^.]+\.[^.]+)")
"""As in en.m.wikipedia.org."""
_ROUTE: Final = ("!", "/")
"""A fragment that begins so is an address within a page of scripts, and no place in a text."""


def page_key(url: str) -> str:
    """The key by which two URLs are the same page, or "" for what is no web address.

    Without scheme, `www.`, phone and AMP variants, default port, default document, fragment, tracking parameters and
    slash at the end; parameters in order of name.
    """
    parts = _parts(_out_of_cache(url))
    if parts is None:
        return ""
    host, port, path, query, fragment = parts
    host = _PHONE_LABEL.sub(r"\1.", _PLAIN_HOST.sub("", host))
    path = _INDEX.sub("", _AMP_PATH.sub("", _spelt(path))).rstrip("/")
    fields = [pair for pair in _fields(query) if (pair[0].lower(), pair[1].lower()) not in _AMP_FIELDS]
    asked = f"?{urlencode(sorted(fields), errors='backslashreplace')}" if fields else ""
    return f"{host}{port}{path}{asked}" + (f"#{fragment}" if fragment.startswith(_ROUTE) else "")


def address(url: str) -> str:
    """The URL as it is asked for: out of an AMP cache, without fragment and tracking parameters, else unchanged."""
    url = _out_of_cache(url).strip()
    bare, _, fragment = url.partition("#")
    path, mark, query = bare.partition("?")
    kept = "&".join(part for part in query.split("&") if not _is_tracking(unquote(part.partition("=")[0])))
    return path + (mark + kept if kept else "") + (f"#{fragment}" if fragment.startswith(_ROUTE) else "")


def is_variant(url: str) -> bool:
    """Whether a URL leads to a page's form for phones or to its AMP form."""
    parts = _parts(url)
    if parts is None:
        return False
    host, _, path, query, _ = parts
    host = host.removeprefix("www.")
    fields = {(name.lower(), value.lower()) for name, value in _fields(query)}
    return bool(
        _PLAIN_HOST.match(host)
        or _PHONE_LABEL.match(host)
        or _AMP_PATH.search(path)
        or not fields.isdisjoint(_AMP_FIELDS)
    )


def _parts(url: str) -> tuple[str, str, str, str, str] | None:
    """Host in ASCII, `:port` where it says something, path, query and fragment of a web address."""
    url = url.strip()
    if len(url) > MAX_URL:
        return None
    try:
        parts = urlsplit(url)
        host = _ascii((parts.hostname or "").rstrip("."))
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:  # idna's errors are of this kind
        return None
    # An address with a user name is never asked for, and must not stand for the same one without.
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
        return None
    return host, port, parts.path, parts.query, parts.fragment


def _spelt(path: str) -> str:
    """A path whose escapes are those that it needs, however it was written."""
    return quote(unquote(path), safe="/:@!$&'()*+,;=~", errors="backslashreplace")


def _ascii(host: str) -> str:
    return host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")


def _fields(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]


def _is_tracking(name: str) -> bool:
    name = name.lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _out_of_cache(url: str) -> str:
    """The page's own URL where an AMP cache's was given."""
    parts = _parts(url)
    if parts is None:
        return url
    host = parts[0].removeprefix("www.")
    found = _AMP_CACHE.fullmatch(parts[2]) if f".{host}".endswith(_AMP_HOSTS) else None
    return f"https://{found['rest']}" + (f"?{parts[3]}" if parts[3] else "") if found else url
