"""Serve the OAuth metadata of the server behind the proxy, and hand sign-ins on to its authorization server."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    issuers_match,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from keyhole.errors import KeyholeError
from keyhole.extensions.proxy import sign_in
from keyhole.extensions.proxy.http_app import PATH
from keyhole.extensions.proxy.sign_in import AUTHORIZE_PATH, RESOURCE_METADATA, SERVER_METADATA, Front
from keyhole.extensions.proxy.sign_in_client import SignInClient
from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, read_body, refuse, send_body, send_json
from keyhole.serve.http.host_check import TOKEN_PATH, is_secure_url
from keyhole.text.parse_json import parse_json

log = logging.getLogger(__name__)

FRESH_SECONDS: Final = 300.0
"""Seconds for which the metadata is kept: a sign-in, which needs it four times, takes seconds or minutes."""
MAX_FORM_BYTES: Final = 64_000
"""Bytes of a request for a token, which has a code or a token and some names."""
_NO_METADATA: Final = Refusal(404, "not_found", "the server behind the proxy has no OAuth metadata")
_TOO_LARGE: Final = Refusal(413, "request_too_large", f"a request for a token has at most {MAX_FORM_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class Found:
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
        return server if server is not None and sign_in.is_replaceable(server) else None


class SignIn:
    """The sign-in of the proxy's clients at the server behind it."""

    def __init__(self, url: str, client: SignInClient, public_url: str = "") -> None:
        """`url`: that of the server. `public_url`: that of the proxy, "" for the one that clients call."""
        self._url = url
        self._client = client
        self._public_url = public_url
        self._named = ""
        """The URL of the server's metadata, as its last refusal named it."""
        self._found: Found | None = None
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
        named = sign_in.named_metadata(challenge)
        if named and named != self._named:
            self._named, self._found = named, None
        return sign_in.rewrite_challenge(challenge, self._front(scope))

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

    async def _send_metadata(self, path: str, found: Found, scope: Scope, send: Send) -> None:
        front, server = self._front(scope), found.replaced
        if path.startswith(RESOURCE_METADATA) and found.metadata is not None:
            await send_json(send, 200, sign_in.resource_metadata(found.metadata, front, replaced=server is not None))
        elif path.startswith(SERVER_METADATA) and server is not None:
            await send_json(send, 200, sign_in.server_metadata(server, front))
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
        content = sign_in.with_resource(form.decode("latin-1"), resource).encode()
        reply = await self._client.post(server["token_endpoint"], _token_headers(scope), content)
        kind = reply.content_type or "application/json"
        await send_body(send, reply.status, reply.body, (("content-type", kind), ("cache-control", "no-store")))

    async def _find(self) -> Found:
        """Return the metadata of the server. Raises ValueError if it is for another server, or KeyholeError."""
        if self._found is None or time.monotonic() > self._found_at + FRESH_SECONDS:
            self._found, self._found_at = await self._discover(), time.monotonic()
        return self._found

    async def _discover(self) -> Found:
        urls = build_protected_resource_metadata_discovery_urls(self._named or None, self._url)
        metadata = await self._first(urls)
        own = resource_url_from_server_url(self._url.partition("?")[0])
        resource = str((metadata or {}).get("resource") or own)
        if not check_resource_allowed(own, resource):  # tokens for another server would be sent to this one
            raise ValueError(f"the metadata of the server is that of another, {urlsplit(resource).netloc}")
        issuer = next(iter(sign_in.named_issuers(metadata or {})), "")
        server = await self._first(build_oauth_authorization_server_metadata_discovery_urls(issuer or None, self._url))
        if server is not None and issuer and not issuers_match(str(server.get("issuer")), issuer):
            raise ValueError("the metadata of the authorization server is that of another")
        for name, address in sign_in.addresses(server or {}).items():
            if not is_secure_url(address):
                raise ValueError(f"the {name} is neither https nor on loopback")
            await self._client.check(address)
        return Found(resource, metadata, server)

    async def _first(self, urls: list[str]) -> Mapping[str, Any] | None:
        """Return the first of the documents that exists, None if there is none."""
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
    location = f"{endpoint}{'&' if '?' in endpoint else '?'}{sign_in.with_resource(query.decode('latin-1'), resource)}"
    await send_body(send, 302, b"", (("location", location), ("cache-control", "no-store")))
