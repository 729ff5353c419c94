"""Carry out the decisions about a conversation: replace results by stubs, leave out items, and add the notice. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from keyhole.budget.items import count_chars
from keyhole.extract.conversations import Conversation, Item, dialect
from keyhole.extract.conversations.parts import add_text_part, replace_result, show_results_as_text, text_of
from keyhole.extract.outputs import terminal_text
from keyhole.retrieval.compaction.notices import Amount, notice, read_excerpt, split_notice, stub
from keyhole.retrieval.compaction.plan import Decisions, Sizes, place
from keyhole.retrieval.compaction.transcript import write_transcript

Keep = Callable[[str, Callable[[], str]], str]
"""Stores a text of a kind, which it calls for, and returns the call that reads it; "" if nothing is stored."""


def apply(
    items: Sequence[Item], conversation: Conversation, sizes: Sizes, decisions: Decisions, keep: Keep
) -> tuple[list[Item], Amount]:
    """Return the items after the decisions, and how much is left out. Items that stay are the same objects."""
    kept = dict(enumerate(items))
    form = dialect(conversation.format)
    for group in conversation.groups:
        if group.is_unpaired:
            kept.update((item, show_results_as_text(items[item])) for item in group.items)
        for result in group.results:
            if place(result) in decisions.stubs and result.item not in decisions.dropped:
                excerpt = read_excerpt(result.text)
                text = stub(excerpt, len(result.text), keep(excerpt.kind, partial(terminal_text, result.text)))
                kept[result.item] = replace_result(
                    kept[result.item], form.RESULT_FIELD, result.block, text, form.TEXT_PART
                )
    if not decisions.dropped:
        return list(kept.values()), Amount()
    return _leave_out(kept, conversation, sizes, decisions, keep)


def _leave_out(
    kept: dict[int, Item], conversation: Conversation, sizes: Sizes, decisions: Decisions, keep: Keep
) -> tuple[list[Item], Amount]:
    """Return the items without the dropped ones and with the notice, in or instead of the user's first message."""
    first = next((group.items[0] for group in conversation.groups if group.kind == "user"), None)
    bare, earlier, amount = _without_notice(kept[first]) if first is not None else ({}, "", Amount())
    dropped = sorted(decisions.dropped)
    calls = sum(group.calls for group in conversation.groups if not decisions.dropped.isdisjoint(group.items))
    left_out = [kept.pop(item) for item in dropped]
    tokens = sum(sizes.items[item] for item in dropped)
    amount += Amount(len(dropped), calls, sum(map(count_chars, left_out)), tokens)
    text = notice(
        amount, keep("text", lambda: write_transcript([*([{"earlier": earlier}] if earlier else []), *left_out]))
    )
    part = dialect(conversation.format).TEXT_PART
    if first in kept and first is not None:
        kept[first] = {**bare, "content": add_text_part(bare.get("content"), text, part)}
        return [kept[item] for item in sorted(kept)], amount
    place = dropped[0]
    kept[place] = {"role": "user", "content": text}
    return [kept[item] for item in sorted(kept)], amount


def _without_notice(item: Item) -> tuple[Item, str, Amount]:
    """Return a message without the notice of an earlier compaction, the notice, and the amount that it states."""
    content = item.get("content")
    if isinstance(content, str):
        text, earlier, amount = split_notice(content)
        return ({**item, "content": text} if earlier else item), earlier, amount
    if isinstance(content, list) and content:
        _, earlier, amount = split_notice(text_of(content[-1:]))
        return ({**item, "content": content[:-1]} if earlier else item), earlier, amount
    return item, "", Amount()
