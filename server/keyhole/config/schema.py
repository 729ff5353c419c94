"""The table of all settings: variable, unit, description and parser of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyhole.config import parsers
from keyhole.config.parsers import between, one_of

PREFIX = "KEYHOLE_"
FILE_VARIABLE = "KEYHOLE_CONFIG"
"""The variable with the path of the settings file. It is no setting, because the file cannot contain its own path."""

MIN_BUDGET = 500
"""Bytes. In a smaller budget, the header, continuation and markers leave no space for text."""
MAX_BUDGET = 200_000
"""Bytes. No known client accepts more: their largest limit is 150,000 characters."""
MIN_TOKENS = 200
"""Tokens. In a smaller budget, the header, continuation and markers leave no space for text."""

KEYED_ENGINES = ("brave", "exa", "tavily", "serper", "mojeek")
ENGINES = ("searxng", *KEYED_ENGINES, "keyless", "wikipedia")
"""The built-in web search engines in order of preference: self-hosted, paid, free."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Its variable is `KEYHOLE_` followed by the field's name in upper case."""

    field: str
    unit: str
    description: str
    parse: Callable[[str], Any]
    secret: bool = False
    """True if the value must not be shown."""

    @property
    def variable(self) -> str:
        """The environment variable's name."""
        return PREFIX + self.field.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("home", "path", "folder of the stored artifacts; default: the platform's user data folder", Path),
    Setting(
        "max_chars",
        "bytes of the result",
        "default size limit of a result; some clients cut results at 10,000 bytes",
        between(MIN_BUDGET, MAX_BUDGET, int),
    ),
    Setting(
        "context_tokens",
        "tokens",
        "context size of the model, of which a result may take a share; default: the known limit of the client",
        between(2_000, 100_000_000, int),
    ),
    Setting(
        "session_tokens",
        "tokens",
        "total of all results of a session, beyond which results become shorter and say so; default: no limit",
        between(1_000, 1_000_000_000, int),
    ),
    Setting(
        "repeats",
        "once or always",
        "`once`: show a passage again in the same session only with repeat=true; `always`: show it every time",
        one_of("once", "always"),
    ),
    Setting(
        "timeout",
        "seconds",
        "deadline of a web_fetch or read_artifact call; common clients wait 60 s",
        between(0.1, 600, float),
    ),
    Setting(
        "search_timeout",
        "seconds",
        "deadline of a search call; common clients wait 60 s",
        between(0.1, 600, float),
    ),
    Setting(
        "max_bytes",
        "bytes",
        "size limit of a response on the network; the rest is not read",
        between(1_000, 1_000_000_000, int),
    ),
    Setting(
        "max_decoded_bytes",
        "bytes",
        "size limit of a response after decompression",
        between(1_000, 2_000_000_000, int),
    ),
    Setting(
        "max_redirects",
        "hops",
        "redirects followed per request; each target is checked like the first URL",
        between(0, 20, int),
    ),
    Setting(
        "extract_timeout",
        "seconds",
        "time limit for extracting a page; after it the unprocessed text is returned",
        between(0.1, 600, float),
    ),
    Setting(
        "extract_memory",
        "bytes",
        "memory limit for extracting a page",
        between(50_000_000, 2**40, int),
    ),
    Setting(
        "freshness",
        "seconds",
        "age up to which a stored page is returned without fetching it again; refresh=true overrides it",
        between(0, 86_400 * 365, float),
    ),
    Setting("allow_private", "host:port,…", "private endpoints that may be fetched; default: none", parsers.endpoints),
    Setting("ports", "ports", "ports that may be connected to, with ranges such as 8000-8999", parsers.ports),
    Setting(
        "proxy",
        "http://host:port",
        "proxy that connects to public addresses with CONNECT; HTTP_PROXY and similar variables are ignored",
        parsers.proxy,
    ),
    Setting(
        "allow_domains",
        "domains",
        "only these hosts are fetched: `example.com` is one host, `*.example.com` its subdomains; default: all hosts",
        parsers.domains,
    ),
    Setting(
        "deny_domains",
        "domains",
        "hosts that are never fetched; takes precedence over KEYHOLE_ALLOW_DOMAINS",
        parsers.domains,
    ),
    Setting(
        "robots",
        "on or off",
        "whether robots.txt is obeyed; it does not apply to endpoints of KEYHOLE_ALLOW_PRIVATE",
        one_of("on", "off"),
    ),
    Setting(
        "url_policy",
        "any or known",
        "`known`: fetch only URLs from search results, fetched pages and KEYHOLE_KNOWN_URLS; `any`: fetch every URL",
        one_of("any", "known"),
    ),
    Setting(
        "known_urls",
        "URLs",
        "URLs that the policy `known` always allows; `https://example.com/docs/*` allows all URLs with this prefix",
        parsers.known_urls,
    ),
    Setting(
        "user_agent", "text", "User-Agent header; default: Keyhole, its version and its home page", parsers.header_text
    ),
    Setting("fetches", "pages", "pages that a search fetches at once", between(1, 50, int)),
    Setting(
        "engines",
        "names",
        "web search engines in order of preference, from KEYHOLE_ENGINES_FILE and "
        f"{', '.join(ENGINES)}; default: the configured ones, or keyless and wikipedia if none is configured",
        parsers.names,
    ),
    Setting(
        "engines_file",
        "path",
        "TOML file with custom search engines; see docs/search-engines/engines-file.md",
        Path,
    ),
    Setting(
        "engine_count",
        "engines",
        "engines queried at once; the others replace those that fail",
        between(1, 20, int),
    ),
    Setting(
        "engine_timeout",
        "seconds",
        "time limit for one engine, at most half of the search's deadline",
        between(0.1, 60, float),
    ),
    Setting(
        "searxng_url",
        "URLs",
        "base URLs of SearXNG instances with the JSON format enabled; the next one is used if one fails",
        parsers.http_urls,
    ),
    Setting(
        "mediawiki_url",
        "URL",
        "api.php of the wiki that the engine `wikipedia` searches; default: Wikipedia",
        parsers.http_url,
    ),
    *(
        Setting(f"{name}_key", "key", f"API key of the engine {name}, which is not used without one", parsers.key, True)
        for name in KEYED_ENGINES
    ),
    Setting(
        "rerank_url",
        "URL",
        "URL of a /rerank API that reorders the best passages; default: none",
        parsers.api_url,
    ),
    Setting("rerank_model", "name", "model of the reranker; servers with a single model may not need it", str),
    Setting("rerank_key", "text", "bearer token for the reranker", parsers.header_text, True),
    Setting(
        "rerank_max_docs", "passages", "passages sent to the reranker, best lexical score first", between(1, 1_000, int)
    ),
    Setting(
        "rerank_max_chars_per_doc",
        "characters",
        "characters of each passage sent to the reranker; results contain the whole passage",
        between(50, 100_000, int),
    ),
    Setting(
        "rerank_threshold",
        "score",
        "passages with a lower score of the reranker are placed last; default: none, since scales differ",
        between(-1e9, 1e9, float),
    ),
    Setting(
        "rerank_timeout",
        "seconds",
        "time limit for the reranker, within the deadline of the call",
        between(0.1, 60, float),
    ),
    Setting(
        "embed_url",
        "URL",
        "URL of a /v1/embeddings API whose ranking is combined with the lexical one; default: none",
        parsers.api_url,
    ),
    Setting("embed_model", "name", "embedding model; servers with a single model may not need it", str),
    Setting("embed_key", "text", "bearer token for the embeddings API", parsers.header_text, True),
    Setting("embed_max_docs", "passages", "passages embedded, best lexical score first", between(1, 100_000, int)),
    Setting("embed_batch", "texts", "texts per request; some servers accept fewer", between(1, 10_000, int)),
    Setting("embed_query_prefix", "text", "prefix that the model requires before a query, such as `query:`", str),
    Setting("embed_text_prefix", "text", "prefix that the model requires before a passage, such as `passage:`", str),
    Setting(
        "embed_timeout",
        "seconds",
        "time limit for all embeddings, within the deadline of the call",
        between(0.1, 60, float),
    ),
    Setting(
        "ttl_days",
        "days",
        "time that an artifact is kept after it was last read",
        between(0.001, 36_500, float),
    ),
    Setting(
        "store_max_bytes",
        "bytes",
        "size limit of the store; beyond it the least recently read artifacts are deleted",
        between(1_000_000, 2**50, int),
    ),
    Setting(
        "store",
        "address",
        "store to use instead of a file in the home folder: `memory`, or `postgresql://…` shared by several servers",
        parsers.store_address,
        True,
    ),
    Setting(
        "store_connections",
        "connections",
        "maximum of connections of one server to PostgreSQL for artifacts; shared limits use four more",
        between(1, 1_000, int),
    ),
    Setting(
        "allowed_hosts",
        "host:port,…",
        "accepted Host headers of HTTP requests; default: loopback only; required for any other listening address",
        parsers.names,
    ),
    Setting(
        "allowed_origins",
        "origins",
        "accepted Origin headers of HTTP requests from browsers; default: loopback only",
        parsers.names,
    ),
    Setting("tokens_file", "path", "file of hashed bearer tokens, each with its tenant; see `keyhole tokens`", Path),
    Setting("public_url", "URL", "URL at which clients reach the server's /mcp, for OAuth metadata", parsers.http_url),
    Setting("oauth_issuer", "URL", "OAuth 2.1 authorization server whose access tokens are accepted", parsers.http_url),
    Setting("oauth_audience", "text", "audience that access tokens must have; default: KEYHOLE_PUBLIC_URL", str),
    Setting(
        "oauth_jwks_url", "URL", "URL of the authorization server's keys; default: from its metadata", parsers.http_url
    ),
    Setting("oauth_scopes", "names", "scopes that an access token must have", parsers.scopes),
    Setting("oauth_tenant", "claim", "claim of the access token that contains the tenant", str),
    Setting(
        "stateless",
        "on or off",
        "`on`: keep no HTTP sessions, so that any of several servers can answer any request",
        parsers.switch,
    ),
    Setting(
        "calls_per_minute", "calls", "tool calls per minute and tenant; more are refused", between(1, 1_000_000, int)
    ),
    Setting("calls_at_once", "calls", "concurrent tool calls per tenant; more are refused", between(1, 10_000, int)),
    Setting(
        "max_calls", "calls", "concurrent tool calls of the whole server; more are refused", between(1, 10_000, int)
    ),
    Setting("max_request_bytes", "bytes", "size limit of an HTTP request's body", between(10_000, 100_000_000, int)),
    Setting(
        "drain_seconds",
        "seconds",
        "time that running calls have to finish when the server stops",
        between(0, 600, float),
    ),
    Setting(
        "metrics_token",
        "text",
        "bearer token required for /metrics; without it /metrics is only available on loopback",
        parsers.key,
        True,
    ),
    Setting("log_format", "text or json", "format of the log on stderr", one_of("text", "json")),
    Setting("log_level", "name", "lowest level logged to stderr", one_of("DEBUG", "INFO", "WARNING", "ERROR")),
)
