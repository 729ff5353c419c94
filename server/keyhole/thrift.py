"""What a session spares: which calls showed what is left out, and how small a result is when its budget runs out. Pure.

Decides and words nothing: the lines are in remarks.py, the memory in ledger.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.budget.budget import Budget
from keyhole.config.schema import MIN_BUDGET
from keyhole.records import Repeat
from keyhole.render.repeats import running_out
from keyhole.retrieval.session import Shown

SHARE: Final = 4
"""A result takes at most one part in so many of what is left: the last of a session shrink step by step, and the budget
ends in no single call."""
LEAST_TOKENS: Final = 400
"""However little is left: a page's words around its text and a passage of some hundred words."""
BYTES_PER_TOKEN: Final = 4
"""Of English text. A result's bytes are bounded so too, for its facts, which no token is counted for."""


def told(stretches: Sequence[tuple[int, int]], shown: Sequence[Shown]) -> tuple[Repeat, ...]:
    """By which calls the stretches were shown, in reading order; of several calls the latest."""
    repeats: list[Repeat] = []
    for start, end in stretches:
        at = start
        while at < end:
            reaching = [each for each in shown if each.start <= at < each.end]
            # The one that shows all of the rest, else the one that shows most of it; `shown` has the latest first.
            best = max(reaching, key=lambda each: min(each.end, end), default=None)
            if best is None:
                break
            repeats.append(Repeat(at, min(best.end, end), best.call, best.about))
            at = best.end
    return tuple(repeats)


def lowered(budget: Budget, session_tokens: int | None, spent: int) -> Budget:
    """The budget of one call of a session that has spent so many of its tokens."""
    if session_tokens is None:
        return budget
    left = max(0, session_tokens - spent)
    most = max(LEAST_TOKENS, left // SHARE)
    size = max(MIN_BUDGET, most * BYTES_PER_TOKEN)
    # Text that is no English may take as many tokens as bytes.
    tokens = min(most, budget.tokens or most) if most < budget.size else budget.tokens
    if size >= budget.size:
        return replace(budget, tokens=tokens)
    told = running_out(left, session_tokens) if most < (budget.tokens or budget.size) else ""
    return replace(budget, size=size, tokens=tokens, note=" ".join(filter(None, (budget.note, told))))
