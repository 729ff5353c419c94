"""The value that a site reader composes from the answers of a site's API, and its form as the body of a page.

The parts are converted to Markdown by the extractor (extract/formats/site.py), in its own process, as pages are.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

CONTENT_TYPE: Final = "application/x-keyhole-site+json"
"""The content type of a composed body. A server that sends it can state nothing that it could not state in HTML."""

Form = Literal["markdown", "html", "plain"]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the text, in the form in which the site sent it. Markdown from users may contain HTML comments."""

    text: str
    form: Form = "markdown"
    levels: int = 0
    """The number of levels by which its headings are lowered."""


@dataclass(frozen=True, slots=True)
class SiteDocument:
    """An object of a site, such as an issue with its comments. Dates are ISO 8601."""

    title: str
    parts: tuple[Part, ...]
    author: str = ""
    published: str = ""
    modified: str = ""
    site: str = ""
    language: str = ""
    cut: bool = False
    """True if the site has more parts than were read."""

    def encode(self) -> bytes:
        """Return the body of a page."""
        return json.dumps(asdict(self), ensure_ascii=False).encode("utf-8", "surrogatepass")


def decode_site_document(body: bytes) -> SiteDocument:
    """Return the document of a body. Raises ValueError, TypeError or KeyError for any other body."""
    values: dict[str, Any] = json.loads(body.decode("utf-8", "surrogatepass"))
    parts = tuple(Part(str(part["text"]), part["form"], int(part["levels"])) for part in values.pop("parts"))
    return SiteDocument(parts=parts, **values)
