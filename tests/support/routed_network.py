"""Give a real program name lookups and routes of a test, and record every connection that it asks for.

A program under it reaches only servers of the test: any other connection is recorded and refused, so that a faulty
check cannot reach anything. It must be Python, and must connect by `socket`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_SITE: Final = """
import json, os, socket

settings = json.load(open(os.environ["ROUTES"]))
look_up, connect, counts = socket.getaddrinfo, socket.socket.connect, {}


def getaddrinfo(host, port, *others, **named):
    name = host.decode() if isinstance(host, bytes) else host
    if name not in settings["names"]:
        return look_up(host, port, *others, **{**named, "flags": socket.AI_NUMERICHOST})
    answers, number = settings["names"][name], counts.get(name, 0)
    counts[name] = number + 1
    return [
        (family, socket.SOCK_STREAM, 6, "", (address, port) if family == socket.AF_INET else (address, port, 0, 0))
        for address in answers[min(number, len(answers) - 1)]
        for family in [socket.AF_INET6 if ":" in address else socket.AF_INET]
    ]


def route(connection, address):
    if not isinstance(address, tuple):
        return connect(connection, address)
    with open(settings["log"], "a") as log:
        print(json.dumps(address[:2]), file=log)
    port = settings["routes"].get(f"{address[0]}:{address[1]}")
    if port is None:
        raise ConnectionRefusedError("no route")
    return connect(connection, ("127.0.0.1", port))


socket.getaddrinfo, socket.socket.connect = getaddrinfo, route
if settings["authority"]:
    import certifi

    certifi.where = lambda: settings["authority"]
"""


class RoutedNetwork:
    """The network of a program."""

    def __init__(
        self,
        folder: Path,
        names: Mapping[str, Sequence[Sequence[str]]],
        routes: Mapping[str, int],
        authority: Path | None = None,
    ) -> None:
        """Write the files of the network into a folder.

        `names`: the addresses of each name, for its first lookup and each later one; the last ones are repeated.
        `routes`: the loopback port of each `address:port` that can be reached. `authority`: certificates to trust.
        """
        self._log = folder / "connects.jsonl"
        self._log.touch()
        (folder / "sitecustomize.py").write_text(_SITE)
        settings = {
            "names": names, "routes": routes, "log": str(self._log), "authority": str(authority) if authority else "",
        }  # fmt: skip
        (folder / "routes.json").write_text(json.dumps(settings))
        self.environment = {"PYTHONPATH": str(folder), "ROUTES": str(folder / "routes.json")}

    def connects(self) -> set[str]:
        """Return each `address:port` that the program has asked to connect to, whether it was reached or not."""
        return {f"{host}:{port}" for host, port in map(json.loads, self._log.read_text().splitlines())}
