"""Translate between the two eras of the protocol: the older one with a handshake, and the modern one without.

Until 2025-11-25 a connection begins with `initialize`. From 2026-07-28 on each request has the version and the client
in its `_meta`, and each result says that it is complete and how long it may be cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from keyhole._version import __version__
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.messages import Message, error_response

Era = Literal["handshake", "modern"]

ENVELOPE: Final = (
    PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY
)  # fmt: skip
"""The keys of `_meta` that only requests of the modern era have."""
CACHEABLE: Final = frozenset(
    {"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}
)
"""Methods whose results say in the modern era how long they may be cached."""
NOT_CACHED: Final[Mapping[str, Any]] = {"ttlMs": 0, "cacheScope": "private"}
"""The caching fields of a result that must not be cached."""
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
"""The key in a notification's `_meta` for the id of the request that subscribed to it."""
_COMPLETE: Final = "complete"
PROXY_INFO: Final[Mapping[str, Any]] = {"name": "keyhole-proxy", "version": __version__}
PROXY_META: Final[Mapping[str, Any]] = {SERVER_INFO_META_KEY: PROXY_INFO}
"""The `_meta` of a result of `server/discover`."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """The client's version, name and capabilities, as it has stated them."""

    era: Era = "handshake"
    version: str = ""
    info: Mapping[str, Any] = field(default_factory=lambda: PROXY_INFO)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    log_level: str = ""
    initialize: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of its `initialize`, empty for a client of the modern era."""

    def params(self) -> Mapping[str, Any]:
        """Return the parameters of `initialize` for a server.

        A client of the modern era takes no requests of servers, so the server learns of no capability.
        """
        general = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": self.info}
        return {**general, **self.initialize}

    @property
    def modern_version(self) -> str:
        """Return the protocol version for requests to servers of the modern era."""
        return self.version if self.era == "modern" else LATEST_MODERN_VERSION

    def envelope(self) -> dict[str, Any]:
        """Return the `_meta` of a request for a server of the modern era."""
        capabilities = self.capabilities if self.era == "modern" else {}
        level = {LOG_LEVEL_META_KEY: self.log_level} if self.log_level else {}
        return {
            PROTOCOL_VERSION_META_KEY: self.modern_version,
            CLIENT_INFO_META_KEY: self.info,
            CLIENT_CAPABILITIES_META_KEY: capabilities,
            **level,
        }


def version_of(message: Message, agreed: str = "") -> str:
    """Return the protocol version of a message: that of its `_meta`, else the one that `initialize` agreed on."""
    return str(_meta(message).get(PROTOCOL_VERSION_META_KEY) or agreed)


def is_modern(version: str) -> bool:
    """Return whether a version is of the modern era, which has no sessions. An unknown version counts as modern."""
    return version not in ("", *HANDSHAKE_PROTOCOL_VERSIONS)


def handshake_version(chosen: Iterable[str], client: Introduction) -> str:
    """Return the version for a client of the handshake era: the oldest that a server has chosen, else its own."""
    own = client.version if client.version in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    return min(chosen, default=own)


def modern_versions(supported: Sequence[Sequence[str]]) -> list[str]:
    """Return the versions for a client of the modern era: those that all servers of that era support."""
    common = [version for version in supported[0] if all(version in each for each in supported)] if supported else []
    return common or list(MODERN_PROTOCOL_VERSIONS)


def era_of(request: Message) -> Era:
    """Return the era of a request of the client."""
    return "modern" if request.method != "initialize" and is_modern(version_of(request)) else "handshake"


def introduction_of(request: Message, known: Introduction) -> Introduction:
    """Return the client's introduction, updated by a request. `known`: the introduction before the request."""
    params, meta = request.params, _meta(request)
    if request.method == "initialize":
        version = str(params.get("protocolVersion") or "")
        info = _object(params, "clientInfo") or PROXY_INFO
        return Introduction("handshake", version, info, _object(params, "capabilities"), initialize=params)
    if era_of(request) == "modern":
        info, capabilities = _object(meta, CLIENT_INFO_META_KEY), _object(meta, CLIENT_CAPABILITIES_META_KEY)
        level = str(meta.get(LOG_LEVEL_META_KEY) or known.log_level)
        return Introduction("modern", version_of(request), info or known.info, capabilities, level)
    return known


def request_for(era: Era, request: Message, client: Introduction) -> Message:
    """Return a request of the client, translated for a server of this era."""
    if era_of(request) == era:
        return request
    rest = {key: value for key, value in _meta(request).items() if key not in ENVELOPE}
    meta = {**rest, **client.envelope()} if era == "modern" else rest
    params = {**request.params, "_meta": meta} if meta else {**request.params}
    if not meta:
        params.pop("_meta", None)
    return request.with_data(params=params)


def answer_for(request: Message, answer: Message, server: str) -> Message:
    """Return a server's answer as the client expects it, by the era of its request.

    A client of the handshake era cannot be asked for the input that a modern result may require.
    """
    result = answer.result
    if result is None:
        return answer
    if era_of(request) == "modern":
        complete = complete_result(request.method, result)
        return answer if complete == result else answer.with_data(result=complete)
    if result.get("resultType", _COMPLETE) == _COMPLETE:
        return answer
    error = KeyholeError(Code.SERVER_FAULT, f"the server {server} asks for input, which this client cannot give")
    return error_response(answer.data["id"], error)


def complete_result(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with the fields that the modern era requires."""
    required = {"resultType": _COMPLETE, **(NOT_CACHED if method in CACHEABLE else {})}
    return {**result, **{name: value for name, value in required.items() if name not in result}}


def _meta(message: Message) -> Mapping[str, Any]:
    return _object(message.params, "_meta")


def _object(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}
