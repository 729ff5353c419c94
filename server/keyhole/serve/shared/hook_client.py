"""Let a running shared server answer a hook's event: it has loaded what a hook would have to import first."""

from __future__ import annotations

import _socket  # the module below `socket`, whose import takes 5 ms

from keyhole.serve.shared.address import find_address, is_own_user

TYPE_CHECKING = False  # type checkers read it as True; a hook has no time for the import of `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

SECONDS: Final = 3.0
"""Seconds to wait for a server. Clients wait 10 s for a hook, which then has to do the work itself."""
CHUNK: Final = 262_144
"""Bytes of one read: more than an answer has."""
GREETING: Final = b"hook"
"""The first word of a hook's connection. The client, the budget and the identity follow on the line, then the event."""
ANSWERED: Final = b"+"
"""The first byte of an answer, which may be empty otherwise."""


def ask_server(data: bytes, client: str, budget: int, environment: Mapping[str, str]) -> bytes | None:
    """Return the answer of the shared server of these settings to an event, None if there is none."""
    address = find_address(environment)
    if address is None:
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(SECONDS)
        connection.connect(address.socket)
        if not is_own_user(connection):
            return None
        connection.sendall(b" ".join((GREETING, client.encode(), b"%d" % budget, address.identity.encode())) + b"\n")
        connection.sendall(data)
        connection.shutdown(_socket.SHUT_WR)
        answer = b""
        while part := connection.recv(CHUNK):
            answer += part
    except OSError:
        return None
    finally:
        connection.close()
    return answer[1:] if answer.startswith(ANSWERED) else None
