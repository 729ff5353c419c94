"""Run one server for limits.py: the real product behind admission, with host limits that apply to loopback too.

Settings come from the environment, a token is its tenant's name, and the server prints its port on stdout.
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

from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.extensions.hosted.admission import AdmissionMiddleware
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.fetch.client import HttpFetcher
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.tenants import Tenants
from keyhole.serve.tools import build_server
from keyhole.store.open import LocalStores
from keyhole.websearch.panel import Panel


class Tokens:
    """Verifier for which a token is its tenant's name."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Accept every token."""
        return AccessToken(token=token, client_id=token, scopes=[])


def build_product(config: Config) -> Tenants:
    """Build the product as the command line does, except that host limits apply to loopback too."""
    network = HttpFetcher(config, "Keyhole/benchmark", unlimited=frozenset())
    return Tenants(config, network, LocalStores(config), lambda: Panel(()), time.time, WorkerPool(config))


async def serve(config: Config, listener: socket.socket) -> None:
    """Serve until uvicorn receives a signal to stop."""
    tenants = build_product(config)

    async def get_retrieval(tenant: str) -> Retrieval:
        return tenants.of(tenant)

    app = build_server(get_retrieval).streamable_http_app(stateless_http=True)
    layer = AdmissionMiddleware(app, config)
    outer = AuthenticationMiddleware(layer, backend=BearerAuthBackend(Tokens()))
    server = uvicorn.Server(
        uvicorn.Config(outer, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2)
    )
    try:
        await server.serve(sockets=[listener])
    finally:
        await tenants.aclose()


def main() -> None:
    """Listen, print the port, and serve."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_024)
        print(listener.getsockname()[1], flush=True)
        asyncio.run(serve(parse_config(os.environ), listener))


if __name__ == "__main__":
    main()
