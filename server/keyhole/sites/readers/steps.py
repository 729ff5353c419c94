"""Let a reader go on with the answers of an API, in a worker, and check what comes back from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from keyhole.sites.readers import find_reader
from keyhole.sites.readers.base import MAX_REQUESTS, Answer, Request, compose

_FORMS: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, StopIteration)
"""What readers raise for answers of another form than they know."""


def continue_reading(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the next requests of the reader of `url`, or the composed document; b"" if an answer has another form.

    `answers`: request, final address and label of each answer, whose bodies are `bodies`.
    """
    reader = find_reader(arguments["url"], None)
    answers = [
        Answer(request, url, body, label)
        for (request, url, label), body in zip(arguments["answers"], bodies, strict=True)
    ]
    with suppress(*_FORMS):
        if reader and (requests := reader.next_requests(answers)):
            return {"requests": [[each.url, each.optional, each.label] for each in requests]}, b""
        if reader:
            return {}, compose(reader, answers).encode()
    return {}, b""


def read_requests(values: Mapping[str, Any]) -> tuple[Request, ...]:
    """Return the requests in a worker's result, none if they are of another form. Their places are checked later."""
    rows = values.get("requests")
    with suppress(ValueError, TypeError):
        return tuple(
            Request(str(url), bool(optional), str(label))
            for url, optional, label in (rows if isinstance(rows, list) else [])[:MAX_REQUESTS]
        )
    return ()
