"""Resolve host names in daemon threads, so that a hanging resolver blocks neither the event loop nor the exit."""

from __future__ import annotations

import asyncio
import socket
from threading import Thread
from typing import Any

Answers = list[tuple[Any, ...]]
"""Addresses as `socket.getaddrinfo` returns them, in the resolver's order."""


async def look_up(host: str, port: int) -> Answers:
    """Return the addresses of a name. Raises socket.gaierror and UnicodeError as `socket.getaddrinfo` does.

    The resolver cannot be cancelled and may hang for minutes. The process waits at exit for the threads of the event
    loop's own `getaddrinfo`, but not for a daemon thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Answers] = loop.create_future()

    def set_result(answers: Answers, error: Exception | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(answers)

    def resolve() -> None:
        answers: Answers = []
        failure: Exception | None = None
        try:
            answers = list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(set_result, answers, failure)

    Thread(target=resolve, name=f"resolve {host}", daemon=True).start()
    return await future
