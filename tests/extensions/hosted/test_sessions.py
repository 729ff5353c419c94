"""Sessions are counted from the responses that open and end them."""

from __future__ import annotations

import asyncio
from typing import Any

from keyhole.extensions.hosted.admission import SessionCounts
from keyhole.serve.http.host import HEADER

ID = [(HEADER, b"a1")]


async def ignore(message: Any) -> None:
    """Take a message of the application and do nothing with it."""


def start(status: int, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": headers}


def request(method: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {"type": "http", "method": method, "headers": headers}


def open_session(sessions: SessionCounts) -> None:
    with sessions.track("local", request("POST", []), ignore) as send:
        asyncio.run(send(start(200, ID)))  # type: ignore[arg-type]


def test_a_session_is_counted_until_it_is_deleted() -> None:
    sessions = SessionCounts(lambda: 0.0)
    open_session(sessions)
    assert len(sessions) == 1
    with sessions.track("local", request("DELETE", ID), ignore) as send:
        asyncio.run(send(start(200, [])))  # type: ignore[arg-type]
    assert len(sessions) == 0


def test_two_requests_may_both_learn_that_their_session_has_ended() -> None:
    sessions = SessionCounts(lambda: 0.0)
    open_session(sessions)
    with (
        sessions.track("local", request("DELETE", ID), ignore) as first,
        sessions.track("local", request("POST", ID), ignore) as second,
    ):
        asyncio.run(first(start(200, [])))  # type: ignore[arg-type]
        asyncio.run(second(start(404, [])))  # type: ignore[arg-type]
    assert len(sessions) == 0
    open_session(sessions)
    assert len(sessions) == 1
