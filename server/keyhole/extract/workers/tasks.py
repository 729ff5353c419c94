"""The port to the worker processes, in which all untrusted bytes are parsed, and the messages to and from them.

A page is extracted. Any other answer of a server, such as a sitemap or the answer of an API, is parsed by a `Task`.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from keyhole.errors import Code, KeyholeError
from keyhole.records import Document, Metadata, Page
from keyhole.text.sections import MAX_SECTION

# The port to the worker processes. Tests implement it without processes.

Result = tuple[dict[str, Any], bytes]
"""The result of a task: JSON values and a body. The process that made it has read untrusted bytes, so the caller checks
the type of every value before it uses it."""

TaskFunction = Callable[[Mapping[str, Any], Sequence[bytes]], Result]
"""A function of a module that takes the arguments and bodies of a task. It may raise KeyholeError."""


@dataclass(frozen=True, slots=True)
class Task:
    """A function that a worker applies to untrusted bytes."""

    function: TaskFunction
    arguments: Mapping[str, Any]
    """JSON values."""
    bodies: Sequence[bytes] = ()


class Extractor(Protocol):
    """An extractor of documents from pages. WorkerPool implements it with processes."""

    def warm(self) -> None:
        """Prepare for a page that is still being fetched. Returns at once."""
        ...

    async def extract(self, page: Page) -> tuple[Document, str]:
        """Return the document of a page without its `blocks`, and its words for the search index.

        The document of a page that cannot be read has the notice UNDIGESTED and the page's bare text. The call waits
        for its turn as long as it must; a caller with a deadline cancels it.

        Raises KeyholeError as `keyhole.extract` does.
        """
        ...

    async def run(self, task: Task) -> Result:
        """Return the result of a task, within the limits of a page.

        Raises the KeyholeError of the task's function, and extraction_failed if a limit ended it.
        """
        ...

    async def aclose(self) -> None:
        """End all processes that were started."""
        ...


# Messages between server and worker: a JSON head and a raw body, each with its length. A worker has read a hostile
# page, so its answers are not trusted: their size is checked before they are read, and every field is validated. No
# answer can make the server run or import anything.

LENGTHS: Final = struct.Struct("!II")
"""The lengths of head and body in bytes, sent before them."""
MAX_ANSWER: Final = 100_000_000
"""Largest answer, in bytes. The largest text and its words are smaller even in three-byte characters."""
MAX_RESULT: Final = 50_000_000
"""Largest result of a task, in bytes: a discussion composed of eight answers, each of the usual largest size."""
MAX_MESSAGE: Final = 1_000
"""Largest length of a failure's message and of each fact, in characters. Longer texts are truncated."""
MAX_FACTS: Final = 10
"""Largest number of facts of a failure. No failure has more."""
READING_ENDED: Final = "reading ended unexpectedly"
_NAME: Final = re.compile(r"[a-z_]{0,40}")


class UnreadError(KeyholeError):
    """Raised if a worker did not finish a page. The message is the reason. The page's bare text may still be shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(Code.EXTRACTION_FAILED, reason)


class OutOfTimeError(UnreadError):
    """Raised if a time limit ended the reading of a page. With more time the page may be readable."""


def pack(head: dict[str, Any], body: bytes = b"") -> tuple[bytes, bytes]:
    """Encode a message as a prefix of lengths and head, and the unchanged body. A large body is not copied."""
    encoded = _encode(json.dumps(head, ensure_ascii=False, separators=(",", ":")))
    return LENGTHS.pack(len(encoded), len(body)) + encoded, body


def unpack_lengths(prefix: bytes, max_bytes: int = MAX_ANSWER) -> tuple[int, int]:
    """Return the lengths of head and body. Raises UnreadError if they add up to more than `max_bytes`."""
    head, body = LENGTHS.unpack(prefix)
    if head + body > max_bytes:
        raise UnreadError("reading produced more text than is allowed")
    return head, body


def parse_head(encoded: bytes) -> dict[str, Any]:
    """Return the head of a message. Raises UnreadError unless it is a JSON object."""
    try:
        head = json.loads(_decode(encoded))
    except (ValueError, RecursionError) as error:
        raise UnreadError(READING_ENDED) from error
    if not isinstance(head, dict):
        raise UnreadError(READING_ENDED)
    return head


def encode_function(function: Callable[..., Any]) -> str:
    """Return the name of a function of a module, as "module:name"."""
    return f"{function.__module__}:{function.__name__}"


def decode_function(name: str) -> Any:
    """Return the function that `encode_function` named. Only the server names functions, never a worker."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def encode_document(document: Document, words: str) -> tuple[dict[str, Any], bytes]:
    """Return a worker's answer for a document: the head and the body of the message."""
    head = {
        "title": document.title,
        "media_type": document.media_type,
        "language": document.language,
        "removed": document.removed,
        "wordless": document.wordless,
        "notice": document.notice,
        "main_end": document.main_end,
        "pages": document.pages,
        "cut": document.cut,
        "section": document.section,
        "metadata": asdict(document.metadata),
        "words": words,
    }
    return head, _encode(document.text)


def encode_failure(error: KeyholeError) -> dict[str, Any]:
    """Return the head of a worker's answer for a failure with an error code."""
    return {"code": str(error.code), "message": error.message, "facts": error.facts}


def parse_answer(head: dict[str, Any], encoded_text: bytes) -> tuple[Document, str] | KeyholeError:
    """Return the document and words in an answer, or the failure in it. Raises UnreadError for any other answer.

    An UnreadError is returned if the worker itself reports that it could not read the page.
    """
    try:
        text = _decode(encoded_text)
        if "unread" in head:
            return UnreadError(require_text(head["unread"])[:MAX_MESSAGE])
        if "code" in head:
            facts = {
                require_text(key): _require_scalar(value) for key, value in list(head["facts"].items())[:MAX_FACTS]
            }
            return KeyholeError(Code(head["code"]), require_text(head["message"])[:MAX_MESSAGE], **facts)
        document = Document(
            title=require_text(head["title"]),
            text=text,
            media_type=require_text(head["media_type"]),
            language=require_text(head["language"]),
            removed=tuple((require_text(kind), int(count)) for kind, count in head["removed"]),
            wordless=tuple((require_text(kind), int(count)) for kind, count in head["wordless"]),
            notice=_require_notice_name(head["notice"]),
            metadata=Metadata(**{name: require_text(value) for name, value in head["metadata"].items()}),
            main_end=_require_offset(head["main_end"], len(text)),
            cut=head["cut"] is True,
            section=require_text(head["section"])[:MAX_SECTION],
            pages=tuple((_require_offset(at, len(text)) or 0, require_text(label)) for at, label in head["pages"]),
        )
        return document, require_text(head["words"])
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise UnreadError(READING_ENDED) from error


def parse_result(head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes] | KeyholeError:
    """Return the result of a task, or the failure in it. Raises UnreadError for any other answer."""
    values = head.get("result")
    if isinstance(values, dict):
        return values, body
    failure = parse_answer(head, b"")
    if isinstance(failure, KeyholeError):
        return failure
    raise UnreadError(READING_ENDED)


def require_text(value: object) -> str:
    """Return a value if it is a string. Raises TypeError for any other."""
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value


def _require_offset(value: object, length: int) -> int | None:
    """Return an offset in a text of this length, or None."""
    if value is not None and not (isinstance(value, int) and 0 <= value <= length):
        raise TypeError("not an offset")
    return value


def _require_notice_name(value: object) -> str:
    """Return the name of a notice. Free text is rejected: it would be shown as if Keyhole had written it."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise TypeError("not a name")
    return value


def _require_scalar(value: object) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError("not a plain value")
    return value[:MAX_MESSAGE] if isinstance(value, str) else value


def _encode(text: str) -> bytes:
    """Encode as UTF-8 including lone surrogates, which pages can contain."""
    return text.encode("utf-8", "surrogatepass")


def _decode(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")
