"""The table of all settings: each with its variable, unit, reason and how its value is read. Nothing is read here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyhole.config import parsers
from keyhole.config.parsers import between, one_of

PREFIX = "KEYHOLE_"
FILE_VARIABLE = "KEYHOLE_CONFIG"
"""Names the file of settings; it is no setting itself, since it cannot stand in that file."""

MIN_BUDGET = 500
"""Bytes. Below it header, continuation and markers leave no room for text."""
MAX_BUDGET = 200_000
"""Bytes. Above the largest cap of any known client (150,000 characters), so more could never arrive."""
MIN_TOKENS = 200
"""Below it header, continuation and markers leave no room for text."""

KEYED = ("brave", "exa", "tavily", "serper", "mojeek")
ENGINES = ("searxng", *KEYED, "keyless", "wikipedia")
"""The web search engines there are, the preferred first: the operator's own, those paid for, those free to all."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings table: the variable is `KEYHOLE_` and the upper-cased field name."""

    field: str
    unit: str
    reason: str
    parse: Callable[[str], Any]
    secret: bool = False  # whether its value is shown nowhere

    @property
    def variable(self) -> str:
        """The environment variable's name."""
        return PREFIX + self.field.upper()


SETTINGS: tuple[Setting, ...] = (
    Setting("home", "path", "where artifacts are kept; by default the platform's user data folder", Path),
    Setting(
        "max_chars",
        "bytes of the result",
        "default budget of a result; 9,000 survives clients that cut at 10,000 bytes",
        between(MIN_BUDGET, MAX_BUDGET, int),
    ),
    Setting(
        "context_tokens",
        "tokens",
        "the model's context: a result takes at most a fitting share of it; unset: as the client is known to take",
        between(2_000, 100_000_000, int),
    ),
    Setting(
        "session_tokens",
        "tokens",
        "what all results of one session may take together; then they shrink and say so; unset: without end",
        between(1_000, 1_000_000_000, int),
    ),
    Setting(
        "repeats",
        "once or always",
        "whether a passage that an earlier call of the session showed is shown again unless repeat=true asks for it",
        one_of("once", "always"),
    ),
    Setting(
        "timeout",
        "seconds",
        "deadline of a whole web_fetch or read_artifact; below the 60 s of common clients",
        between(0.1, 600, float),
    ),
    Setting(
        "search_timeout",
        "seconds",
        "deadline of a whole search; below the 60 s of common clients",
        between(0.1, 600, float),
    ),
    Setting(
        "max_bytes",
        "bytes",
        "most that is read of one response as it comes over the wire",
        between(1_000, 1_000_000_000, int),
    ),
    Setting(
        "max_decoded_bytes",
        "bytes",
        "most that one response may decompress to",
        between(1_000, 2_000_000_000, int),
    ),
    Setting("max_redirects", "hops", "redirects followed; each is checked anew", between(0, 20, int)),
    Setting(
        "extract_timeout",
        "seconds",
        "longest that reading one page may take; then its undigested text is shown",
        between(0.1, 600, float),
    ),
    Setting(
        "extract_memory",
        "bytes",
        "most memory that reading one page may take",
        between(50_000_000, 2**40, int),
    ),
    Setting(
        "freshness",
        "seconds",
        "a page fetched this recently is answered from the store; refresh=true overrides",
        between(0, 86_400 * 365, float),
    ),
    Setting(
        "allow_private", "host:port,…", "private endpoints that may be fetched; none by default", parsers.endpoints
    ),
    Setting("ports", "ports", "ports that may be connected to, single or as 8000-8999", parsers.ports),
    Setting("proxy", "http://host:port", "proxy for CONNECT to checked addresses; others are not used", parsers.proxy),
    Setting(
        "allow_domains",
        "domains",
        "only these hosts are fetched: `example.com` is that host, `*.example.com` all under it; empty is all hosts",
        parsers.domains,
    ),
    Setting("deny_domains", "domains", "these hosts are never fetched; wins over the hosts allowed", parsers.domains),
    Setting(
        "robots",
        "on or off",
        "whether robots.txt is honoured; private endpoints that are allowed are not asked for it",
        one_of("on", "off"),
    ),
    Setting(
        "url_policy",
        "any or known",
        "`known`: only URLs that a search result, a fetched page or KEYHOLE_KNOWN_URLS contained are fetched",
        one_of("any", "known"),
    ),
    Setting(
        "known_urls",
        "URLs",
        "URLs that may always be fetched under `known`; `https://example.com/docs/*` is all that begins so",
        parsers.known_urls,
    ),
    Setting(
        "user_agent", "text", "what sites see; by default Keyhole, its version and its home page", parsers.header_text
    ),
    Setting("fetches", "pages", "how many pages one search reads at once", between(1, 50, int)),
    Setting(
        "engines",
        "names",
        "web search engines that may be asked, most preferred first, of those in KEYHOLE_ENGINES_FILE and "
        f"{', '.join(ENGINES)}; by default those that are set up, or keyless and wikipedia where none is",
        parsers.names,
    ),
    Setting(
        "engines_file",
        "path",
        "TOML file that describes search engines of your own; see docs/search-engines/engines-file.md",
        Path,
    ),
    Setting(
        "engine_count",
        "engines",
        "how many are asked at once; the others step in for one that fails",
        between(1, 20, int),
    ),
    Setting(
        "engine_timeout",
        "seconds",
        "longest that one engine is waited for, in half of a search's time",
        between(0.1, 60, float),
    ),
    Setting(
        "searxng_url",
        "URLs",
        "base addresses of SearXNG instances with their JSON format enabled; the next is asked where one fails",
        parsers.http_urls,
    ),
    Setting(
        "mediawiki_url",
        "URL",
        "api.php of the wiki that `wikipedia` asks; by default Wikipedia's",
        parsers.http_url,
    ),
    *(
        Setting(f"{name}_key", "key", f"key of the engine {name}; unset: not asked", parsers.key, True)
        for name in KEYED
    ),
    Setting(
        "rerank_url",
        "URL",
        "address of a /rerank API that may reorder the best passages; none is asked by default",
        parsers.api_url,
    ),
    Setting("rerank_model", "name", "model that the reranker is asked for; some servers have only one", str),
    Setting("rerank_key", "text", "sent as a bearer token; shown nowhere", parsers.header_text, True),
    Setting("rerank_max_docs", "passages", "the best by lexical score that are sent", between(1, 1_000, int)),
    Setting(
        "rerank_max_chars_per_doc",
        "characters",
        "of a passage that are sent; what is shown is whole",
        between(50, 100_000, int),
    ),
    Setting(
        "rerank_threshold",
        "score",
        "passages that the reranker scores lower come after all others; none by default, for scales differ",
        between(-1e9, 1e9, float),
    ),
    Setting(
        "rerank_timeout", "seconds", "longest wait for the reranker, within the call's own", between(0.1, 60, float)
    ),
    Setting(
        "embed_url",
        "URL",
        "address of a /v1/embeddings API whose order is fused in; none is asked by default",
        parsers.api_url,
    ),
    Setting("embed_model", "name", "model that embeds; some servers have only one", str),
    Setting("embed_key", "text", "sent as a bearer token; shown nowhere", parsers.header_text, True),
    Setting("embed_max_docs", "passages", "the best by lexical score that are embedded", between(1, 100_000, int)),
    Setting("embed_batch", "texts", "texts in one request; some servers take fewer", between(1, 10_000, int)),
    Setting("embed_query_prefix", "text", "what the model wants before a query, such as `query:`", str),
    Setting("embed_text_prefix", "text", "what the model wants before a passage, such as `passage:`", str),
    Setting(
        "embed_timeout", "seconds", "longest wait for all embeddings, within the call's own", between(0.1, 60, float)
    ),
    Setting(
        "ttl_days",
        "days",
        "how long an artifact is kept after it was last read",
        between(0.001, 36_500, float),
    ),
    Setting(
        "store_max_bytes",
        "bytes",
        "size of the store; beyond it the least recently read artifacts go first",
        between(1_000_000, 2**50, int),
    ),
    Setting(
        "store",
        "address",
        "where artifacts are kept instead of a file in the home folder: `memory`, or `postgresql://…` for many servers",
        parsers.store_address,
        True,
    ),
    Setting(
        "store_connections",
        "connections",
        "most that one server holds to PostgreSQL at once for artifacts; shared limits take four more",
        between(1, 1_000, int),
    ),
    Setting(
        "allowed_hosts",
        "host:port,…",
        "what the Host header of HTTP requests may say; only loopback by default, and needed on any other address",
        parsers.names,
    ),
    Setting(
        "allowed_origins",
        "origins",
        "what the Origin header of HTTP requests may say where a browser sends one; only loopback by default",
        parsers.names,
    ),
    Setting("tokens_file", "path", "file of hashed bearer tokens, each a tenant's; see `keyhole tokens`", Path),
    Setting(
        "public_url", "URL", "address under which clients reach the server's /mcp, for OAuth metadata", parsers.http_url
    ),
    Setting("oauth_issuer", "URL", "OAuth 2.1 authorization server whose access tokens are taken", parsers.http_url),
    Setting("oauth_audience", "text", "the audience that tokens must name; by default the public URL", str),
    Setting("oauth_jwks_url", "URL", "where its keys are; by default as its metadata says", parsers.http_url),
    Setting("oauth_scopes", "names", "scopes that a token must have", parsers.scopes),
    Setting("oauth_tenant", "claim", "the claim of a token that names the tenant", str),
    Setting(
        "stateless",
        "on or off",
        "whether HTTP sessions are kept nowhere, so that any of many servers may answer any request",
        parsers.switch,
    ),
    Setting("calls_per_minute", "calls", "that one tenant may begin; more are refused", between(1, 1_000_000, int)),
    Setting("calls_at_once", "calls", "that one tenant may have under way; more are refused", between(1, 10_000, int)),
    Setting(
        "max_calls", "calls", "that the whole server has under way; more are refused at once", between(1, 10_000, int)
    ),
    Setting("max_request_bytes", "bytes", "of one HTTP request's body", between(10_000, 100_000_000, int)),
    Setting("drain_seconds", "seconds", "for calls under way when the server is told to stop", between(0, 600, float)),
    Setting(
        "metrics_token",
        "text",
        "bearer token that /metrics asks for; without it, /metrics is there only on loopback",
        parsers.key,
        True,
    ),
    Setting("log_format", "text or json", "how lines are logged to stderr", one_of("text", "json")),
    Setting("log_level", "name", "what is logged to stderr", one_of("DEBUG", "INFO", "WARNING", "ERROR")),
)
