"""Restore a conversation to its state before it was compacted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats import (
    FORMATS,
    Dialect,
    Format,
    Item,
    ToolResult,
    View,
    dialect,
    read_conversation,
)
from keyhole.extensions.conversations.formats.contents import find_texts, image_text, original_at, plain, replace_at
from keyhole.extensions.conversations.formats.values import ItemFacts, Path
from keyhole.extensions.conversations.notices import find_notices, read_stored, split_notice
from keyhole.extensions.conversations.transcript import Places, read_left_out, read_transcript
from keyhole.records import Artifact

SHOWN: Final = 5
"""Items and ids that an error names, so that it stays one line."""


class TextStore(Protocol):
    """Returns what was stored."""

    def get(self, id: str, /) -> Artifact:
        """Return the artifact with an id. Raises KeyholeError: artifact_not_found."""
        ...


def restore(
    items: Sequence[Item], store: TextStore, *, format: Format | Literal["auto"] = "auto", partial: bool = False
) -> list[Item]:
    """Return the conversation that was compacted to `items`, once or several times.

    Items that were left out come back as plain dicts, also if they were objects of an SDK. `format`: by default each
    item is read in every format that understands it, because a shortened conversation may not show its format any more.
    `partial`: True to leave what cannot be given back as it is.

    Raises KeyholeError: not_restored, with the items that stand for something the store does not have;
    invalid_argument; store_unavailable.
    """
    restored = list(items)
    found = read_conversation([plain(item) for item in restored], None if format == "auto" else format).format
    formats: Sequence[Format] = FORMATS if format == "auto" else (found,)
    while (longer := _take_back_notice(restored, formats, store)) is not None:
        restored = longer
    while _restore_results(restored, formats, store):  # a shortened result may have become a stub later
        pass
    if not partial:
        _check(restored)
    return restored


def _readings(item: View, formats: Sequence[Format]) -> list[tuple[Dialect, ItemFacts]]:
    """Return the facts of an item in each format that understands it, or in all formats if none does."""
    found = [(form, form.read_item(item, 0)) for form in map(dialect, formats)]
    return [(form, facts) for form, facts in found if not facts.unknown] or found


def _user_contents(item: Item, formats: Sequence[Format]) -> dict[Path, Any]:
    """Return the places in a message of the user that may have a notice, each with its content."""
    view = plain(item)
    paths = [form.text_path(view) for form, facts in _readings(view, formats) if facts.kind == "user"]
    return {path: original_at(item, path) for path in paths}


def _results(item: Item, formats: Sequence[Format]) -> dict[Path, ToolResult]:
    """Return the results in an item by their places."""
    found = [result for _, facts in _readings(plain(item), formats) for result in facts.results]
    return {result.path: result for result in found if result.is_replaceable}


def _check(items: Sequence[Item]) -> None:
    """Raise KeyholeError if an item still stands for something that was left out."""
    lost = {index: ids for index, item in enumerate(items) if (ids := list(_find_lost(item)))}
    if lost:
        ids = sorted({id for found in lost.values() for id in found if id})
        raise KeyholeError(
            Code.NOT_RESTORED,
            f"{len(lost):,} of {len(items):,} items stand for what cannot be given back: item "
            f"{', '.join(map(str, list(lost)[:SHOWN]))}{', …' if len(lost) > SHOWN else ''}; the store does not have "
            f"{', '.join(ids[:SHOWN]) or 'it'}{', …' if len(ids) > SHOWN else ''}",
            items=len(lost),
        )


def _find_lost(item: Item) -> Iterator[str]:
    """Yield the ids that the stubs and notices in an item name; "" if nothing was stored."""
    for result in _results(item, FORMATS).values():
        found = (read_stored(text) for _, text in _result_texts(result.content))
        yield from (stored.original or stored.text for stored in found if stored is not None)
    for content in _user_contents(item, FORMATS).values():
        for _, text in find_texts(plain(content)):
            yield from find_notices(text)


def _restore_results(items: list[Item], formats: Sequence[Format], store: TextStore) -> bool:
    """Put back the results that were replaced or shortened last. Return False if there are none."""
    is_changed = False
    for index, item in enumerate(items):
        for result in _results(item, formats).values():
            items[index] = _restore_result(items[index], result, store)
        is_changed |= items[index] is not item
    return is_changed


def _take_back_notice(items: Sequence[Item], formats: Sequence[Format], store: TextStore) -> list[Item] | None:
    """Return the conversation before the last compaction that left out items, None if there was none."""
    for index, item in enumerate(items):
        for path, content in _user_contents(item, formats).items():
            found = _read_notice(content, store)
            if found is not None:
                before, left_out, places = found
                same = [] if places.is_inserted else [replace_at(item, path, before)]
                return _insert([*items[:index], *same, *items[index + 1 :]], left_out, places)
    return None


def _read_notice(content: Any, store: TextStore) -> tuple[Any, list[Any], Places] | None:
    """Return the content of a message without the notice, and the items and places of its transcript."""
    last = plain(content[-1] if isinstance(content, list) and content else content)
    text = last.get("text") if isinstance(last, dict) else last
    notice = split_notice(text) if isinstance(text, str) else None
    transcript = _load(notice.id, store) if notice is not None and notice.id else None
    left_out = read_left_out(transcript) if transcript else None
    if notice is None or left_out is None:
        return None
    items, places = left_out
    if isinstance(content, list):
        earlier = (
            [{**last, "text": places.earlier} if isinstance(last, dict) else places.earlier] if places.earlier else []
        )
        return [*content[:-1], *earlier], items, places
    separator = "\n\n" if notice.before else ""
    before = f"{notice.before}{separator}{places.earlier}" if places.earlier else notice.before
    return before or places.content, items, places


def _insert(kept: list[Item], items: Sequence[Any], places: Places) -> list[Item]:
    count = len(places.left_out)
    for index, item in zip(places.left_out, items[:count], strict=True):
        kept.insert(index, item)
    for index, item in zip(places.replaced, items[count:], strict=True):
        kept[index] = item
    return kept


def _restore_result(item: Item, result: ToolResult, store: TextStore) -> Item:
    """Return an item with the content of a result that was replaced or shortened."""
    for path, text in _result_texts(result.content):
        stored = read_stored(text)
        if stored is None:
            continue
        if stored.original:
            original = _load(stored.original, store)
            return item if original is None else replace_at(item, result.path, read_transcript(original)[0])
        exact = _load(stored.text, store) if stored.text else None
        return item if exact is None else replace_at(item, (*result.path, *path), exact)
    return item


def _result_texts(content: Any) -> list[tuple[Path, str]]:
    """Return the texts of a result that may be a stub, including the text in an image."""
    url = content.get("image_url") if isinstance(content, dict) else None
    return [((), image_text(url))] if url else list(find_texts(content))


def _load(id: str, store: TextStore) -> str | None:
    try:
        return store.get(id).text
    except KeyholeError as error:
        if error.code is Code.STORE_UNAVAILABLE:
            raise
        return None
