"""Run Keyhole over stdio in a network in which the names of public hosts lead to servers on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from mcp import Client, StdioServerParameters

from tests.support.routed_network import RoutedNetwork

SERVER: Final = Path(__file__).resolve().parents[2] / "server"


@asynccontextmanager
async def routed_client(folder: Path, names: Mapping[str, str], ports: Mapping[int, int]) -> AsyncIterator[Client]:
    """Yield a client of a server with an empty store in `folder`, which also has `certificate.pem`, to be trusted.

    `names`: a public address of each host. `ports`: the loopback port that each port of these addresses leads to.
    """
    routes = {f"{address}:{port}": local for address in names.values() for port, local in ports.items()}
    addresses = {name: [[address]] for name, address in names.items()}
    network = RoutedNetwork(folder, addresses, routes, folder / "certificate.pem")
    environment = {**os.environ, **network.environment, "KEYHOLE_HOME": str(folder / "home")}
    environment["PYTHONPATH"] = f"{network.environment['PYTHONPATH']}:{SERVER}"
    server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    async with Client(server) as client:
        yield client
