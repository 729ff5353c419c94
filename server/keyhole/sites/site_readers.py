"""Read an object that a site offers through an API: the port of the readers, and the steps that a worker runs.

docs/how-it-works/sites.md lists the readers with their sources and limits; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from keyhole.fetch.permission import WebPlace, owner_of
from keyhole.runtime.extensions import open_port
from keyhole.sites.document import Part, SiteDocument
from keyhole.text.parse_json import parse_json

MAX_REQUESTS: Final = 8
"""Requests for one object. With 100 comments in each answer, all but the longest discussions are complete."""


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """A request of a reader."""

    url: str
    optional: bool = False
    """True if the document is composed without its answer too."""
    label: str = ""
    """What the answer adds, such as `the reviews`: named as not read if there is no answer. "" if many objects have no
    such part."""


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """The answer to a request. `url` and `body` are empty if there was no answer."""

    request: str
    url: str = ""
    body: bytes = b""
    label: str = ""

    @property
    def found(self) -> bool:
        """Return True if there was an answer."""
        return bool(self.url)

    def json(self) -> Any:
        """Return the value of a JSON body. Raises ValueError for any other body."""
        return parse_json(self.body.decode("utf-8-sig"))

    @property
    def text(self) -> str:
        """Return the body as text."""
        return self.body.decode("utf-8-sig", "replace")


class SiteReader(Protocol):
    """Reads one object of a site. Pure: the caller makes the requests, at most `MAX_REQUESTS`."""

    @property
    def name(self) -> str:
        """Return the name of the site in the setting KEYHOLE_SITES and in the first line of a result."""
        ...

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return the requests to make after these answers, or () if the document is complete."""
        ...

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the document. Raises ValueError, TypeError, KeyError or IndexError for answers of another form."""
        ...


@dataclass(frozen=True, slots=True)
class FixedReader:
    """A reader of an object whose requests are known from its address. `compose` makes the document of the answers."""

    name: str
    requests: tuple[SiteRequest, ...]
    compose: Callable[[Sequence[SiteAnswer]], SiteDocument]
    file: str = ""
    """The address of the file, "" for an object that is not a file. If no document can be composed of it, such as of
    a PDF, it is fetched as any other file."""

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Return all requests at once."""
        return () if answers else self.requests

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the document."""
        return self.compose(answers)


class SiteReaders(Protocol):
    """Finds the readers of sites. The extension `site_apis` implements it."""

    def find_reader(self, url: str) -> SiteReader | None:
        """Return the reader of an address, or None if no reader matches. May raise ValueError."""
        ...

    def further_places(self, owner: WebPlace) -> Iterator[WebPlace]:
        """Yield the other places of an API that one reader asks or that the API leads to."""
        ...


def open_site_readers() -> SiteReaders:
    """Return the implementation of the port."""
    readers: SiteReaders = open_port("site_apis")
    return readers


def find_reader(url: str, names: Collection[str] | None) -> SiteReader | None:
    """Return the reader of an address, or None if no reader matches or its name is not in `names`. `names`: None for
    all readers.

    An address with parts that could lead to another object of an API has no reader.
    """
    with suppress(ValueError):
        if reader := open_site_readers().find_reader(url):
            return reader if names is None or reader.name in names else None
    return None


def places_of(reader: SiteReader) -> tuple[WebPlace, ...]:
    """Return the places that the requests of a reader, and their redirects, may reach."""
    owners = tuple(dict.fromkeys(owner_of(request.url) for request in reader.next_requests(())))
    further_places = open_site_readers().further_places
    return (*owners, *(place for owner in owners for place in further_places(owner)))


def compose(reader: SiteReader, answers: Sequence[SiteAnswer]) -> SiteDocument:
    """Return the document of a reader, with a line that names the parts that were not read.

    Raises ValueError, TypeError, KeyError, IndexError, AttributeError or StopIteration for answers of another form.
    """
    document = reader.document(answers)
    missing = [answer.label for answer in answers if answer.label and not answer.found]
    if not missing:
        return document
    line = Part(f"Not read, because the API refused or failed: {', '.join(missing)}.")
    return replace(document, parts=(*document.parts, line), cut=True)


# Steps: a worker gives a reader the answers of an API, and what comes back from there is checked.

_FORMS: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, StopIteration)
"""What readers raise for answers of another form than they know."""


def continue_reading(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the next requests of the reader of `url`, or the composed document; b"" if an answer has another form.

    `answers`: request, final address and label of each answer, whose bodies are `bodies`.
    """
    reader = find_reader(arguments["url"], None)
    answers = [
        SiteAnswer(request, url, body, label)
        for (request, url, label), body in zip(arguments["answers"], bodies, strict=True)
    ]
    with suppress(*_FORMS):
        if reader and (requests := reader.next_requests(answers)):
            return {"requests": [[each.url, each.optional, each.label] for each in requests]}, b""
        if reader:
            return {}, compose(reader, answers).encode()
    return {}, b""


def read_requests(values: Mapping[str, Any]) -> tuple[SiteRequest, ...]:
    """Return the requests in a worker's result, or () if they have another form. Their places are checked later."""
    rows = values.get("requests")
    with suppress(ValueError, TypeError):
        return tuple(
            SiteRequest(str(url), bool(optional), str(label))
            for url, optional, label in (rows if isinstance(rows, list) else [])[:MAX_REQUESTS]
        )
    return ()
