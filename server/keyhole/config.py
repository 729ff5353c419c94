"""Every limit and choice: its unit, default and reason; read once from a mapping. Nothing is read elsewhere."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keyhole.errors import Code, KeyholeError
from keyhole.scorer_settings import SCORER_SETTINGS
from keyhole.setting import PREFIX as PREFIX
from keyhole.setting import Setting as Setting
from keyhole.setting import between as _between
from keyhole.values import header_text, http_url, key, known_urls, one_of

MIN_BUDGET = 500
"""Bytes. Below it header, continuation and markers leave no room for text."""
MAX_BUDGET = 200_000
"""Bytes. Above the largest cap of any known client (150,000 characters), so more could never arrive."""

KEYED = ("brave", "exa", "tavily", "serper", "mojeek")
ENGINES = ("searxng", *KEYED, "keyless", "wikipedia")
"""The web search engines there are, the preferred first: the operator's own, those paid for, those free to all."""

WEB_PORTS = frozenset(
    {80, 443, 8008, 8080}  # http, https and http-alt in IANA's registry of ports
    | {8000, 8081, 8443, 8888, 81, 3000, 4443, 5000, 9443}  # where servers and frameworks put public sites
    | {2052, 2053, 2082, 2083, 2086, 2087, 2095, 2096, 8880}  # the others that Cloudflare serves sites on
)
"""Ports that may be connected to by default. A list of what is open, because a list of what is dangerous never ends:
the bad ports of WHATWG's Fetch standard leave out Redis, Docker and etcd. None of those bad ports is here."""

HOME_PAGE = "https://pypi.org/project/keyhole-mcp/"
"""Where a site's owner can read who asks: the package's page, until the project has a page of its own."""

_DOMAIN = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_ENDPOINT = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Build it with `load`, or directly in tests."""

    home: Path | None = None
    max_chars: int = 9_000
    timeout: float = 30.0
    search_timeout: float = 40.0
    max_bytes: int = 10_000_000
    max_decoded_bytes: int = 20_000_000
    max_redirects: int = 10
    extract_timeout: float = 15.0
    extract_memory: int = 500_000_000
    freshness: float = 900.0
    allow_private: frozenset[str] = frozenset()
    ports: frozenset[int] = WEB_PORTS
    proxy: str = ""
    allow_domains: frozenset[str] = frozenset()
    deny_domains: frozenset[str] = frozenset()
    robots: str = "on"
    url_policy: str = "any"
    known_urls: frozenset[str] = frozenset()
    user_agent: str = ""
    fetches: int = 10
    engines: tuple[str, ...] = ()
    engines_file: Path | None = None
    engine_count: int = 3
    engine_timeout: float = 10.0
    searxng_url: tuple[str, ...] = ()
    mediawiki_url: str = ""
    brave_key: str = field(default="", repr=False)
    exa_key: str = field(default="", repr=False)
    tavily_key: str = field(default="", repr=False)
    serper_key: str = field(default="", repr=False)
    mojeek_key: str = field(default="", repr=False)
    rerank_url: str = ""
    rerank_model: str = ""
    rerank_key: str = field(default="", repr=False)
    rerank_max_docs: int = 20
    rerank_max_chars_per_doc: int = 500
    rerank_threshold: float | None = None
    rerank_timeout: float = 10.0
    embed_url: str = ""
    embed_model: str = ""
    embed_key: str = field(default="", repr=False)
    embed_max_docs: int = 100
    embed_batch: int = 300
    embed_query_prefix: str = ""
    embed_text_prefix: str = ""
    embed_timeout: float = 10.0
    ttl_days: float = 30.0
    store_max_bytes: int = 2 * 1024**3
    log_level: str = "WARNING"


def _names(raw: str) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in raw.split(",") if name.strip())


def _endpoints(raw: str) -> frozenset[str]:
    """`host:port` pairs; a port must be named, so that one allowed service does not open a whole host."""
    found = set()
    for name in _names(raw):
        endpoint = _ENDPOINT.fullmatch(name)
        if endpoint is None or not 0 < int(endpoint[3]) < 65_536:
            raise ValueError(f"{name!r} is not host:port")
        # As urls.py writes addresses: ::1, however long it was spelt. A malformed one raises ValueError too.
        host = str(ipaddress.IPv6Address(endpoint[1])) if endpoint[1] else endpoint[2]
        found.add(f"{host}:{int(endpoint[3])}")
    return frozenset(found)


def _ports(raw: str) -> frozenset[int]:
    """Ports and ranges of ports, such as 80,443,8000-8999."""
    found: set[int] = set()
    for name in _names(raw):
        span = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", name)
        first, last = (int(span[1]), int(span[2] or span[1])) if span else (0, 0)
        if not 0 < first <= last < 65_536:
            raise ValueError(f"{name!r} is neither a port nor a range such as 8000-8999")
        found.update(range(first, last + 1))
    return frozenset(found)


def _proxy(raw: str) -> str:
    proxy = re.fullmatch(r"http://([^/@,]+)/?", raw.lower())
    if proxy is None:
        raise ValueError("must be http://host:port, without a user name")
    _endpoints(proxy[1])
    return f"http://{proxy[1]}"


def _domains(raw: str) -> frozenset[str]:
    """Hosts and `*.` patterns in ASCII, as urls.py writes hosts."""
    found = set()
    for name in _names(raw):
        try:
            found.add(_domain(name))
        except ValueError as error:
            raise ValueError(f"{name!r} is neither a host, such as example.com, nor *.example.com") from error
    return frozenset(found)


def _domain(name: str) -> str:
    if name.startswith("["):
        return str(ipaddress.IPv6Address(name[1:-1]))
    star, bare = ("*.", name[2:]) if name.startswith("*.") else ("", name)
    if not bare.isascii():
        import idna

        bare = idna.encode(bare, uts46=True).decode("ascii")
    domain = star + bare.removesuffix(".")
    if ".." in domain or not _DOMAIN.fullmatch(domain):
        raise ValueError
    return domain


def _http_urls(raw: str) -> tuple[str, ...]:
    """URLs; a comma within one is its own."""
    found = tuple(re.split(r"[\s,]+(?=https?://)", raw.strip().rstrip(","), flags=re.IGNORECASE))
    for url in found:
        if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", url, re.IGNORECASE):
            raise ValueError(f"{url!r} is not an absolute http:// or https:// URL")
    return found


def _level(raw: str) -> str:
    if raw.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise ValueError("must be DEBUG, INFO, WARNING or ERROR")
    return raw.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("home", "path", "where artifacts are kept; by default the platform's user data folder", Path),
    Setting(
        "max_chars",
        "bytes of the result",
        "default budget of a result; 9,000 survives clients that cut at 10,000 bytes",
        _between(MIN_BUDGET, MAX_BUDGET, int),
    ),
    Setting(
        "timeout",
        "seconds",
        "deadline of a whole web_fetch or read_artifact; below the 60 s of common clients",
        _between(0.1, 600, float),
    ),
    Setting(
        "search_timeout",
        "seconds",
        "deadline of a whole search; below the 60 s of common clients",
        _between(0.1, 600, float),
    ),
    Setting(
        "max_bytes",
        "bytes",
        "most that is read of one response as it comes over the wire",
        _between(1_000, 1_000_000_000, int),
    ),
    Setting(
        "max_decoded_bytes",
        "bytes",
        "most that one response may decompress to",
        _between(1_000, 2_000_000_000, int),
    ),
    Setting("max_redirects", "hops", "redirects followed; each is checked anew", _between(0, 20, int)),
    Setting(
        "extract_timeout",
        "seconds",
        "longest that reading one page may take; then its undigested text is shown",
        _between(0.1, 600, float),
    ),
    Setting(
        "extract_memory",
        "bytes",
        "most memory that reading one page may take",
        _between(50_000_000, 2**40, int),
    ),
    Setting(
        "freshness",
        "seconds",
        "a page fetched this recently is answered from the store; refresh=true overrides",
        _between(0, 86_400 * 365, float),
    ),
    Setting("allow_private", "host:port,…", "private endpoints that may be fetched; none by default", _endpoints),
    Setting("ports", "ports", "ports that may be connected to, single or as 8000-8999", _ports),
    Setting("proxy", "http://host:port", "proxy for CONNECT to checked addresses; others are not used", _proxy),
    Setting(
        "allow_domains",
        "domains",
        "only these hosts are fetched: `example.com` is that host, `*.example.com` all under it; empty is all hosts",
        _domains,
    ),
    Setting("deny_domains", "domains", "these hosts are never fetched; wins over the hosts allowed", _domains),
    Setting(
        "robots",
        "on or off",
        "whether robots.txt is honoured; private endpoints that are allowed are not asked for it",
        one_of("on", "off"),
    ),
    Setting(
        "url_policy",
        "any or known",
        "`known`: only URLs that a search result, a fetched page or the next setting contained are fetched",
        one_of("any", "known"),
    ),
    Setting(
        "known_urls",
        "URLs",
        "URLs that may always be fetched under `known`; `https://example.com/docs/*` is all that begins so",
        known_urls,
    ),
    Setting("user_agent", "text", "what sites see; by default Keyhole, its version and its home page", header_text),
    Setting("fetches", "pages", "how many pages one search reads at once", _between(1, 50, int)),
    Setting(
        "engines",
        "names",
        "web search engines that may be asked, most preferred first, of those in the next setting's file and "
        f"{', '.join(ENGINES)}; by default those that are set up, or keyless and wikipedia where none is",
        _names,
    ),
    Setting(
        "engines_file", "path", "TOML file that describes search engines of your own; see docs/engines-file.md", Path
    ),
    Setting(
        "engine_count",
        "engines",
        "how many are asked at once; the others step in for one that fails",
        _between(1, 20, int),
    ),
    Setting(
        "engine_timeout",
        "seconds",
        "longest that one engine is waited for, in half of a search's time",
        _between(0.1, 60, float),
    ),
    Setting(
        "searxng_url",
        "URLs",
        "base addresses of SearXNG instances with their JSON format enabled; the next is asked where one fails",
        _http_urls,
    ),
    Setting("mediawiki_url", "URL", "api.php of the wiki that `wikipedia` asks; by default Wikipedia's", http_url),
    *(Setting(f"{name}_key", "key", f"key of the engine {name}; unset: not asked", key, True) for name in KEYED),
    *SCORER_SETTINGS,
    Setting(
        "ttl_days",
        "days",
        "how long an artifact is kept after it was last read",
        _between(0.001, 36_500, float),
    ),
    Setting(
        "store_max_bytes",
        "bytes",
        "size of the store; beyond it the least recently read artifacts go first",
        _between(100_000, 2**50, int),
    ),
    Setting("log_level", "name", "what is logged to stderr", _level),
)


def load(environment: Mapping[str, str]) -> Config:
    """Read every `KEYHOLE_*` variable of a mapping.

    Raises KeyholeError (invalid_argument) for an unknown variable, naming the nearest known one, and for a
    value outside its bounds.
    """
    known = {setting.variable: setting for setting in SETTINGS}
    values: dict[str, Any] = {}
    for name in sorted(environment):
        if not name.startswith(PREFIX):
            continue
        if name not in known:
            raise KeyholeError(Code.INVALID_ARGUMENT, _unknown(name, list(known)))
        raw = environment[name].strip()
        if not raw:
            continue
        try:
            values[known[name].field] = known[name].parse(raw)
        except ValueError as error:
            shown = "" if known[name].secret else f"={raw!r}"
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{name}{shown}: {error}") from error
    return Config(**values)


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"unknown setting {name}" + (f"; did you mean {near[0]}?" if near else "")
