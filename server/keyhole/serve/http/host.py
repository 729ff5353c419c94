"""The port that serves applications over HTTP. The extension `hosted` implements it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from keyhole.serve.http.asgi import App
from keyhole.serve.tenants_loader import BuildTenants


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
