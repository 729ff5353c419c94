"""Set the security headers of every response: nothing is loaded from elsewhere, framed or kept in a cache."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from starlette.datastructures import MutableHeaders

from keyhole.serve.http.asgi import App, Message, Receive, Scope, Send

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The content security policy: only this server's own style and script, no inline style or script."""
HEADERS: Final = MappingProxyType(
    {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        # Other sites get no referrer. `no-referrer` would make browsers send `Origin: null` with the page's own forms.
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), clipboard-read=()",
    }
)


def add_headers(app: App) -> App:
    """Return `app` with `HEADERS` added to every response. Headers that the response sets itself are kept."""

    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await app(scope, receive, send_with_headers)

    return middleware
