"""Serve the OAuth metadata of the server behind the proxy, and hand sign-ins on to its authorization server."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    issuers_match,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from keyhole.serve.http.asgi import App, Receive, Refusal, Scope, Send, read_body, refuse, send_body, send_json
from keyhole.serve.http.auth.jwks import is_secure_url
from keyhole.serve.http.host_check import TOKEN_PATH
from keyhole.serve.proxy import sign_in
from keyhole.serve.proxy.http_app import PATH
from keyhole.serve.proxy.sign_in import AUTHORIZE_PATH, RESOURCE_METADATA, SERVER_METADATA, Front

log = logging.getLogger(__name__)

SECONDS: Final = 20.0
"""Seconds for an answer of the authorization server."""
FRESH_SECONDS: Final = 300.0
"""Seconds for which the metadata is kept: a sign-in, which needs it four times, takes seconds or minutes."""
MAX_BYTES: Final = 1_000_000
"""Bytes of an answer; metadata and tokens have some thousand."""
MAX_FORM_BYTES: Final = 64_000
"""Bytes of a request for a token, which has a code or a token and some names."""
_TOKEN_HEADERS: Final = frozenset({b"content-type", b"authorization", b"accept"})
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


class SignIn:
    """The sign-in of the proxy's clients at the server behind it."""

    def __init__(self, url: str, public_url: str = "") -> None:
        """`url`: that of the server. `public_url`: that of the proxy, "" for the one that clients call."""
        self._url = url
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
            elif found.authorization_server is None:
                await refuse(send, _NO_METADATA)
            elif path == AUTHORIZE_PATH and scope["method"] == "GET":
                await _redirect(found.authorization_server, found.resource, scope["query_string"], send)
            elif path == TOKEN_PATH and scope["method"] == "POST":
                await self._exchange(found.authorization_server, found.resource, scope, receive, send)
            else:
                await refuse(send, Refusal(404, "not_found", "no such step of a sign-in"))
        except (httpx2.HTTPError, ValueError) as error:
            reason = str(error) if isinstance(error, ValueError) else type(error).__name__
            log.warning("a sign-in at %s failed: %s", path, reason)
            await refuse(send, Refusal(502, "sign_in_failed", f"the sign-in cannot be handed on: {reason}"[:300]))

    async def _send_metadata(self, path: str, found: Found, scope: Scope, send: Send) -> None:
        front, server = self._front(scope), found.authorization_server
        replaced = server is not None and sign_in.is_replaceable(server)
        if path.startswith(RESOURCE_METADATA) and found.metadata is not None:
            await send_json(send, 200, sign_in.resource_metadata(found.metadata, front, replaced=replaced))
        elif path.startswith(SERVER_METADATA) and server is not None and replaced:
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
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _TOKEN_HEADERS}
        content = sign_in.with_resource(form.decode("latin-1"), resource)
        status, kind, body = await _fetch("POST", server["token_endpoint"], headers, content)
        await send_body(send, status, body, (("content-type", kind), ("cache-control", "no-store")))

    async def _find(self) -> Found:
        """Return the metadata of the server. Raises ValueError if it is for another server, or httpx2.HTTPError."""
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
        issuers = (metadata or {}).get("authorization_servers")
        issuer = str(issuers[0]) if isinstance(issuers, list) and issuers else ""
        server = await self._first(build_oauth_authorization_server_metadata_discovery_urls(issuer or None, self._url))
        if server is not None and issuer and not issuers_match(str(server.get("issuer")), issuer):
            raise ValueError("the metadata of the authorization server is that of another")
        for name in ("authorization_endpoint", "token_endpoint"):
            if server is not None and not is_secure_url(str(server.get(name))):
                raise ValueError(f"the {name} is neither https nor on loopback")
        return Found(resource, metadata, server)

    async def _first(self, urls: list[str]) -> Mapping[str, Any] | None:
        """Return the first of the documents that exists, None if there is none."""
        for url in filter(is_secure_url, urls):
            status, _, body = await _fetch("GET", url, {"accept": "application/json"})
            if status == 200 and isinstance(value := json.loads(body), dict):
                return value
            if status >= 500:
                raise ValueError(f"{urlsplit(url).netloc} answered with HTTP status {status}")
        return None


async def _fetch(method: str, url: str, headers: Mapping[str, str], content: str = "") -> tuple[int, str, bytes]:
    """Return the status, the content type and the body of an answer."""
    # A client for each request, so that no cookie of one user is sent with the request of another.
    async with (
        httpx2.AsyncClient(timeout=SECONDS) as client,
        client.stream(method, url, headers=headers, content=content or None) as response,
    ):
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise ValueError(f"the answer of {response.url.host} has more than {MAX_BYTES:,} bytes")
        return response.status_code, response.headers.get("content-type", "application/json"), body


async def _redirect(server: Mapping[str, Any], resource: str, query: bytes, send: Send) -> None:
    """Send a browser to the authorization server."""
    endpoint = server["authorization_endpoint"]
    location = f"{endpoint}{'&' if '?' in endpoint else '?'}{sign_in.with_resource(query.decode('latin-1'), resource)}"
    await send_body(send, 302, b"", (("location", location), ("cache-control", "no-store")))
