"""The value that a site reader composes from the answers of a site's API, and its form as the body of a page.

The parts are converted to Markdown by the extractor (extract/formats/site.py), in its own process, as pages are.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from keyhole.text.parse_json import parse_json

CONTENT_TYPE: Final = "application/x-keyhole-site+json"
"""The content type of a composed body. A server that sends it can state nothing that it could not state in HTML."""

PartForm = Literal["markdown", "html", "plain", "code"]
MAX_LEVELS: Final = 6
"""Levels of headings in Markdown."""

_MARKDOWN = re.compile(r"\.(?:md|markdown|mdx)$", re.IGNORECASE)
_LANGUAGES: Final = {"py": "python", "js": "javascript", "ts": "typescript", "rs": "rust", "rb": "ruby", "yml": "yaml"}
"""The names that Markdown uses for languages, by the suffix of a file. Most suffixes are names themselves."""
_BINARY_CHARS: Final = 8_000
"""Characters searched for a NUL, which no text has; Git looks at as many bytes."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the text, in the form in which the site sent it. Markdown from users may contain HTML comments."""

    text: str
    form: PartForm = "markdown"
    levels: int = 0
    """The number of levels by which its headings are lowered."""
    language: str = ""
    """The language of code, as Markdown names it."""


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
    """Return the document of a body. Raises ValueError, TypeError or KeyError for any other body.

    A web server may send such a body too, so nothing in it is trusted to be of the right type.
    """
    values: dict[str, Any] = parse_json(body.decode("utf-8", "surrogatepass"))
    parts = tuple(
        Part(str(part["text"]), part["form"], min(max(int(part["levels"]), 0), MAX_LEVELS), str(part["language"]))
        for part in values["parts"]
    )
    names = ("title", "author", "published", "modified", "site", "language")
    return SiteDocument(parts=parts, cut=bool(values["cut"]), **{name: str(values[name]) for name in names})


def file_part(text: str, path: str, levels: int = 1) -> Part:
    """Return a file as a part. `levels`: by which the headings of Markdown are lowered.

    Raises ValueError for a file that is not text.
    """
    if "\0" in text[:_BINARY_CHARS]:
        raise ValueError("the file is not text")
    return Part(text, "markdown", levels) if _MARKDOWN.search(path) else code_part(text, path)


def code_part(text: str, path: str) -> Part:
    """Return a text as code in the language that the suffix of its path names."""
    suffix = path.rpartition(".")[2].lower() if "." in path else ""
    return Part(text.rstrip(), "code", language=_LANGUAGES.get(suffix, suffix))
