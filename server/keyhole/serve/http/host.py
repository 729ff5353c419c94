"""The ports of serving over HTTP: the server and its sign-in (extension `hosted`), and pages for people (`look`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, NamedTuple, Protocol

from mcp.server.auth.provider import AccessToken

from keyhole.config.config import Config
from keyhole.serve.http.asgi import App
from keyhole.serve.tenants_loader import BuildTenants, TenantsLoader

RETRY_AFTER: Final = "5"
"""Seconds until a client may retry while tokens cannot be verified; keys are not requested sooner."""
TOKEN_PATH: Final = "/oauth/token"  # noqa: S105 - a path
"""Path of the OAuth token endpoint of the proxy, whose requests are forms. A page can post a form to any site, but
without a code it gets no token."""
PAGES_PATH: Final = "/look"
"""Path of the pages that show a tenant's calls. They check Origin and method themselves."""

# Sessions. The SDK stores them.

HEADER: Final = b"mcp-session-id"
SESSION_IDLE_SECONDS: Final = 1_800.0
"""Seconds without a request or an open stream until a session ends. A client that pauses longer gets a 404 and starts a
new session, as the protocol requires."""


def find_session_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the session id in the headers, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name.lower() == HEADER), "")


# Ports.


class Verifier(Protocol):
    """A TokenVerifier of the SDK, which may also raise KeyholeError and can be closed."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the user of a token, or None if it is invalid. Raises KeyholeError if it cannot be verified now."""
        ...

    async def aclose(self) -> None:
        """Release resources."""
        ...


class HostedApp(NamedTuple):
    """An application that is served behind sign-in and limits."""

    app: App
    path: str
    """The path of its endpoint, for the message that says where it is served."""
    around: Callable[[App], App]
    """Returns an application that answers requests which need no sign-in, and hands all others to its argument."""
    close: Callable[[], Awaitable[None]]
    """Called at the end."""


class HttpHost(Protocol):
    """Serves over HTTP with sign-in, limits for each tenant and a graceful end.

    Both methods serve until SIGTERM or SIGINT and return the exit code. They raise KeyholeError (invalid_argument) if
    the settings are not safe for this host.
    """

    def serve(self, build: BuildTenants, host: str, port: int, processes: int) -> int:
        """Serve the tools, with several processes without sessions if `processes` is more than 1."""
        ...

    def serve_app(self, make: Callable[[bool], HostedApp], host: str, port: int) -> int:
        """Serve an application. `make` returns it; its argument says whether callers sign in with tokens of the host's
        settings."""
        ...


class HostedPages(Protocol):
    """Shows to people, on an HTTP server, what agents read. The extension `look` implements it."""

    def hosted_pages(
        self, config: Config, tenants: TenantsLoader, names: Callable[[], Iterable[str]]
    ) -> Callable[[Verifier], App]:
        """Return a function that builds the pages of an HTTP server around its verifier.

        `names`: returns the known names of tenants.
        """
        ...
