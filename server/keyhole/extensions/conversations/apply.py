"""Carry out the decisions about a conversation: replace or shorten results, leave out items, and add the notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.extensions.conversations.formats import Dialect, GroupedConversation, Item, ToolResult, View, dialect
from keyhole.extensions.conversations.formats.contents import (
    count_media,
    is_media,
    main_text,
    original_at,
    replace_at,
    result_text,
    shape_like,
    text_of,
    with_text,
)
from keyhole.extensions.conversations.items import count_chars
from keyhole.extensions.conversations.notices import (
    NO_NOTICE,
    NOTHING,
    Amount,
    Notice,
    notice,
    read_excerpt,
    shortened_line,
    split_notice,
    stub,
)
from keyhole.extensions.conversations.plan import Decisions, ResultPlace, Sizes
from keyhole.extensions.conversations.transcript import Keeper, Places, write_left_out
from keyhole.outputs.bound import MIN_BUDGET, bound
from keyhole.render.tokens import estimate_roughly

QUERY_CHARS: Final = 1_000
"""Characters of the user's last message that are the query for a shortened result: its end, where the question is."""
SHARE: Final = 0.85
"""Share of a shortened result's tokens for its text. The lines around the text have more tokens per character."""


@dataclass(frozen=True, slots=True)
class ConversationViews:
    """A conversation in three views: the given items, plain values, and groups."""

    items: Sequence[Item]
    views: Sequence[View]
    conversation: GroupedConversation


@dataclass(frozen=True, slots=True)
class Applied:
    """A conversation after the decisions."""

    items: list[Item]
    """Items that were not changed are the same objects."""
    shortened: tuple[ResultPlace, ...] = ()
    """The results that were shortened."""
    left_out: Amount = NOTHING
    replaced: tuple[int, ...] = ()
    """The user's messages that were changed because they contain results without a call."""


def apply(history: ConversationViews, sizes: Sizes, decisions: Decisions, keeper: Keeper) -> Applied:
    """Return the conversation after the decisions."""
    kept = dict(enumerate(history.items))
    groups = history.conversation.groups
    results = [each for group in groups for each in group.results if each.item not in decisions.dropped]
    changed = [each.place for each in results if _replace_result(kept, history, each, decisions, keeper)]
    shortened = tuple(sorted((each for each in changed if each not in decisions.stubs), key=_position))
    strays = [result for group in groups for result in group.strays if result.item not in decisions.dropped]
    for item in {result.item for result in strays}:
        kept[item] = _show_as_text(kept[item], history, [each for each in strays if each.item == item])
    if not decisions.dropped and not strays:
        return Applied(list(kept.values()), shortened)
    items, amount = _leave_out(kept, history, sizes, decisions, keeper)
    return Applied(items, shortened, amount, tuple(sorted({result.item for result in strays})))


def _replace_result(
    kept: dict[int, Item], history: ConversationViews, result: ToolResult, decisions: Decisions, keeper: Keeper
) -> bool:
    """Replace a result by its stub or a part of it, if the decisions say so. Return True if it was replaced."""
    if result.place in decisions.stubs:
        text = result_text(result.content)
        excerpt = read_excerpt(text)
        stored = keeper.keep_result(result.content, excerpt.kind)
        new = stub(excerpt, len(text), count_media(result.content), stored)
    elif result.place in decisions.shortened:
        new = _shorten(history, result, decisions.shortened[result.place], keeper)
    else:
        return False
    if not new:
        return False
    path = main_text(result.content)
    if path is None:
        part = dialect(history.conversation.format).text_part(new)
        kept[result.item] = replace_at(kept[result.item], result.path, with_text(result.content, new, part))
    else:
        kept[result.item] = replace_at(kept[result.item], (*result.path, *path), new)
    return True


def _position(place: ResultPlace) -> tuple[int, int]:
    return place[0], place[1] or 0


def _shorten(history: ConversationViews, result: ToolResult, tokens: int, keeper: Keeper) -> str:
    """Shorten a result to about `tokens` tokens: the parts that answer the user's last message, and important lines.

    Return "" if the result is short enough already: the lines around a shortened text take tokens too.
    """
    text = result_text(result.content)
    chars = int(SHARE * tokens * len(text) / max(1.0, estimate_roughly(text)))
    query = _last_prompt(history, result.item)
    shorter = bound(text, query=query, budget=max(MIN_BUDGET, chars), secret=keeper.secret)
    if shorter.unchanged and main_text(result.content) is not None:
        return ""
    stored = keeper.keep_result(result.content, shorter.kind)
    return shorter.text + shortened_line(stored, count_media(result.content))


def _last_prompt(history: ConversationViews, end: int) -> str | None:
    """Return the end of the user's last message before an item."""
    users = (item for group in history.conversation.groups if group.has_user_text for item in group.items)
    last = max((item for item in users if item < end and history.conversation.kinds[item] != "model"), default=None)
    if last is None:
        return None
    return text_of(_user_content(history, last))[-QUERY_CHARS:].strip() or None


def _show_as_text(item: Item, history: ConversationViews, strays: Sequence[ToolResult]) -> Item:
    """Return a message of the user in which results without a call are replaced by parts with their text."""
    form = dialect(history.conversation.format)
    path = strays[0].path[:1]
    replaced = {result.path[1]: result for result in strays}
    parts: list[Any] = []
    for number, part in enumerate(original_at(item, path)):
        result = replaced.get(number)
        parts += [part] if result is None else _as_parts(item, result, form)
    return replace_at(item, path, parts)


def _as_parts(item: Item, result: ToolResult, form: Dialect) -> list[Any]:
    """Return a result as parts of the message that it is in: its text, and its images and files."""
    text = text_of(result.content)
    written = original_at(form.user_item(text), result.path[:1])
    if isinstance(written, list):
        return written if text else []
    content = result.content if isinstance(result.content, list) else []
    media = [number for number, part in enumerate(content) if isinstance(part, dict) and is_media(part)]
    texts = [form.text_part(text)] if text else []
    return [*texts, *(original_at(item, (*result.path, number)) for number in media)]


def _leave_out(
    kept: dict[int, Item], history: ConversationViews, sizes: Sizes, decisions: Decisions, keeper: Keeper
) -> tuple[list[Item], Amount]:
    """Return the items without the dropped ones and with the notice, in or instead of the user's first message."""
    form = dialect(history.conversation.format)
    groups = history.conversation.groups
    first = next((group.items[0] for group in groups if group.kind == "user"), -1)
    dropped = sorted(decisions.dropped)
    strays = [result for group in groups for result in group.strays if result.item not in decisions.dropped]
    replaced = sorted({result.item for result in strays})
    for item in dropped:
        del kept[item]
    is_inserted = first not in kept
    content = None if is_inserted else _user_content(history, first)
    found = NO_NOTICE if is_inserted else _find_notice(content)
    earlier = found if keeper.has_transcript(found.id) else NO_NOTICE
    left_out = [history.views[item] for item in (*dropped, *replaced)]
    amount = earlier.amount + Amount(
        len(dropped) + len(replaced),
        sum(group.calls for group in groups if not decisions.dropped.isdisjoint(group.items)),
        sum(map(count_chars, [*left_out[: len(dropped)], *(result.content for result in strays)])),
        sum(sizes.items[item] for item in dropped),
    )
    places = Places(tuple(dropped), tuple(replaced), is_inserted, earlier.text, "" if content else content)
    text = notice(amount, keeper.keep("text", lambda: write_left_out(left_out, places)))
    if is_inserted:
        sample = history.items[first] if first in decisions.dropped else None
        kept[dropped[0]] = shape_like(sample, form.user_item(text))
    else:
        path = form.text_path(history.views[first])
        kept[first] = replace_at(kept[first], path, _with_notice(original_at(kept[first], path), earlier, text, form))
    return [kept[item] for item in sorted(kept)], amount


def _user_content(history: ConversationViews, index: int) -> Any:
    """Return the plain text, or the list of parts, of a message of the user."""
    view = history.views[index]
    return original_at(view, dialect(history.conversation.format).text_path(view))


def _find_notice(content: Any) -> Notice:
    """Return the notice of an earlier compaction at the end of a content."""
    if not isinstance(content, list):
        return split_notice(content) if isinstance(content, str) else NO_NOTICE
    last = content[-1] if content else ""
    found = split_notice(str(last.get("text") or "") if isinstance(last, dict) else str(last))
    return NO_NOTICE if found.before else found


def _with_notice(content: Any, earlier: Notice, text: str, form: Dialect) -> Any:
    """Return a content with a notice at its end, in the place of an earlier one."""
    if isinstance(content, list | tuple):
        return [*(content[:-1] if earlier.text else content), form.text_part(text)]
    before = earlier.before if earlier.text else content
    return f"{before}\n\n{text}" if before else text
