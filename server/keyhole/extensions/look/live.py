"""Tell the open pages when the log of calls changes, by server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from keyhole.errors import KeyholeError
from keyhole.extensions.look.fields import read_number
from keyhole.extensions.look.page import look_of

SECONDS: Final = 1.0
"""Seconds between two looks at the log. A person sees a call within a second, and the log answers in microseconds."""
ROUNDS: Final = 300
"""Looks at the log until a stream ends: 5 minutes. The browser then connects again, and forgotten streams end."""
QUIET_ROUNDS: Final = 15
"""Looks without a change after which a comment is sent, so that a connection that broke is noticed."""
RETRY: Final = "retry: 2000\n\n"
"""Milliseconds after which the browser connects again."""


async def live(request: Request) -> Response:
    """Stream an event for each change since the number `since`, which the page had when it was rendered.

    The stream ends early when `stopping`, an event in the state of the application, is set.
    """
    since = read_number(request.query_params.get("since", ""))
    latest = partial(asyncio.to_thread, look_of(request).calls.latest)
    stopping: asyncio.Event = getattr(request.app.state, "stopping", None) or asyncio.Event()
    events = changes(latest, partial(_wait, stopping), since)
    return StreamingResponse(events, media_type="text/event-stream")


async def _wait(stopping: asyncio.Event) -> bool:
    """Wait until the next look at the log, and return whether the server stops."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            await stopping.wait()
    return stopping.is_set()


async def changes(
    latest: Callable[[], Awaitable[int]], wait: Callable[[], Awaitable[bool]], since: int | None
) -> AsyncIterator[str]:
    """Yield the events of one stream, until `wait` returns True or the log fails. The browser then connects again.

    `since`: the last number that the page knows, None to begin with the next.
    """
    yield RETRY
    seen = since
    for turn in range(1, ROUNDS + 1):
        try:
            number = await latest()
        except KeyholeError:
            return
        if number != seen and seen is not None:
            yield f"event: change\ndata: {number}\n\n"
        elif turn % QUIET_ROUNDS == 0:
            yield ": no change\n\n"
        seen = number
        if await wait():
            return


routes = [Route("/live", live)]
