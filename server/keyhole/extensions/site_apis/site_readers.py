"""The port of the readers of sites: the requests of a reader, their answers, and the document made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

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
