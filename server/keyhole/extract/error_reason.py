"""Find what a site says of an error in the body of the response: one line of its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from keyhole.extract.body import Body, looks_binary
from keyhole.extract.failures.phrases import NOT_FOUND_TITLES, STANDARD_WORDS
from keyhole.extract.workers.tasks import Result
from keyhole.text.clean import clean
from keyhole.text.markdown import LINK
from keyhole.text.parse_json import parse_json

MAX_REASON_CHARS: Final = 300
"""Characters of a reason. A longer text is cut at the end of a sentence or a word."""
MAX_PARTS: Final = 3
"""Parts of a reason in JSON, such as a title, a detail and the first wrong field."""
MAX_ITEMS: Final = 3
"""Errors of a list that are read. APIs list one for each wrong field."""
MAX_LEVELS: Final = 5
"""Levels of JSON in which a reason is looked for: `{"error": {"errors": [{"message": …}]}}` has four."""
MAX_ERROR_LINES: Final = 200
"""Lines of an error page that are read."""

_KEYS: Final = (
    "title", "message", "msg", "errormessage", "error_message", "faultstring", "error_description", "description",
    "detail", "details", "reason", "errors", "error", "fault", "invalid-params", "invalid_params", "status_message",
    "hint",
)  # fmt: skip
"""Names in JSON and XML that hold a reason, in lower case and in the order in which they are read: RFC 9457, RFC 6749,
JSON:API, GraphQL and the web frameworks in use."""
_FIELDS: Final = ("field", "loc", "param", "parameter", "name", "path", "pointer", "source")
"""Names that hold the wrong field of an error in a list."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MARKS: Final = re.compile(r"\\([!-/:-@\[-`{-~])|\*{1,3}|^[>#\s]+|`")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}\.|\||---)\s")
_SENTENCE_END: Final = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")
_XML_START: Final = re.compile(r"\s*<(?:\?xml|(?!!doctype|html|head|body)[A-Za-z])", re.IGNORECASE)


def find_reason(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """Return the reason in the body of an error response: in JSON, XML, HTML or plain text; "" if it gives none."""
    body = Body(bodies[0], arguments["content_type"], arguments["url"])
    reason = "" if looks_binary(body.data, body.content_type) else _read_reason(body)
    return {"reason": _shorten(" ".join(clean(reason).split()))}, b""


def _read_reason(body: Body) -> str:
    text = body.text().strip()
    if text[:1] in {"{", "[", '"'}:
        try:
            return _join(_json_parts(parse_json(text), MAX_LEVELS))
        except ValueError:
            pass  # cut, or not JSON
    kind = body.content_type.partition(";")[0].lower()
    if "html" in kind or (text[:1] == "<" and not _XML_START.match(text)):
        return _html_reason(text, body.url)
    if text[:1] == "<":
        return _xml_reason(text) or _html_reason(text, body.url)
    paragraph = re.split(r"\n\s*\n", text, maxsplit=1)[0]
    return "" if "json" in kind or _is_standard(paragraph) else paragraph


# JSON.


def _json_parts(value: object, levels: int) -> Iterator[str]:
    """Yield the texts of a JSON value that may be the reason, the most general first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and levels:
        for item in islice(value, MAX_ITEMS):
            yield from _json_parts(item, levels - 1)
    elif isinstance(value, dict) and levels:
        named = {name.lower(): each for name, each in value.items()}
        found = [part for name in _KEYS if name in named for part in _json_parts(named[name], levels - 1)]
        field = next((_field_name(named[name]) for name in _FIELDS if name in named), "") if levels < MAX_LEVELS else ""
        if found and field and field not in " ".join(found):
            found[0] = f"{field}: {found[0]}"
        yield from found
        if not found:
            yield from _unnamed_parts(value, levels)


def _unnamed_parts(value: Mapping[str, object], levels: int) -> Iterator[str]:
    """Yield the texts of an object without a known name: of an object in it, or of the errors by their field."""
    for name, each in islice(value.items(), MAX_ITEMS):
        label = f"{name}: " if levels < MAX_LEVELS else ""
        yield from (f"{label}{part}" for part in islice(_json_parts(each, levels - 1), 1) if " " in part)


def _field_name(value: object) -> str:
    """Return the name of a wrong field, or "": the last part of its path."""
    if isinstance(value, dict):
        value = value.get("pointer") or value.get("parameter")
    if isinstance(value, list):
        value = value[-1] if value else ""
    return value.rpartition("/")[2][:60] if isinstance(value, str) else ""


def _join(parts: Iterable[str]) -> str:
    """Join the parts of a reason, each once, without codes and standard phrases unless there is nothing else."""
    texts = [text for text in dict.fromkeys(" ".join(part.split()) for part in parts) if text]
    telling = [text for text in texts if not _is_standard(text)]
    chosen = [text for text in telling if " " in text] or telling
    joined = ""
    for text in chosen[:MAX_PARTS]:
        if text not in joined:
            joined += (" " if joined.endswith((".", "!", "?", ":")) else ": " if joined else "") + text
    return joined


# XML, HTML.


def _xml_reason(text: str) -> str:
    from keyhole.extract.html.tree import parse_html  # lxml is imported on first use

    # The parser of HTML resolves no entities and needs no valid XML.
    named: dict[str, str] = {}
    for element in parse_html(text).iter():
        if isinstance(element.tag, str) and not len(element):
            named.setdefault(element.tag.rpartition(":")[2].lower(), (element.text or "").strip())
    return _join(named[name] for name in _KEYS if name in named)


def _html_reason(text: str, url: str) -> str:
    """Return the first telling heading of an error page with the first paragraph after it, or else the title."""
    from keyhole.extract.html.metadata import read_metadata
    from keyhole.extract.html.page import html_to_markdown
    from keyhole.extract.html.tree import parse_html

    title = read_metadata(parse_html(text), url).title
    lines = html_to_markdown(text, url).splitlines()[:MAX_ERROR_LINES]
    first = next((number for number, line in enumerate(lines) if line.startswith("#")), 0)
    heading = _plain(lines[first]) if lines and lines[first].startswith("#") else ""
    paragraphs = [_plain(line) for line in (*lines[first:], *lines[:first]) if _is_paragraph(line)]
    paragraph = next((each for each in paragraphs if not _is_standard(each)), "")
    return _join([heading, paragraph]) or ("" if _is_standard(title) else title)


def _is_paragraph(line: str) -> bool:
    """Return whether a line of Markdown is of a paragraph with words outside of links."""
    return not (_ITEM.match(line) or line.startswith("#")) and _WORD.search(LINK.sub("", line)) is not None


def _plain(line: str) -> str:
    return _MARKS.sub(r"\1", LINK.sub(r"\1", line)).strip()


# Words.


def _is_standard(text: str) -> bool:
    """Return whether a text says no more than the status of the response."""
    without_addresses = " ".join(word for word in text.split() if "/" not in word and "." not in word[:-1])
    words = _WORD.findall(without_addresses.lower().replace("’", "'").replace("_", " "))
    return all(word in STANDARD_WORDS for word in words) or text.casefold().rstrip(" .!") in NOT_FOUND_TITLES


def _shorten(text: str) -> str:
    if len(text) <= MAX_REASON_CHARS:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, MAX_REASON_CHARS)]
    return text[: ends[-1]] if ends else text[:MAX_REASON_CHARS].rpartition(" ")[0] + "…"
