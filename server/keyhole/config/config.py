"""The settings of one server with their defaults. Parse them from environment variables and a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from keyhole._version import __version__
from keyhole.config.schema import FILE_VARIABLE, PREFIX, SETTINGS
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name

WEB_PORTS = frozenset(
    {80, 443, 8008, 8080}  # http, https and http-alt in IANA's registry of ports
    | {8000, 8081, 8443, 8888, 81, 3000, 4443, 5000, 9443}  # other common ports of servers and frameworks
    | {2052, 2053, 2082, 2083, 2086, 2087, 2095, 2096, 8880}  # the other ports on which Cloudflare serves sites
)
"""Ports that may be connected to by default. They are listed, because a list of forbidden ports is never complete: the
bad ports of WHATWG's Fetch standard lack Redis, Docker and etcd. No bad port is in this list."""

HOME_PAGE = "https://pypi.org/project/keyhole-reader/"
"""The page that tells the owners of fetched sites what Keyhole is."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Create it with `parse_config`, or directly in tests."""

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
    """Where each field was set, such as `KEYHOLE_HOME`. Fields that are missing here have their default."""


def build_user_agent(config: Config) -> str:
    """Return the User-Agent header that Keyhole sends."""
    return config.user_agent or f"Keyhole/{__version__} (+{HOME_PAGE})"


@dataclass(frozen=True, slots=True)
class RawSetting:
    """The unparsed value of one setting, with its origin."""

    raw: str = field(repr=False)
    origin: str
    """The variable, such as `KEYHOLE_HOME`, or the file and line."""
    label: str
    """The beginning of a message about the value: its origin and the setting's name."""


NO_SETTINGS: Mapping[str, RawSetting] = MappingProxyType({})


def parse_config(environment: Mapping[str, str], file: Mapping[str, RawSetting] = NO_SETTINGS) -> Config:
    """Parse the `KEYHOLE_*` variables, which take precedence, and the settings of a file (see toml_file.py).

    Raises KeyholeError (invalid_argument) for an unknown variable, with the nearest known one, and for an invalid
    value.
    """
    config, faults = parse_settings(environment, file)
    if faults:
        raise KeyholeError(Code.INVALID_ARGUMENT, faults[0])
    return config


def parse_settings(
    environment: Mapping[str, str], file: Mapping[str, RawSetting] = NO_SETTINGS
) -> tuple[Config, list[str]]:
    """Parse like `parse_config`, but return a Config of the valid settings, and a message for each fault."""
    fields = {setting.variable: setting.field for setting in SETTINGS}
    settings, faults = dict(file), []
    for name in sorted(environment):
        if name in fields:
            if raw := environment[name].strip():
                settings[fields[name]] = RawSetting(raw, name, name)
        elif name.startswith(PREFIX) and name != FILE_VARIABLE:
            faults.append(f"unknown setting {name}{suggest_name(name, [*fields, FILE_VARIABLE])}")
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        if (value := settings.get(setting.field)) is None:
            continue
        try:
            values[setting.field] = setting.parse(value.raw)
        except ValueError as error:
            quoted = "" if setting.secret else f"={value.raw!r}"
            faults.append(f"{value.label}{quoted}: {error}")
    return Config(**values, origins={name: settings[name].origin for name in values}), faults
