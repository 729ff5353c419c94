"""The settings of one server with their defaults; read once from a mapping, and nothing is read elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from keyhole._version import __version__
from keyhole.config.schema import FILE_VARIABLE, PREFIX, SETTINGS
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import meant

WEB_PORTS = frozenset(
    {80, 443, 8008, 8080}  # http, https and http-alt in IANA's registry of ports
    | {8000, 8081, 8443, 8888, 81, 3000, 4443, 5000, 9443}  # where servers and frameworks put public sites
    | {2052, 2053, 2082, 2083, 2086, 2087, 2095, 2096, 8880}  # the others that Cloudflare serves sites on
)
"""Ports that may be connected to by default. A list of what is open, because a list of what is dangerous never ends:
the bad ports of WHATWG's Fetch standard leave out Redis, Docker and etcd. None of those bad ports is here."""

HOME_PAGE = "https://pypi.org/project/keyhole-mcp/"
"""Where a site's owner can read who asks: the package's page, until the project has a page of its own."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Build it with `load`, or directly in tests."""

    home: Path | None = None
    max_chars: int = 9_000
    context_tokens: int | None = None
    session_tokens: int | None = None
    repeats: str = "once"
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
    store: str = field(default="", repr=False)
    store_connections: int = 8
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    tokens_file: Path | None = None
    public_url: str = ""
    oauth_issuer: str = ""
    oauth_audience: str = ""
    oauth_jwks_url: str = ""
    oauth_scopes: tuple[str, ...] = ()
    oauth_tenant: str = "sub"
    stateless: bool = False
    calls_per_minute: int = 120
    calls_at_once: int = 8
    max_calls: int = 64
    max_request_bytes: int = 1_000_000
    drain_seconds: float = 30.0
    metrics_token: str = field(default="", repr=False)
    log_format: str = "text"
    log_level: str = "WARNING"
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Where the value of each field that was set is from, such as `KEYHOLE_HOME`; others are the default."""


def agent(config: Config) -> str:
    """What sites and issuers see of who asks."""
    return config.user_agent or f"Keyhole/{__version__} (+{HOME_PAGE})"


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody wrote for one setting: text for the setting's parser, and where it stands."""

    raw: str = field(repr=False)
    origin: str
    """`KEYHOLE_HOME`, or the file and line."""
    label: str
    """The same with the setting's name, to begin what is said of it."""


NOTHING: Mapping[str, Given] = MappingProxyType({})


def load(environment: Mapping[str, str], file: Mapping[str, Given] = NOTHING) -> Config:
    """Every `KEYHOLE_*` variable of a mapping and, below them, what a file gives for fields (see configured.py).

    Raises KeyholeError (invalid_argument) for an unknown variable, naming the nearest known one, and for a
    value outside its bounds.
    """
    config, faults = examined(environment, file)
    if faults:
        raise KeyholeError(Code.INVALID_ARGUMENT, faults[0])
    return config


def examined(environment: Mapping[str, str], file: Mapping[str, Given] = NOTHING) -> tuple[Config, list[str]]:
    """The settings that are right, and what is wrong with each of the others."""
    known = {setting.variable: setting.field for setting in SETTINGS}
    given, faults = dict(file), []
    for name in sorted(environment):
        if name in known:
            if raw := environment[name].strip():
                given[known[name]] = Given(raw, name, name)
        elif name.startswith(PREFIX) and name != FILE_VARIABLE:
            faults.append(f"unknown setting {name}{meant(name, [*known, FILE_VARIABLE])}")
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        if (found := given.get(setting.field)) is None:
            continue
        try:
            values[setting.field] = setting.parse(found.raw)
        except ValueError as error:
            shown = "" if setting.secret else f"={found.raw!r}"
            faults.append(f"{found.label}{shown}: {error}")
    return Config(**values, origins={name: given[name].origin for name in values}), faults
