"""Rewrite the documents and forms of an OAuth sign-in: a client of the proxy gets tokens for the server behind it.

A client accepts the metadata of a resource only under the URL that it calls itself, here that of the proxy (RFC 9728,
section 3.3), and it asks for tokens for this URL. The server accepts only tokens for its own URL. So the proxy names
itself as the authorization server, hands the two requests with a `resource` (RFC 8707) on to the real one, and replaces
the URL in them. Codes and tokens are those of the real one.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    issuers_match,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from keyhole.config.config import Config, build_user_agent
from keyhole.errors import KeyholeError
from keyhole.extensions.proxy.http_app import PATH
from keyhole.fetch.addresses import check_domain, is_private
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.urls import DEFAULT_PORTS, Target, parse_target
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, read_body, refuse, send_body, send_json
from keyhole.serve.http.host import TOKEN_PATH
from keyhole.serve.http.origins import is_secure_url
from keyhole.text.parse_json import parse_json

log = logging.getLogger(__name__)

# Documents and forms: the URL of the proxy takes the place of the server's, and the other way round.

AUTHORIZE_PATH: Final = "/oauth/authorize"
RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
SERVER_METADATA: Final = "/.well-known/oauth-authorization-server"
_METADATA_PARAMETER: Final = re.compile(r'(\bresource_metadata\s*=\s*)("(?:[^"\\]|\\.)*"|[^\s,]+)', re.IGNORECASE)
_UNSUPPORTED: Final = frozenset(
    {
        "signed_metadata",
        "pushed_authorization_request_endpoint",
        "device_authorization_endpoint",
        "backchannel_authentication_endpoint",
        "mtls_endpoint_aliases",
    }
)
"""Metadata that would lead a client past the proxy, so that it would ask for a token for the proxy's URL."""


_SECRETS: Final = frozenset(
    f"{name}_endpoint" for name in ("authorization", "token", "registration", "introspection", "revocation")
)
"""The endpoints that issue or receive codes, tokens and passwords of clients."""


@dataclass(frozen=True, slots=True)
class Front:
    """The URL under which a client calls the proxy."""

    resource: str

    @property
    def origin(self) -> str:
        """The URL without its path, which is also the name of the proxy as an authorization server."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def metadata_url(self) -> str:
        """The URL of the metadata of the resource."""
        return f"{self.origin}{RESOURCE_METADATA}{urlsplit(self.resource).path}"


def rewrite_challenge(challenge: str, front: Front) -> str:
    """Return the `WWW-Authenticate` of a server with the URL of the proxy's metadata instead of the server's own."""
    own = f'resource_metadata="{front.metadata_url}"'
    return _METADATA_PARAMETER.sub(own, challenge) if challenge else f"Bearer {own}"


def named_metadata(challenge: str) -> str:
    """Return the URL of the metadata that a `WWW-Authenticate` names, or ""."""
    found = _METADATA_PARAMETER.search(challenge)
    return found[2].strip('"') if found else ""


def named_issuers(resource: Mapping[str, Any]) -> list[str]:
    """Return the first authorization server in the metadata of a resource, [] if there is none. The proxy uses it."""
    named = resource.get("authorization_servers")
    return [str(each) for each in named[:1]] if isinstance(named, list) else []


def is_replaceable(server: Mapping[str, Any]) -> bool:
    """Return whether the proxy can stand in front of an authorization server.

    It cannot if the server's answers name the server itself (`iss`, RFC 9207), because a client compares this name with
    that of the metadata, or if the requests for codes must be made in advance (RFC 9126). It does not if the endpoints
    have several origins, because one of them would get a code or a password that another has issued (RFC 9700, 4.4).
    """
    has_endpoints = all(isinstance(server.get(f"{name}_endpoint"), str) for name in ("authorization", "token"))
    origins = {_origin(url) for name, url in addresses(server).items() if name in _SECRETS}
    return (
        has_endpoints
        and len(origins) == 1
        and not server.get("authorization_response_iss_parameter_supported")
        and not server.get("require_pushed_authorization_requests")
    )


def addresses(server: Mapping[str, Any]) -> dict[str, str]:
    """Return the addresses in the metadata of an authorization server to which clients send requests, by name."""
    return {
        name: url
        for name, url in server.items()
        if isinstance(url, str) and (name.endswith("_endpoint") or name == "jwks_uri")
    }


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def resource_metadata(found: Mapping[str, Any], front: Front, *, replaced: bool) -> dict[str, Any]:
    """Return the metadata of a server as that of the proxy.

    `replaced`: True to name the proxy as the authorization server.
    """
    kept = {name: value for name, value in found.items() if name not in ("signed_metadata", "authorization_servers")}
    servers = [front.origin] if replaced else named_issuers(found)
    return {**kept, "resource": front.resource, **({"authorization_servers": servers} if servers else {})}


def server_metadata(found: Mapping[str, Any], front: Front) -> dict[str, Any]:
    """Return the metadata of an authorization server as that of the proxy."""
    kept = {name: value for name, value in found.items() if name not in _UNSUPPORTED}
    return {
        **kept,
        "issuer": front.origin,
        "authorization_endpoint": front.origin + AUTHORIZE_PATH,
        "token_endpoint": front.origin + TOKEN_PATH,
    }


def with_resource(form: str, resource: str) -> str:
    """Return the fields of a form or query with this URL as the value of each `resource`."""
    fields = parse_qsl(form, keep_blank_values=True)
    return urlencode([(name, resource if name == "resource" else value) for name, value in fields])


# Requests: they follow the address rules of all fetches.
#
# A server and its authorization server name the addresses, so each of them could name one inside the network. Two rules
# follow from the server's own URL, which the user configured: a server on loopback may name other addresses on
# loopback, and a server at a private address or name may name its own host and port. `KEYHOLE_ALLOW_PRIVATE` allows
# others.

MAX_BYTES: Final = 1_000_000
"""The most bytes of an answer. Metadata and tokens have some thousand."""


class SignInClient:
    """Sends requests for the sign-in at one server. Redirects are not followed, and no cookie is kept."""

    def __init__(self, config: Config, url: str) -> None:
        """`url`: the URL of the server behind the proxy."""
        server = urlsplit(url)
        self._host = (server.hostname or "").lower()
        port = server.port or DEFAULT_PORTS.get(server.scheme, 443)
        self._endpoint = f"{self._host}:{port}"
        self._config = replace(config, max_bytes=MAX_BYTES, ports=frozenset(config.ports) | {port})

    async def get(self, url: str) -> ApiReply:
        """Return the answer to a GET request. Raises KeyholeError."""
        return await self._send(ApiCall(url))

    async def post(self, url: str, headers: Mapping[str, str], content: bytes) -> ApiReply:
        """Return the answer to a POST request. Raises KeyholeError."""
        return await self._send(ApiCall(url, tuple(headers.items()), content))

    async def check(self, url: str) -> None:
        """Raise KeyholeError if the sign-in may not connect to this URL. No connection is made."""
        target = parse_target(url)
        config = self._config
        check_domain(target.host, frozenset(), config.deny_domains)
        allowed = config.allow_private | self._exempt(target)
        await CheckedBackend(allowed.__contains__, config.ports, deny=config.deny_domains).find_addresses(
            target.host, target.port
        )

    async def _send(self, call: ApiCall) -> ApiReply:
        # A fetcher for each request, so that no connection of one user serves another.
        exempt = self._exempt(parse_target(call.url))
        async with HttpFetcher(self._config, build_user_agent(self._config), apis=exempt) as fetcher:
            return await fetcher.send(call)

    def _exempt(self, target: Target) -> frozenset[str]:
        """Return the endpoint of a URL if the server may name it although it is private, else an empty set."""
        if is_loopback(self._host):
            return frozenset({target.endpoint}) if is_loopback(target.host) else frozenset()
        is_own = target.endpoint == self._endpoint and is_private(self._host)
        return frozenset({target.endpoint}) if is_own else frozenset()


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address or `localhost`. Other names are not resolved."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# The application: it serves the metadata and hands sign-ins on to the authorization server.

FRESH_SECONDS: Final = 300.0
"""Seconds for which the metadata is kept: a sign-in, which needs it four times, takes seconds or minutes."""
MAX_FORM_BYTES: Final = 64_000
"""The most bytes of a request for a token, which contains a code or a token and some names."""
_NO_METADATA: Final = Refusal(404, "not_found", "the server behind the proxy has no OAuth metadata")
_TOO_LARGE: Final = Refusal(413, "request_too_large", f"a request for a token has at most {MAX_FORM_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """The metadata of the server behind the proxy."""

    resource: str
    """The URL for which the server accepts tokens."""
    metadata: Mapping[str, Any] | None
    """None if the server has no metadata of its own, as before 2025-06-18."""
    authorization_server: Mapping[str, Any] | None

    @property
    def replaced(self) -> Mapping[str, Any] | None:
        """The metadata of the authorization server if the proxy can stand in front of it."""
        server = self.authorization_server
        return server if server is not None and is_replaceable(server) else None


class SignIn:
    """The sign-in of the proxy's clients at the server behind it."""

    def __init__(self, url: str, client: SignInClient, public_url: str = "") -> None:
        """`url`: the URL of the server. `public_url`: the URL of the proxy, "" for the URL that clients call."""
        self._url = url
        self._client = client
        self._public_url = public_url
        self._named = ""
        """The URL of the server's metadata, as its last refusal named it."""
        self._found: ServerMetadata | None = None
        self._found_at = 0.0

    def around(self, app: App) -> App:
        """Return an application that answers the requests of a sign-in and hands all others on."""

        async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
            path = scope.get("path", "")
            if scope["type"] == "http" and path.startswith((RESOURCE_METADATA, SERVER_METADATA, "/oauth/")):
                await self._answer(path, scope, receive, send)
            else:
                await app(scope, receive, send)

        return middleware

    def challenge(self, scope: Scope, challenge: str) -> str:
        """Return the `WWW-Authenticate` of the server for the client that sent a request."""
        named = named_metadata(challenge)
        if named and named != self._named:
            self._named, self._found = named, None
        return rewrite_challenge(challenge, self._front(scope))

    def _front(self, scope: Scope) -> Front:
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        return Front(self._public_url or f"{scope['scheme']}://{host}{PATH}")

    async def _answer(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            found = await self._find()
            if path.startswith((RESOURCE_METADATA, SERVER_METADATA)):
                await self._send_metadata(path, found, scope, send)
            elif (server := found.replaced) is None:
                await refuse(send, _NO_METADATA)
            elif path == AUTHORIZE_PATH and scope["method"] == "GET":
                await _redirect(server, found.resource, scope["query_string"], send)
            elif path == TOKEN_PATH and scope["method"] == "POST":
                await self._exchange(server, found.resource, scope, receive, send)
            else:
                await refuse(send, Refusal(404, "not_found", "no such step of a sign-in"))
        except (KeyholeError, ValueError) as error:
            reason = error.message if isinstance(error, KeyholeError) else str(error)
            log.warning("a sign-in at %s failed: %s", path, reason)
            await refuse(send, Refusal(502, "sign_in_failed", f"the sign-in cannot be handed on: {reason}"[:300]))

    async def _send_metadata(self, path: str, found: ServerMetadata, scope: Scope, send: Send) -> None:
        front, server = self._front(scope), found.replaced
        if path.startswith(RESOURCE_METADATA) and found.metadata is not None:
            await send_json(send, 200, resource_metadata(found.metadata, front, replaced=server is not None))
        elif path.startswith(SERVER_METADATA) and server is not None:
            await send_json(send, 200, server_metadata(server, front))
        else:
            await refuse(send, _NO_METADATA)

    async def _exchange(
        self, server: Mapping[str, Any], resource: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Hand a request for a token on to the authorization server, and its answer back."""
        form = await read_body(receive, MAX_FORM_BYTES)
        if form is None:
            await refuse(send, _TOO_LARGE)
            return
        content = with_resource(form.decode("latin-1"), resource).encode()
        reply = await self._client.post(server["token_endpoint"], _token_headers(scope), content)
        kind = reply.content_type or "application/json"
        await send_body(send, reply.status, reply.body, (("content-type", kind), ("cache-control", "no-store")))

    async def _find(self) -> ServerMetadata:
        """Return the metadata of the server. Raises KeyholeError, or ValueError for metadata of another server."""
        if self._found is None or time.monotonic() > self._found_at + FRESH_SECONDS:
            self._found, self._found_at = await self._discover(), time.monotonic()
        return self._found

    async def _discover(self) -> ServerMetadata:
        urls = build_protected_resource_metadata_discovery_urls(self._named or None, self._url)
        metadata = await self._first(urls)
        own = resource_url_from_server_url(self._url.partition("?")[0])
        resource = str((metadata or {}).get("resource") or own)
        if not check_resource_allowed(own, resource):  # tokens for another server would be sent to this one
            raise ValueError(f"the metadata of the server is that of another, {urlsplit(resource).netloc}")
        issuer = next(iter(named_issuers(metadata or {})), "")
        server = await self._first(build_oauth_authorization_server_metadata_discovery_urls(issuer or None, self._url))
        if server is not None and issuer and not issuers_match(str(server.get("issuer")), issuer):
            raise ValueError("the metadata of the authorization server is that of another")
        for name, address in addresses(server or {}).items():
            if not is_secure_url(address):
                raise ValueError(f"the {name} is neither https nor on loopback")
            await self._client.check(address)
        return ServerMetadata(resource, metadata, server)

    async def _first(self, urls: list[str]) -> Mapping[str, Any] | None:
        """Return the first document that exists, None if no URL has one."""
        for url in filter(is_secure_url, urls):
            reply = await self._client.get(url)
            if reply.status == 200 and isinstance(value := parse_json(reply.body), dict):
                return value
            if reply.status >= 500:
                raise ValueError(f"{urlsplit(url).netloc} answered with HTTP status {reply.status}")
        return None


def _token_headers(scope: Scope) -> dict[str, str]:
    """Return the headers of a request for a token that are handed on.

    Of `Authorization`, only a client's password is for the authorization server: a bearer token is for the server.
    """
    sent = {name: value.decode("latin-1") for name, value in scope["headers"]}
    headers = {
        "Accept": sent.get(b"accept", "application/json"),
        "Content-Type": sent.get(b"content-type", "application/x-www-form-urlencoded"),
    }
    password = sent.get(b"authorization", "")
    return {**headers, "Authorization": password} if password.lower().startswith("basic ") else headers


async def _redirect(server: Mapping[str, Any], resource: str, query: bytes, send: Send) -> None:
    """Send a browser to the authorization server."""
    endpoint = server["authorization_endpoint"]
    location = f"{endpoint}{'&' if '?' in endpoint else '?'}{with_resource(query.decode('latin-1'), resource)}"
    await send_body(send, 302, b"", (("location", location), ("cache-control", "no-store")))
