"""Read and replace the text of a message or tool result, whatever the form of its content. Pure.

A content is a text, a list of parts, or an object, such as a `functionResponse` of Gemini. All values are plain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from keyhole.extensions.conversations.formats.text_image import text_image
from keyhole.extensions.conversations.formats.values import Path

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
"""Types of text parts: Chat Completions and Anthropic, and both kinds of the Responses API."""
SMALL_REST: Final = 300
"""If a content has at most this many characters of JSON beside its largest text, only this text is replaced. A
`tool_result` block with its ids and a `cache_control` has fewer."""

_NO_TEXTS: Final = frozenset({
    "type", "kind", "id", "name", "role", "status", "detail", "outcome", "identifier", "file_id", "file_uri", "url",
    "media_type", "mime_type", "mimeType", "encrypted_content", "cache_control", "thoughtSignature",
    "thought_signature",
})  # fmt: skip
"""Fields whose values are not part of what a tool printed."""
_MEDIA_FIELDS: Final = frozenset({
    "inlineData", "inline_data", "fileData", "file_data", "image_url", "input_audio", "base64",
})  # fmt: skip
_MEDIA_TYPES: Final = frozenset({
    "image", "input_image", "computer_screenshot", "input_file", "file", "audio", "video", "browser_state",
})  # fmt: skip


def find_texts(content: Any) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a content, each with its path. Data of images and files are no text."""
    if isinstance(content, str):
        yield (), content
    elif isinstance(content, list):
        for number, part in enumerate(content):
            yield from (((number, *path), text) for path, text in find_texts(part))
    elif isinstance(content, dict) and not is_media(content):
        for name, value in content.items():
            if name not in _NO_TEXTS:
                yield from (((name, *path), text) for path, text in find_texts(value))


def text_of(content: Any) -> str:
    """Return the whole text of a content: its texts one below the other, or the JSON of an object with several."""
    if isinstance(content, dict) and "response" in content:
        return text_of(content["response"])
    texts = [text for _, text in find_texts(content)]
    if isinstance(content, dict) and "type" not in content and (len(texts) != 1 or main_text(content) is None):
        return json.dumps(content, ensure_ascii=False, indent=1)
    return "\n".join(texts)


def result_text(content: Any) -> str:
    """Return the text of a tool result that a stub stands for: its main text, or else its whole text."""
    path = main_text(content)
    return text_of(content) if path is None else str(value_at(content, path))


def main_text(content: Any) -> Path | None:
    """Return the path of the largest text of a content, if all that is beside it is small. None otherwise."""
    if isinstance(content, str):
        return ()
    texts = list(find_texts(content))
    path, text = max(texts, key=lambda each: len(each[1]), default=((), ""))
    beside = len(json.dumps(content)) - len(json.dumps(text))
    return path if text and beside <= SMALL_REST else None


def value_at(content: Any, path: Path) -> Any:
    """Return the value at a path."""
    for key in path:
        content = content[key]
    return content


def with_text(content: Any, text: str, part: Any) -> Any:
    """Return a content of the same form that has only a text. `part`: the text as a part of a list."""
    if isinstance(content, list):
        is_shell = bool(content) and isinstance(content[0], dict) and "stdout" in content[0]
        return [{**content[0], "stdout": text, "stderr": ""}] if is_shell else [part]
    if not isinstance(content, dict):
        return text
    if content.get("type") == "computer_screenshot":
        return {"type": "computer_screenshot", "image_url": text_image(text)}
    if "response" in content:  # a `functionResponse` of Gemini, whose images stand beside the response
        rest = {name: value for name, value in content.items() if name != "parts"}
        return {**rest, "response": {"output": text}}
    return {"output": text}


def is_media(part: dict[str, Any]) -> bool:
    """Return True for an image, a file, or another part with binary data."""
    if not _MEDIA_FIELDS.isdisjoint(part) or part.get("type") in _MEDIA_TYPES or part.get("kind") == "binary":
        return True
    source = part.get("source")
    return part.get("type") == "document" and not (
        isinstance(source, dict) and source.get("type") in ("text", "content")
    )


def count_media(content: Any) -> int:
    """Return the number of images and files in a content."""
    if isinstance(content, dict):
        return 1 if is_media(content) else sum(map(count_media, content.values()))
    return sum(map(count_media, content)) if isinstance(content, list) else 0


def is_text(part: object) -> bool:
    """Return True for a text part."""
    return isinstance(part, dict) and part.get("type") in TEXT_TYPES and isinstance(part.get("text"), str)
