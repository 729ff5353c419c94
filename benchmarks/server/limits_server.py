"""One server for limits.py: admission over the real product, loopback sites treated as strangers, a token is a tenant.

Settings come from the environment; the port is the only line on stdout.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from starlette.middleware.authentication import AuthenticationMiddleware

from keyhole.config.config import Config, load
from keyhole.extract.workers.pool import WorkerPool
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.host_limits import Manners
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.http.limits.admission import Admission
from keyhole.serve.http.limits.shared.open import shared_calls, shared_hosts
from keyhole.serve.tools import build_server
from keyhole.store.open import LocalStores
from keyhole.websearch.panel import Panel


class Tokens:
    """A token is its tenant's name."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Always valid."""
        return AccessToken(token=token, client_id=token, scopes=[])


def product(config: Config) -> Tenants:
    """As the command line builds it, but for what is the operator's own: nothing is, so that manners hold."""
    manners = Manners(others=shared_hosts(config))
    network = HttpFetcher(config, "Keyhole/benchmark", manners=manners, own=frozenset())
    return Tenants(config, network, LocalStores(config), Panel(()), time.time, WorkerPool(config))


async def serve(config: Config, listener: socket.socket) -> None:
    """Serve until told to stop."""
    tenants = product(config)

    async def of(tenant: str) -> Retrieval:
        return tenants.of(tenant)

    app = build_server(of).streamable_http_app(stateless_http=True)
    layer = Admission(app, config, shared_calls(config))
    outer = AuthenticationMiddleware(layer, backend=BearerAuthBackend(Tokens()))
    server = uvicorn.Server(
        uvicorn.Config(outer, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2)
    )
    try:
        await server.serve(sockets=[listener])
    finally:
        await tenants.aclose()


def main() -> None:
    """Listen, say where, serve."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_024)
        print(listener.getsockname()[1], flush=True)
        asyncio.run(serve(load(os.environ), listener))


if __name__ == "__main__":
    main()
