"""Compact the history of a conversation to an input budget: calls stay whole, and what is left out can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from keyhole.budget.items import estimate_item, estimate_text
from keyhole.errors import Code, KeyholeError
from keyhole.extract.conversations import FORMATS, Conversation, Format, Item, read_conversation
from keyhole.records import Artifact
from keyhole.render.boundary import read_call
from keyhole.retrieval.compaction.apply import apply
from keyhole.retrieval.compaction.notices import Amount
from keyhole.retrieval.compaction.plan import Decisions, Limits, Sizes, decide, place
from keyhole.retrieval.compaction.report import Report
from keyhole.store.ids import artifact_id
from keyhole.text.output_facts import output_url

if TYPE_CHECKING:
    from keyhole.retrieval.bound import OutputStore

Counter = Callable[[Sequence[Item]], int]
"""Counts the tokens of items."""

KEEP_LAST: Final = 3
"""Turns of the model that are always kept, as in Anthropic's `clear_tool_uses`."""
TARGET: Final = 0.6
"""Share of the budget that remains used, so that many turns fit before the next compaction."""
TITLE: Final = "left out of a conversation"
"""The title of the stored texts."""
STEP: Final = 0.95
"""If the result, counted as a whole, exceeds the budget, the next plan is for this share of the limit before. A fixed
share leads to the same limit in the next call, with a message more, and so to the same decisions."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A conversation within its budget."""

    items: list[Item]
    """In the same format. Items that were not changed are the same objects."""
    report: Report


def compact(
    items: Sequence[Item],
    budget: int,
    *,
    format: Format | Literal["auto"] = "auto",
    counter: Counter | None = None,
    keep_last: int = KEEP_LAST,
    target: float = TARGET,
    trigger: float = 1.0,
    clear_at_least: int = 0,
    previous: Report | None = None,
    store: OutputStore | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Compacted:
    """Return a conversation within `budget` tokens, unchanged if it fits.

    Old tool results are replaced first, then whole turns are left out, until `target` of the budget is used. `counter`:
    counts the tokens of items; by default an estimate (`keyhole.budget.items`). `trigger`: the share of the budget
    above which history is compacted. Below the budget, a compaction that spares less than `clear_at_least` tokens is
    not made. `previous`: the report of the conversation's last compaction, whose decisions stay. `store`: where what
    is left out is kept, with ids signed by `secret`, at the time `now` in seconds since the epoch.

    Messages that a provider would refuse, such as a result without a call, are left out in any case.

    Raises KeyholeError: invalid_argument; over_budget if what must be kept exceeds the budget; store_unavailable.
    """
    _check(items, budget, format, keep_last, target, trigger)
    conversation = read_conversation(items, None if format == "auto" else format)
    estimates = [estimate_item(item) for item in items]
    sizes = _measure(items, conversation, estimates, counter)
    structure = partial(_digest, conversation, estimates)
    earlier = _earlier_decisions(previous, structure)
    limit, after, decisions = float(budget), 0, None
    while limit >= 1:
        goal = int(limit * min(target, trigger))
        limits = Limits(int(limit), int(limit * trigger), goal, keep_last, clear_at_least)
        planned = decide(conversation.groups, sizes, limits, earlier)
        if planned != decisions:
            decisions, ids = planned, list[str]()
            kept, left_out = apply(items, conversation, sizes, decisions, partial(_keep, ids, store, secret, now))
            after = _count(kept, counter)
        if after <= budget:
            tokens = (sum(sizes.items), after)
            return Compacted(kept, _report(conversation.format, decisions, tokens, left_out, ids, structure))
        if planned.tokens > limit:  # nothing is left that could be left out
            break
        limit *= STEP
    raise KeyholeError(
        Code.OVER_BUDGET,
        f"what must be kept takes {after:,} tokens of {budget:,}: the system's text, the user's last message, open "
        f"calls and the last {keep_last} turns",
        tokens=after,
        budget=budget,
    )


def _check(items: Sequence[Item], budget: int, format: str, keep_last: int, target: float, trigger: float) -> None:
    if not all(isinstance(item, Mapping) for item in items):
        raise KeyholeError(Code.INVALID_ARGUMENT, "items must be JSON objects: the messages or items of a conversation")
    if budget < 1 or keep_last < 0:
        raise KeyholeError(Code.INVALID_ARGUMENT, "budget must be at least 1, and keep_last at least 0")
    if not 0 < target <= 1 or not 0 < trigger <= 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "target and trigger must be above 0 and at most 1")
    if format not in ("auto", *FORMATS):
        raise KeyholeError(Code.INVALID_ARGUMENT, f"format must be one of: auto, {', '.join(FORMATS)}")


def _measure(
    items: Sequence[Item], conversation: Conversation, estimates: Sequence[int], counter: Counter | None
) -> Sizes:
    """Return the tokens of items and results. A counter counts whole items; results get their estimated share."""
    counts = [counter([item]) for item in items] if counter else estimates
    results = {
        place(result): round(estimate_text(result.text) * counts[result.item] / max(1, estimates[result.item]))
        for group in conversation.groups
        for result in group.results
    }
    return Sizes(counts, results)


def _count(items: Sequence[Item], counter: Counter | None) -> int:
    return counter(items) if counter else sum(map(estimate_item, items))


def _keep(
    ids: list[str], store: OutputStore | None, secret: bytes, now: float, kind: str, write_text: Callable[[], str]
) -> str:
    """Store a text, and return the call that reads it; "" without a store."""
    if store is None:
        return ""
    text, address = write_text(), output_url(kind)
    id = artifact_id(secret, address, text)
    store.put(Artifact(id, address, address, TITLE, text, "text/plain", "", now), "")
    ids.append(id)
    return read_call(id, {"offset": 0})


def _earlier_decisions(previous: Report | None, structure: Callable[[int], str]) -> Decisions:
    """Return the decisions of an earlier report, or none if the conversation does not begin with the same items."""
    if previous is None:
        return Decisions()
    earlier = Decisions(frozenset((item, block) for item, block in previous.stubs), frozenset(previous.dropped))
    return earlier if structure(earlier.end) == previous.digest else Decisions()


def _report(
    format: str,
    decisions: Decisions,
    tokens: tuple[int, int],
    left_out: Amount,
    ids: Sequence[str],
    structure: Callable[[int], str],
) -> Report:
    stubs = tuple(sorted(decisions.stubs, key=lambda each: (each[0], each[1] or 0)))
    dropped = tuple(sorted(decisions.dropped))
    return Report(format, *tokens, stubs, dropped, left_out, tuple(ids), structure(decisions.end))


def _digest(conversation: Conversation, estimates: Sequence[int], end: int) -> str:
    """Return a hash of the first `end` items: of their sizes, and of the places and calls of their results.

    It is "" for no items, or if there are fewer. It reads no texts, which would take longer than all decisions.
    """
    if not 0 < end <= len(estimates):
        return ""
    results = [
        (result.item, result.block, result.call)
        for group in conversation.groups
        for result in group.results
        if result.item < end
    ]
    return hashlib.sha256(repr((estimates[:end], sorted(results))).encode("utf-8", "replace")).hexdigest()
