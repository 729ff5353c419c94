"""The settings of one server, each with its default, unit, description and parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from keyhole._version import __version__
from keyhole.config import parsers
from keyhole.config.parsers import WEB_PORTS, between, one_of

# The form of a setting, and its unparsed value.

PREFIX: Final = "KEYHOLE_"
"""The beginning of the name of each setting's environment variable."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. Its variable is `KEYHOLE_` followed by the field's name in upper case."""

    field: str
    unit: str
    description: str
    parse: Callable[[str], Any]
    secret: bool
    """True if the value must not be shown."""

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return PREFIX + self.field.upper()


@dataclass(frozen=True, slots=True)
class RawSetting:
    """The unparsed value of one setting, with its origin."""

    raw: str = field(repr=False)
    origin: str
    """The variable, such as `KEYHOLE_HOME`, or the file and line."""
    label: str
    """The beginning of a message about the value: its origin and the setting's name."""


def setting(default: Any, unit: str, description: str, parse: Callable[[str], Any], *, secret: bool = False) -> Any:
    """Return a field of `Config` that is a row of the table."""
    row = {"unit": unit, "description": description, "parse": parse, "secret": secret}
    return field(default=default, repr=not secret, metadata=row)


# All settings.

MIN_BUDGET = 500
"""Bytes. In a smaller budget, the header, continuation and markers leave no space for text."""
MAX_BUDGET = 200_000
"""Bytes. No known client accepts more: their largest limit is 150,000 characters."""
MIN_TOKENS = 200
"""Tokens. In a smaller budget, the header, continuation and markers leave no space for text."""

KEYED_ENGINES = ("brave", "exa", "tavily", "serper", "mojeek")
ENGINES = ("searxng", *KEYED_ENGINES, "keyless", "wikipedia")
"""The built-in web search engines in order of preference: self-hosted, paid, free."""


SITES = (
    "github", "gitlab", "codeberg", "pypi", "npm", "crates", "maven", "rubygems", "stackexchange", "hackernews",
    "lobsters", "discourse", "arxiv", "rfc",
)  # fmt: skip
"""The sites whose objects are read through their API; see docs/how-it-works/sites.md."""

SEARCH_FACTOR = 4 / 3
"""Deadline of a search as a multiple of `timeout`: it asks engines before it reads pages."""
DECODED_FACTOR = 2
"""Size limit of a response after decompression as a multiple of `max_bytes`."""

REMOVED_SETTINGS = MappingProxyType(
    {
        "engine_timeout": "an engine has 10 seconds",
        "fetches": "a search reads 10 pages at once",
        "max_decoded_bytes": "the limit after decompression is twice max_bytes",
        "max_redirects": "10 redirects are followed",
        "model_hub": "set HF_ENDPOINT, the variable of Hugging Face's own programs",
        "search_timeout": "a search may take a third longer than timeout",
    }
)
"""Settings of earlier versions, each with what applies instead. They are ignored with a warning, so that a server with
an old configuration still starts."""

HOME_PAGE = "https://pypi.org/project/keyhole-reader/"
"""The page that tells the owners of fetched sites what Keyhole is."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Create it with `parse_config`, or directly in tests."""

    home: Path | None = setting(
        None, "path", "folder of the stored artifacts; default: the platform's user data folder", Path
    )
    max_chars: int = setting(
        9_000,
        "characters",
        "default size limit of a result; the client's limits apply too",
        between(MIN_BUDGET, MAX_BUDGET, int),
    )
    max_tokens: int | None = setting(
        None,
        "tokens",
        "greatest size of any result, also if a call requests more; default: no limit",
        between(MIN_TOKENS, 1_000_000, int),
    )
    context_tokens: int | None = setting(
        None,
        "tokens",
        "context size of the model, of which a result may take a share; default: the known limit of the client",
        between(2_000, 100_000_000, int),
    )
    session_tokens: int | None = setting(
        None,
        "tokens",
        "total of all results of a session, beyond which results become shorter and say so; default: no limit",
        between(1_000, 1_000_000_000, int),
    )
    repeats: str = setting(
        "once",
        "once or always",
        "`once`: show a passage again in the same session only with repeat=true; `always`: show it every time",
        one_of("once", "always"),
    )
    timeout: float = setting(
        30.0,
        "seconds",
        "deadline of a web_fetch or read_artifact call; a search may take a third longer; common clients wait 60 s",
        between(0.1, 600, float),
    )
    max_bytes: int = setting(
        10_000_000,
        "bytes",
        "size limit of a response on the network; the rest is not read; twice as much after decompression",
        between(1_000, 1_000_000_000, int),
    )
    extract_timeout: float = setting(
        15.0,
        "seconds",
        "processor time for extracting a page; after it the unprocessed text is returned, with a warning",
        between(0.1, 600, float),
    )
    extract_memory: int = setting(
        500_000_000, "bytes", "memory limit for extracting a page", between(50_000_000, 2**40, int)
    )
    freshness: float = setting(
        900.0,
        "seconds",
        "age up to which a stored page is returned without fetching it again; refresh=true overrides it",
        between(0, 86_400 * 365, float),
    )
    allow_private: frozenset[str] = setting(
        frozenset(), "host:port,…", "private endpoints that may be fetched; default: none", parsers.endpoints
    )
    ports: frozenset[int] = setting(
        WEB_PORTS, "ports", "ports that may be connected to, with ranges such as 8000-8999", parsers.ports
    )
    proxy: str = setting(
        "",
        "http://host:port",
        "proxy that connects to public addresses with CONNECT; HTTP_PROXY and similar variables are ignored",
        parsers.proxy,
    )
    allow_domains: frozenset[str] = setting(
        frozenset(),
        "domains",
        "only pages of these hosts are read: `example.com` is one host, `*.example.com` its subdomains; default: all",
        parsers.domains,
    )
    deny_domains: frozenset[str] = setting(
        frozenset(),
        "domains",
        "hosts that get no request, for pages or as search engine or reranker; overrides KEYHOLE_ALLOW_DOMAINS",
        parsers.domains,
    )
    robots: str = setting(
        "on",
        "on, pages or off",
        "whether robots.txt is obeyed; `pages`: not for the documented APIs of KEYHOLE_SITES; it does not apply to "
        "endpoints of KEYHOLE_ALLOW_PRIVATE",
        one_of("on", "pages", "off"),
    )
    url_policy: str = setting(
        "any",
        "any or known",
        "`known`: fetch only URLs from search results, fetched pages and KEYHOLE_KNOWN_URLS; `any`: fetch every URL",
        one_of("any", "known"),
    )
    known_urls: frozenset[str] = setting(
        frozenset(),
        "URLs",
        "URLs that the policy `known` always allows; `https://example.com/docs/*` allows all URLs with this prefix",
        parsers.known_urls,
    )
    sites: tuple[str, ...] = setting(
        ("all",),
        "all, off or names",
        f"sites whose objects are read through their API instead of HTML: {', '.join(SITES)}",
        parsers.choices_of(*SITES),
    )
    github_token: str = setting(
        "",
        "token",
        "token that is sent to GitHub's API, which then allows 5,000 requests an hour instead of 60",
        parsers.key,
        secret=True,
    )
    archive: str = setting(
        "off",
        "on or off",
        "whether the Internet Archive is asked for its copy of a dead address, which is named last",
        one_of("on", "off"),
    )
    user_agent: str = setting(
        "", "text", "User-Agent header; default: Keyhole, its version and its home page", parsers.header_text
    )
    render: str = setting(
        "off",
        "off or auto",
        "`auto`: a page without text until its scripts run is rendered in a local Chromium; see docs/rendering.md",
        one_of("off", "auto"),
    )
    browser: Path | None = setting(
        None,
        "path",
        "the Chromium, Chrome or chromium-headless-shell that renders; default: one that is installed",
        Path,
    )
    engines: tuple[str, ...] = setting(
        (),
        "names",
        "web search engines in order of preference, from KEYHOLE_ENGINES_FILE and "
        f"{', '.join(ENGINES)}; default: the configured ones, or keyless and wikipedia if none is configured",
        parsers.names,
    )
    engines_file: Path | None = setting(
        None, "path", "TOML file with custom search engines; see docs/search-engines/engines-file.md", Path
    )
    engine_count: int = setting(
        3, "engines", "engines queried at once; the others replace those that fail", between(1, 20, int)
    )
    searxng_url: tuple[str, ...] = setting(
        (),
        "URLs",
        "base URLs of SearXNG instances with the JSON format enabled; the next one is used if one fails",
        parsers.http_urls,
    )
    mediawiki_url: str = setting(
        "", "URL", "api.php of the wiki that the engine `wikipedia` searches; default: Wikipedia", parsers.http_url
    )
    brave_key: str = setting(
        "", "key", "API key of the engine brave, which is not used without one", parsers.key, secret=True
    )
    exa_key: str = setting(
        "", "key", "API key of the engine exa, which is not used without one", parsers.key, secret=True
    )
    tavily_key: str = setting(
        "", "key", "API key of the engine tavily, which is not used without one", parsers.key, secret=True
    )
    serper_key: str = setting(
        "", "key", "API key of the engine serper, which is not used without one", parsers.key, secret=True
    )
    mojeek_key: str = setting(
        "", "key", "API key of the engine mojeek, which is not used without one", parsers.key, secret=True
    )
    model: str = setting(
        "auto",
        "auto, off or a name",
        "local model that ranks passages by meaning; `auto`: the one that was installed last, if there is one",
        parsers.model_name,
    )
    rerank_url: str = setting(
        "", "URL", "URL of a /rerank API that reorders the best passages; default: none", parsers.api_url
    )
    rerank_model: str = setting("", "name", "model of the reranker; servers with a single model may not need it", str)
    rerank_key: str = setting("", "text", "bearer token for the reranker", parsers.header_text, secret=True)
    embed_url: str = setting(
        "",
        "URL",
        "URL of a /v1/embeddings API whose ranking is combined with the lexical one; default: none",
        parsers.api_url,
    )
    embed_model: str = setting("", "name", "embedding model; servers with a single model may not need it", str)
    embed_key: str = setting("", "text", "bearer token for the embeddings API", parsers.header_text, secret=True)
    keep_outputs: str = setting(
        "on",
        "on or off",
        "whether outputs that `keyhole bound`, `keyhole run` and hooks shorten are stored",
        one_of("on", "off"),
    )
    record: str = setting(
        "on", "on or off", "whether calls are recorded; see docs/storage/calls.md", one_of("on", "off")
    )
    ttl_days: float = setting(
        30.0, "days", "time that an artifact is kept after it was last read", between(0.001, 36_500, float)
    )
    store_max_bytes: int = setting(
        2 * 1024**3,
        "bytes",
        "size limit of the store; beyond it the least recently read artifacts are deleted",
        between(1_000_000, 2**50, int),
    )
    store: str = setting(
        "",
        "address",
        "store to use instead of a file in the home folder: `memory`, or `postgresql://…` shared by several servers",
        parsers.store_address,
        secret=True,
    )
    store_connections: int = setting(
        8,
        "connections",
        "maximum of connections of one server to PostgreSQL",
        between(1, 1_000, int),
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "host:port,…",
        "accepted Host headers of HTTP requests; default: loopback only; required for any other listening address",
        parsers.names,
    )
    allowed_origins: tuple[str, ...] = setting(
        (), "origins", "accepted Origin headers of HTTP requests from browsers; default: loopback only", parsers.names
    )
    tokens_file: Path | None = setting(
        None, "path", "file of hashed bearer tokens, each with its tenant; see `keyhole tokens`", Path
    )
    public_url: str = setting(
        "", "URL", "URL at which clients reach the server's /mcp, for OAuth metadata", parsers.http_url
    )
    oauth_issuer: str = setting(
        "", "URL", "OAuth 2.1 authorization server whose access tokens are accepted", parsers.http_url
    )
    oauth_audience: str = setting("", "text", "audience that access tokens must have; default: KEYHOLE_PUBLIC_URL", str)
    oauth_jwks_url: str = setting(
        "", "URL", "URL of the authorization server's keys; default: from its metadata", parsers.http_url
    )
    oauth_scopes: tuple[str, ...] = setting((), "names", "scopes that an access token must have", parsers.scopes)
    oauth_tenant: str = setting("sub", "claim", "claim of the access token that contains the tenant", str)
    stateless: bool = setting(
        False,
        "on or off",
        "`on`: keep no HTTP sessions, so that any of several servers can answer any request",
        parsers.switch,
    )
    calls_per_minute: int = setting(
        120, "calls", "tool calls per minute and tenant; more are refused", between(1, 1_000_000, int)
    )
    calls_at_once: int = setting(
        8, "calls", "concurrent tool calls per tenant; more wait for their turn", between(1, 10_000, int)
    )
    max_calls: int = setting(
        64, "calls", "concurrent tool calls of the whole server; more wait for their turn", between(1, 10_000, int)
    )
    max_request_bytes: int = setting(
        1_000_000, "bytes", "size limit of an HTTP request's body", between(10_000, 100_000_000, int)
    )
    drain_seconds: float = setting(
        30.0, "seconds", "time that running calls have to finish when the server stops", between(0, 600, float)
    )
    metrics_token: str = setting(
        "",
        "text",
        "bearer token required for /metrics; without it /metrics is only available on loopback",
        parsers.key,
        secret=True,
    )
    look: bool = setting(
        False, "on or off", "`on`: an HTTP server shows each tenant its calls and stored texts at /look", parsers.switch
    )
    operator_token: str = setting(
        "", "text", "token of the operator's view at /look, which has figures and no texts", parsers.token, secret=True
    )
    shared: str = setting(
        "auto",
        "auto or off",
        "whether the clients of a user share one server; `off`: each client starts its own",
        one_of("auto", "off"),
    )
    log_format: str = setting("text", "text or json", "format of the log on stderr", one_of("text", "json"))
    log_level: str = setting(
        "WARNING", "name", "lowest level logged to stderr", one_of("DEBUG", "INFO", "WARNING", "ERROR")
    )
    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Where each field was set, such as `KEYHOLE_HOME`. Fields that are missing here have their default."""
    warnings: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """A warning for each setting of an earlier version that was set and has no effect."""

    @property
    def search_timeout(self) -> float:
        """The deadline of a search in seconds."""
        return self.timeout * SEARCH_FACTOR

    @property
    def max_decoded_bytes(self) -> int:
        """The size limit of a response in bytes after decompression."""
        return self.max_bytes * DECODED_FACTOR


SETTINGS = tuple(Setting(each.name, **each.metadata) for each in fields(Config) if each.metadata)
"""The rows of the table, in the order of the fields."""


def build_user_agent(config: Config) -> str:
    """Return the User-Agent header that Keyhole sends."""
    return config.user_agent or f"Keyhole/{__version__} (+{HOME_PAGE})"
