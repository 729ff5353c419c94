"""One call of a tool: who makes it, its budget, its deadline and its place in the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any

from keyhole.budget.budget import Budget, call_timeout, client_budget, session_budget
from keyhole.budget.clients import ClientLimits, limits_of
from keyhole.budget.fit import truncate
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer
from keyhole.render.answer import error_answer
from keyhole.retrieval.session import NO_HISTORY, History, Session, Shown


def _is_waiting() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that makes a call, as it named itself. The name decides about limits and nothing else."""

    client: str = ""
    """`clientInfo.name`, or "" if the client sent none."""
    version: str = ""
    session: Session | None = None
    """The passages that its session was shown; None outside a session."""
    is_gone: Callable[[], bool] = _is_waiting
    """Returns True if nobody waits for the answer any more. The answer then shows nothing to the session."""

    @property
    def limits(self) -> ClientLimits:
        """Return the limits that this client puts on results."""
        return limits_of(self.client, self.version)


UNKNOWN_CALLER = Caller()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. Everything that it may take is decided before it begins."""

    caller: Caller
    budget: Budget
    next_budget: Budget
    """The budget that the call named in the continuation line will have."""
    seconds: float
    deadline: float
    """The end of `seconds`, by the clock of the event loop."""
    history: History = NO_HISTORY
    shows_repeats: bool = False
    """True if passages that the session was shown before are shown again."""

    def shown(self, id: str) -> tuple[Shown, ...]:
        """Return the ranges of a text that need not be shown again, because the session was shown them before."""
        return () if self.shows_repeats else self.history.shown(id)


def default_size(config: Config, caller: Caller) -> int:
    """Return the bytes of a result for which the caller requests no size."""
    return client_budget(config, caller.limits).size


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
) -> Call:
    """Return the call with its budget, deadline and history.

    `arguments` identify the call within the session: the query, the tool, and everything else but the budget.
    `overhead`: bytes that the protocol puts around this result beyond those around a tool result.
    """
    limits = caller.limits
    requested = client_budget(config, limits, max_chars, max_tokens)
    default = client_budget(config, limits)
    history = NO_HISTORY
    if caller.session is not None:
        # No tokenizer makes more tokens than bytes, so the bytes limit the tokens where nothing else does.
        sizes = requested.size, requested.tokens or requested.size
        history = caller.session.begin((*arguments, repeat), str(arguments[0] or arguments[1]), *sizes)
    budget = session_budget(requested, config.session_tokens, history.spent)
    # The next call has what this call leaves, which may take all of its budget.
    spent = history.spent + (budget.tokens or budget.size)
    next_budget = session_budget(default, config.session_tokens, spent)
    seconds = call_timeout(seconds, limits)
    return Call(
        caller,
        budget.smaller(overhead),
        next_budget,
        seconds,
        asyncio.get_running_loop().time() + seconds,
        history,
        shows_repeats=repeat or config.repeats == "always",
    )


async def answer_call(call: Call, work: Coroutine[Any, Any, Answer], warning: Callable[[], str]) -> Answer:
    """Return the answer of `work`, or the error that ended it or that its deadline made. Record what was shown.

    `warning` returns the code of what is wrong with the store, for the text of an error.
    """
    try:
        async with asyncio.timeout_at(call.deadline):
            answer = await work
    except TimeoutError:
        error = KeyholeError(Code.TIMEOUT, f"nothing to show within {call.seconds:g} s")
        return truncate(error_answer(error, warning()), call.budget)
    except KeyholeError as error:
        return truncate(error_answer(error, warning()), call.budget)
    session = call.caller.session
    if session is not None and not call.caller.is_gone():
        from keyhole.budget.tokens import estimate  # loads a vocabulary, which the start does not wait for

        session.record(call.history, answer.shown, estimate(answer.text))
    return answer
