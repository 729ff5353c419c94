"""Compact the history of a conversation to an input budget: calls stay whole, and what is left out can be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.apply import Applied, ConversationViews, apply
from keyhole.extensions.conversations.formats import (
    FORMATS,
    Format,
    GroupedConversation,
    Item,
    View,
    dialect,
    read_conversation,
    without_unsent,
)
from keyhole.extensions.conversations.formats.contents import find_texts, is_readable, original_at, plain
from keyhole.extensions.conversations.items import estimate_item, estimate_value
from keyhole.extensions.conversations.notices import NOTHING, Amount, is_notice
from keyhole.extensions.conversations.plan import Decisions, InputLimits, ResultPlace, Sizes, decide
from keyhole.extensions.conversations.transcript import Keeper

if TYPE_CHECKING:
    from keyhole.outputs.keep import OutputStore

Counter = Callable[[Sequence[Item]], int]
"""Counts the tokens of items."""

KEEP_LAST: Final = 3
"""Turns of the model that are kept, as in Anthropic's `clear_tool_uses`."""
TARGET: Final = 0.45
"""Share of the budget that is used after a compaction. A provider's cache loses everything after the first change, so
history is left out seldom, and much at once; on average two thirds of the budget are in use
(`benchmarks.compaction.sessions`)."""
STEP: Final = 0.95
"""If the compacted conversation exceeds the budget, the next plan uses this share of the previous limit. The share is
fixed so that a later call, one message longer, tries the same limits and decides the same."""


@dataclass(frozen=True, slots=True)
class Report:
    """The decisions of a compaction."""

    format: str
    tokens_before: int
    tokens_after: int
    stubs: tuple[ResultPlace, ...] = ()
    """The tool results that were replaced: for each, the index of its item, and of the block in the item or None."""
    shortened: tuple[ResultPlace, ...] = ()
    """The tool results that were shortened."""
    dropped: tuple[int, ...] = ()
    """The indexes of the items that were left out."""
    replaced: tuple[int, ...] = ()
    """The indexes of the user's messages with results without a call, which are shown as text."""
    unknown: tuple[tuple[int, str], ...] = ()
    """The items that were not fully understood, and so were kept: the index, and the name of the type in it."""
    left_out: Amount = NOTHING
    """The messages, calls, characters and tokens of the items that were left out."""
    ids: tuple[str, ...] = ()
    """The ids of the stored texts: results that were replaced or shortened, and the items that were left out."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A conversation within its budget."""

    items: list[Item]
    """In the same format. Items that were not changed are the same objects, others are objects of the same kind."""
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
    store: OutputStore | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Compacted:
    """Return a conversation within `budget` tokens, unchanged if it fits.

    Old tool results are replaced first, then whole turns are left out, until `target` of the budget is used. Results
    that the model has not seen are at most shortened. `counter`: counts the tokens of items; by default an estimate
    (items.py). `trigger`: the share of the budget above which history is compacted. Below the budget, a compaction that
    spares less than `clear_at_least` tokens is not made. `store`: where what is left out is kept, with ids signed by
    `secret`, at the time `now` in seconds since the epoch.

    An item that is not fully understood is kept, and named in the report. If all are understood, messages that a
    provider would refuse, such as a result without a call, are left out in any case. The notice that stands for them
    counts too.

    Raises KeyholeError: invalid_argument, also if no item is understood; over_budget if what must be kept exceeds the
    budget, with the fact `least`, a budget that works; store_unavailable.
    """
    _check(items, budget, format, keep_last, target, trigger)
    views: list[View] = [plain(item) for item in items]
    history = ConversationViews(
        items, views, _pin_notices(read_conversation(views, None if format == "auto" else format), views)
    )
    sizes = _measure(history, counter)
    limit, decisions = float(budget), None
    is_last = False
    while True:
        goal = int(limit * min(target, trigger))
        planned = decide(
            history.conversation, sizes, InputLimits(int(limit), int(limit * trigger), goal, keep_last, clear_at_least)
        )
        if planned != decisions:
            decisions, keeper = planned, Keeper(store, secret, now)
            applied = apply(history, sizes, decisions, keeper)
            after = _count(history, applied.items, counter)
        if after <= budget:
            report = _report(history, decisions, applied, (sum(sizes.items), after), keeper)
            return Compacted(applied.items, report)
        if is_last:
            raise _over_budget(history, budget, after)
        is_last = planned.tokens > limit  # nothing is left that could be left out
        limit = 0.0 if is_last else limit * STEP


def _check(items: Sequence[Item], budget: int, format: str, keep_last: int, target: float, trigger: float) -> None:
    for item in items:
        if not is_readable(item):
            raise KeyholeError(
                Code.INVALID_ARGUMENT,
                f"items must be the messages or items of a conversation, as dicts or objects of an SDK; one is a "
                f"{type(item).__name__}",
            )
    if budget < 1 or keep_last < 0:
        raise KeyholeError(Code.INVALID_ARGUMENT, "budget must be at least 1, and keep_last at least 0")
    if not 0 < target <= 1 or not 0 < trigger <= 1:
        raise KeyholeError(Code.INVALID_ARGUMENT, "target and trigger must be above 0 and at most 1")
    if format not in ("auto", *FORMATS):
        raise KeyholeError(Code.INVALID_ARGUMENT, f"format must be one of: auto, {', '.join(FORMATS)}")


def _pin_notices(conversation: GroupedConversation, views: Sequence[View]) -> GroupedConversation:
    """Mark messages that consist of a notice as fixed, because the notice stands for items that were left out."""
    form = dialect(conversation.format)
    groups = tuple(
        replace(group, is_fixed=True)
        if group.kind == "user" and is_notice(original_at(views[group.items[0]], form.text_path(views[group.items[0]])))
        else group
        for group in conversation.groups
    )
    return replace(conversation, groups=groups)


def _measure(history: ConversationViews, counter: Counter | None) -> Sizes:
    """Return the tokens of items and results. A counter counts whole items; results get their estimated share."""
    estimates = [_estimate(history, view) for view in history.views]
    counts = _count_each(history.items, counter) if counter else estimates
    results = [result for group in history.conversation.groups for result in group.results]
    tokens = {
        result.place: round(estimate_value(result.content) * counts[result.item] / max(1, estimates[result.item]))
        for result in results
    }
    without_text = {each.place for each in results if not any(text for _, text in find_texts(each.content))}
    return Sizes(counts, tokens, without_text)


def _count_each(items: Sequence[Item], counter: Counter) -> list[int]:
    """Return the tokens of each item, scaled down if their sum exceeds the tokens of all items together."""
    counts = [counter([item]) for item in items]
    share = min(1.0, counter(items) / max(1, sum(counts)))
    return [int(count * share) for count in counts]


def _count(history: ConversationViews, items: Sequence[Item], counter: Counter | None) -> int:
    return counter(items) if counter else sum(_estimate(history, plain(item)) for item in items)


def _estimate(history: ConversationViews, view: View) -> int:
    return estimate_item(without_unsent(history.conversation.format, view))


def _report(
    history: ConversationViews, decisions: Decisions, applied: Applied, tokens: tuple[int, int], keeper: Keeper
) -> Report:
    conversation = history.conversation
    return Report(
        conversation.format,
        *tokens,
        stubs=tuple(sorted(decisions.stubs, key=lambda each: (each[0], each[1] or 0))),
        shortened=applied.shortened,
        dropped=tuple(sorted(decisions.dropped)),
        replaced=applied.replaced,
        unknown=conversation.unknown,
        left_out=applied.left_out,
        ids=tuple(keeper.ids),
    )


def _over_budget(history: ConversationViews, budget: int, least: int) -> KeyholeError:
    unknown = sorted({name for _, name in history.conversation.unknown})
    return KeyholeError(
        Code.OVER_BUDGET,
        f"what must be kept takes {least:,} tokens of {budget:,}: the system's text, the user's last message, open "
        f"calls and the last results; a budget of {least:,} works"
        + (f". Items that were not understood are kept: {', '.join(unknown[:5])}" if unknown else ""),
        tokens=least,
        budget=budget,
        least=least,
    )
