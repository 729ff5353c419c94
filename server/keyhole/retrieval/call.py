"""Begin and end one call of a tool: its caller, budget, deadline and session history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, Window
from keyhole.render.answer import error_answer
from keyhole.render.budget import (
    TOKENS_PER_CHAR,
    Budget,
    ClientLimits,
    call_timeout,
    client_budget,
    limits_of,
    session_budget,
)
from keyhole.render.fit import answer_size, truncate
from keyhole.retrieval.instrumentation import current_events
from keyhole.retrieval.progress import Progress
from keyhole.retrieval.session import NO_HISTORY, History, Session, Shown
from keyhole.store.base import Store

MARK_SECONDS: Final = 1.0
"""Seconds to wait for the store's mark of what is forgotten: a read of a small file or of one row. A store that takes
longer fails."""
BEAT_SECONDS: Final = 2.0
"""Seconds between the reports on a long call. Most fetches are faster, and report nothing."""


def _is_waiting() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that makes a call. Its name only decides which limits apply."""

    client: str = ""
    """`clientInfo.name`, or "" if the client sent none."""
    version: str = ""
    session: Session | None = None
    """The session that the call belongs to, None without one."""
    session_id: str = ""
    """The id of the session under which the call is recorded, "" without one."""
    folder: str = ""
    """The client's working folder, "" if it is unknown: over HTTP it is."""
    is_gone: Callable[[], bool] = _is_waiting
    """Returns True if nobody waits for the answer any more. Its passages then do not count as shown."""
    waited: float = 0.0
    """Seconds that the call has waited for its turn, which are part of its deadline."""

    @property
    def limits(self) -> ClientLimits:
        """Return the limits of this client."""
        return limits_of(self.client, self.version)


UNKNOWN_CALLER = Caller()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, with its limits, which are computed before it begins."""

    caller: Caller
    budget: Budget
    next_budget: Budget
    """The budget of the call that the continuation line names."""
    seconds: float
    deadline: float
    """The time at which `seconds` end, by the clock of the event loop."""
    history: History = NO_HISTORY
    requested_limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """`max_chars` and `max_tokens` as the caller gave them, if they differ from the default. The next call repeats
    them."""
    shows_repeats: bool = False
    """True if passages that an earlier call of the session showed are shown again."""

    def shown(self, id: str) -> tuple[Shown, ...]:
        """Return the ranges of a text that the call leaves out because earlier calls of the session showed them."""
        return () if self.shows_repeats else self.history.shown(id)

    def next_window(self, text: str, start: int, end: int, *, base: int = 0, total: int | None = None) -> Window:
        """Return the window that the next call will show of the omitted range `start:end`.

        `base` and `total`: as in `read_window`.
        """
        from keyhole.passages.reading import next_window

        budget = self.next_budget
        return next_window(text, start, end, budget.window_size, budget.measure, base=base, total=total)


async def forget_earlier(caller: Caller, store: Store) -> None:
    """Drop the session's records of earlier calls if the store forgot something since the session's last call."""
    if caller.session is None:
        return
    with suppress(KeyholeError, TimeoutError):  # the call's later uses of the store report its failure
        async with asyncio.timeout(MARK_SECONDS):
            caller.session.forget(await asyncio.to_thread(lambda: store.last_mark().at))


def begin_call(
    config: Config,
    caller: Caller,
    arguments: tuple[Hashable, ...],
    seconds: float,
    *,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    repeat: bool = False,
    overhead: int = 0,
    at_least_default: bool = False,
) -> Call:
    """Return the call with its budget, deadline and history.

    `arguments` identify the call within its session: the query or "", the tool, and all other arguments that are not
    limits of size.
    `overhead`: bytes that the protocol puts around this result beyond those around a tool result.
    `at_least_default`: True if a smaller `max_chars` than the default does not lower the budget.
    """
    limits = caller.limits
    default = client_budget(config, limits)
    if at_least_default and (max_chars or 0) <= default.size:
        max_chars = None
    requested = client_budget(config, limits, max_chars, max_tokens)
    history = NO_HISTORY
    if caller.session is not None:
        sizes = requested.size, requested.tokens or TOKENS_PER_CHAR * requested.size
        history = caller.session.begin((*arguments, repeat), str(arguments[0] or arguments[1]), *sizes)
    budget = session_budget(requested, config.session_tokens, history.spent)
    # This call may use its whole budget. The next call gets the rest of the session's.
    spent = history.spent + (budget.tokens or budget.size)
    next_budget = session_budget(requested, config.session_tokens, spent)
    seconds = call_timeout(seconds, limits) - caller.waited
    is_given = requested.size != default.size and not at_least_default
    given = {"max_chars": max_chars if is_given else None, "max_tokens": max_tokens}
    return Call(
        caller,
        budget.reduced_by(overhead),
        next_budget,
        seconds,
        asyncio.get_running_loop().time() + seconds,
        history,
        requested_limits={name: limit for name, limit in given.items() if limit},
        shows_repeats=repeat or config.repeats == "always",
    )


async def answer_call(
    call: Call, work: Coroutine[Any, Any, Answer], warning: Callable[[], str], secret: bytes
) -> Answer:
    """Return the answer of `work`, or the answer for its error or timeout. Record the passages shown in the session.

    `warning` returns the store's warning code, which an error's text names too.
    """
    current_events().budget = call.budget.size
    try:
        async with asyncio.timeout_at(call.deadline):
            answer = await work
    except TimeoutError:
        error = KeyholeError(Code.TIMEOUT, f"nothing to show within {call.seconds:g} s")
        return truncate(error_answer(error, warning()), call.budget)
    except KeyholeError as error:
        return _answer_error(error, warning(), call.budget, secret)
    session = call.caller.session
    if session is not None and not call.caller.is_gone():
        from keyhole.render.tokens import estimate  # imported late: most calls do not need it

        # In a thread: it takes a tenth of the time of a call for a stored page.
        session.record(call.history, answer.shown, await asyncio.to_thread(estimate, answer.text))
    return answer


def _answer_error(error: KeyholeError, warning: str, budget: Budget, secret: bytes) -> Answer:
    """Return the answer for an error within a budget, with the site's reason and as many of the addresses near a dead
    one as fit."""
    for count in range(len(error.near), -1, -1):
        answer = error_answer(error.with_near(error.near[:count]), warning, secret)
        if answer_size(answer, budget) <= budget.size:
            return answer
    bare = KeyholeError(error.code, error.message, **{k: v for k, v in error.facts.items() if k != "refresh"})
    return truncate(error_answer(bare, warning, secret), budget)


@asynccontextmanager
async def report_seconds(progress: Progress, most: float, message: str) -> AsyncIterator[None]:
    """Report every two seconds how many seconds the block has taken, of at most `most`.

    So a client sees that a long document is being read, and one that waits for each report does not give up.
    """

    async def beat() -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            seconds = loop.time() - start
            await progress(round(seconds, 1), max(most, seconds), f"{message}, {seconds:.0f} s")

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
