"""Give a conversation back as it was before it was compacted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.extract.conversations import Format, Item, Result, dialect, read_conversation
from keyhole.extract.conversations.contents import find_texts
from keyhole.extract.conversations.plain import original_at, plain, replace_at
from keyhole.extract.conversations.text_image import image_text
from keyhole.records import Artifact
from keyhole.retrieval.compaction.notices import read_stored, split_notice
from keyhole.retrieval.compaction.transcript import Places, read_left_out, read_transcript


class TextStore(Protocol):
    """Returns what was stored."""

    def get(self, id: str, /) -> Artifact:
        """Return the artifact with an id. Raises KeyholeError: artifact_not_found."""
        ...


def restore(items: Sequence[Item], store: TextStore, *, format: Format | Literal["auto"] = "auto") -> list[Item]:
    """Return the conversation that was compacted to `items`, once or several times.

    Items that were left out come back as plain dicts, also if they were objects of an SDK. Texts that the store does
    not have stay as they are. Raises KeyholeError: invalid_argument, store_unavailable.
    """
    restored = list(items)
    views = [plain(item) for item in restored]
    found = read_conversation(views, None if format == "auto" else format).format
    while (longer := _take_back_notice(restored, found, store)) is not None:
        restored = longer
    while _restore_results(restored, found, store):  # a shortened result may have become a stub later
        pass
    return restored


def _restore_results(items: list[Item], format: Format, store: TextStore) -> bool:
    """Put back the results that were replaced or shortened last. Return False if there are none."""
    is_changed = False
    for group in read_conversation([plain(item) for item in items], format).groups:
        for result in (*group.results, *group.strays):
            item = _restore_result(items[result.item], result, store)
            is_changed |= item is not items[result.item]
            items[result.item] = item
    return is_changed


def _take_back_notice(items: Sequence[Item], format: Format, store: TextStore) -> list[Item] | None:
    """Return the conversation before the last compaction that left out items, None if there was none."""
    form = dialect(format)
    for index, item in enumerate(items):
        view = plain(item)
        if form.read_item(view, index).kind != "user":
            continue
        path = form.text_path(view)
        found = _read_notice(original_at(item, path), store)
        if found is not None:
            before, left_out, places = found
            kept = [
                *items[:index],
                *([] if places.is_inserted else [replace_at(item, path, before)]),
                *items[index + 1 :],
            ]
            return _insert(kept, left_out, places)
    return None


def _read_notice(content: Any, store: TextStore) -> tuple[Any, list[Any], Places] | None:
    """Return the content of a message before the notice was added, and the items and places in its transcript."""
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


def _restore_result(item: Item, result: Result, store: TextStore) -> Item:
    """Return an item with the content of a result that was replaced or shortened."""
    content = result.content
    url = content.get("image_url") if isinstance(content, dict) else None
    texts = [((), image_text(url))] if url else list(find_texts(content))
    for path, text in texts:
        stored = read_stored(text)
        if stored is None:
            continue
        if stored.original:
            original = _load(stored.original, store)
            return item if original is None else replace_at(item, result.path, read_transcript(original)[0])
        exact = _load(stored.text, store)
        return item if exact is None else replace_at(item, (*result.path, *path), exact)
    return item


def _load(id: str, store: TextStore) -> str | None:
    try:
        return store.get(id).text
    except KeyholeError as error:
        if error.code is Code.STORE_UNAVAILABLE:
            raise
        return None
