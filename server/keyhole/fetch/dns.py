"""Asks the system's resolver without ever being held up by it. Checks nothing."""

from __future__ import annotations

import asyncio
import socket
from threading import Thread
from typing import Any

Answers = list[tuple[Any, ...]]
"""As `socket.getaddrinfo` gives them, in the resolver's order."""


async def look_up(host: str, port: int) -> Answers:
    """The addresses of a name. Raises socket.gaierror and UnicodeError as `socket.getaddrinfo` does.

    The resolver cannot be cancelled and may hang for minutes. The event loop's own `getaddrinfo` runs it in a pool
    whose threads are waited for when the process ends; a daemon thread is not.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Answers] = loop.create_future()

    def tell(answers: Answers, error: Exception | None) -> None:
        if found.cancelled():
            return
        if error is not None:
            found.set_exception(error)
        else:
            found.set_result(answers)

    def ask() -> None:
        answers: Answers = []
        failure: Exception | None = None
        try:
            answers = list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, answers, failure)

    Thread(target=ask, name=f"resolve {host}", daemon=True).start()
    return await found
