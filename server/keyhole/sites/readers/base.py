"""The port of the site readers, and what they share: answers, JSON and the head line of a post."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from keyhole.fetch.permission import WebPlace, owner_of
from keyhole.sites.document import Part, PartForm, SiteDocument
from keyhole.text.escape import escape_markdown
from keyhole.text.parse_json import parse_json

MAX_REQUESTS: Final = 8
"""Requests for one object. With 100 comments in each answer, all but the longest discussions are complete."""
PER_PAGE: Final = 100
"""Entries in one answer of most APIs, which allow no more."""
URL_END: Final = r"/?(?:[?#].*)?$"
"""A pattern for the end of an address whose query and fragment do not matter."""


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


def places_of(reader: SiteReader) -> tuple[WebPlace, ...]:
    """Return the places that the requests of a reader, and their redirects, may reach."""
    owners = tuple(dict.fromkeys(owner_of(request.url) for request in reader.next_requests(())))
    return (*owners, *(place for owner in owners for place in _further_places(owner)))


def _further_places(owner: WebPlace) -> Iterator[WebPlace]:
    """Yield the other places of an API that one reader asks or that the API leads to."""
    match owner.site, owner.folder:
        case "api.github.com", ("repos", name, repo):
            yield WebPlace("api.github.com", ("repositories",))  # where the API leads for a renamed repository
            yield WebPlace("github.com", (name, repo))  # the diff of a pull request
            yield WebPlace("patch-diff.githubusercontent.com", ("raw", name, repo))
        case "crates.io", _:
            yield WebPlace("static.crates.io", ("readmes",))
        case "pypi.org", (_, name):
            yield WebPlace("pypi.org", ("rss", "project", name))


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


def post(
    author: str, date: str, text: str, *facts: str, form: PartForm = "markdown", levels: int = 2
) -> tuple[Part, ...]:
    """Return a post as parts: a line with author, date and further facts, then its text."""
    head = " · ".join(part for part in (f"**{one_line(author) or 'unknown'}**", date[:10], *facts) if part)
    body = Part(text, form, levels)
    return (Part(head), body) if text.strip() else (Part(head),)


def one_line(text: object) -> str:
    """Return a text as one line in which signs of Markdown are escaped; "" for None."""
    return "" if text is None else escape_markdown(" ".join(str(text).split()))


def get_text(value: object, *names: str) -> str:
    """Return the text at a path of names in nested objects, "" if it is missing or null."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)


def get_list(value: object) -> list[Mapping[str, Any]]:
    """Return a list of objects. Raises TypeError for any other value."""
    if not isinstance(value, list):
        raise TypeError("the answer is not a list")
    return [each for each in value if isinstance(each, Mapping)]


def count_words(number: int, word: str) -> str:
    """Return a number with a word, in the plural if necessary."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def points(score: object) -> str:
    """Return a score with the word for it."""
    return count_words(int(str(score)), "point")


def reply_level(depth: int) -> str:
    """Return the level of a reply below the first text, "" for a direct reply."""
    return f"reply, level {depth}" if depth else ""
