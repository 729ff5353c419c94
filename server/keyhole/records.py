"""The values that stages pass to each other, in the order in which they are created.

Offsets are Unicode code points, half-open `[start, end)`, into the stored text. Times are seconds since the epoch. All
values are frozen: a stage creates a new value instead of changing its input.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Strategy = Literal["whole", "passages", "head_tail", "window", "quote"]

TOPIC: Final = "*"
"""The prefix of the search terms for an artifact's topic, which are stored beside its words. No word contains it."""
CHANGED: Final = "changed"
"""The artifact note that lists the passages that are new since the artifact it replaced; see text/diff.py."""
MARKDOWN: Final = "markdown"
"""The artifact note with the URL of the author's Markdown that was used; see retrieval/markdown_alternate.py."""
NEAR: Final = "near"
"""The artifact note with the addresses near one that led to a page without the requested content: a line for each."""
SITE: Final = "site"
"""The artifact note with the name of the site reader that composed the text from the answers of an API."""
SITE_FAULT: Final = "site_fault"
"""The artifact note with the reason why a site reader failed, so that the HTML page was read."""
REFRESH: Final = "refresh"
"""The artifact note with the seconds and the address of a page that sends its reader on; see text/refresh.py."""
FOLLOWED: Final = "followed"
"""The artifact note with the address to which the requested page sent its reader, where the text was read."""
RENDERED: Final = "rendered"
"""The artifact note of a page whose scripts a browser ran."""
REST: Final = "rest"
"""The artifact note with the kinds of parts in the rest of the page, as text/page_structure.py lists them."""
WORDLESS: Final = "wordless"
"""The artifact note with the numbers of elements without text, as text/page_structure.py lists them."""
UNDIGESTED: Final = "undigested"
"""The notice of a text without the page's structure: no worker finished the page. Its next read replaces the text."""
READER: Final = "reader"
"""The artifact note with the Keyhole version that extracted the text. Another version may extract it differently."""


@dataclass(frozen=True, slots=True)
class Page:
    """The response for one URL. The body is as served, not decoded to text, and at most as long as the byte limit."""

    requested_url: str
    url: str
    status: int
    content_type: str
    body: bytes
    fetched_at: float
    """Seconds since the epoch at which the request for the page began."""
    cut: bool = False
    """True if the body is incomplete: it reached the byte limit, the connection broke, or its coding was damaged."""
    etag: str = ""
    last_modified: str = ""
    link: str = ""
    """The Link header, shortened."""
    refresh: str = ""
    """The Refresh header, shortened."""
    rendered: bool = False
    """True if the body is what a browser showed after the page's scripts ran."""
    reader: str = ""
    """The name of the site reader that composed the body from the answers of an API."""
    reader_fault: str = ""
    """Why a site reader could not compose the body, so that it is the HTML page."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata that a page states: each value is one short line, or "". Dates are ISO 8601. The title does not
    contain the name of the site."""

    title: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""  # a BCP 47 tag
    canonical: str = ""
    """An absolute http(s) URL. The page claims it; it never replaces the URL that was fetched."""
    site: str = ""
    description: str = ""
    refresh: str = ""
    """The seconds and the absolute address of a page that sends its reader on; see text/refresh.py."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page as readable Markdown: its main part, then the rest of the page."""

    title: str
    text: str
    media_type: str
    language: str = ""
    removed: tuple[tuple[str, int], ...] = ()
    metadata: Metadata = Metadata()
    notice: str = ""
    """The kind of placeholder, if the text is not the real page: a key of `NOTICES` in render/answer.py, or a line."""
    cut: bool = False  # True if the text is not the complete text of the body
    main_end: int | None = None
    """The end of the main part in the text, after which the rest follows; None if all of the text is main."""
    pages: tuple[tuple[int, str], ...] = ()  # the offset of each page of a PDF file, with its label
    section: str = ""
    """The words before the part that the fragment of the requested address names, and those with which it begins."""
    wordless: tuple[tuple[str, int], ...] = ()
    """How many elements of each `WordlessKind` the page has: embedded files and icons that no text stands for."""

    @property
    def main(self) -> str:
        """Return the main part of the text."""
        return self.text[: self.main_end]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A document with the id under which it is stored. The same URL and text have the same id."""

    id: str
    url: str
    requested_url: str
    title: str
    text: str
    media_type: str
    language: str
    fetched_at: float
    cut: bool = False
    etag: str = ""
    """The validator `ETag` of the final URL, "" if it cannot be sent back."""
    last_modified_header: str = ""
    """The validator `Last-Modified` of the final URL, "" if it cannot be sent back."""
    author: str = ""
    published: str = ""
    """The date on which the page was published, as it states itself."""
    modified: str = ""
    """The date on which the page was modified, as it states itself."""
    site: str = ""
    replaces: str = ""
    """The id of the earlier artifact of the same requested URL, "" if there is none or its text was the same."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts as `(name, value)`, each name at most once. Later results show them too."""
    main_end: int | None = None
    """The end of the main part in the text, after which the rest of the page follows; None if all of it is main."""

    @property
    def main(self) -> str:
        """Return the main part of the text."""
        return self.text[: self.main_end]

    def note(self, name: str) -> str:
        """Return the value of the note called `name`, or ""."""
        return dict(self.notes).get(name, "")

    @property
    def notice(self) -> str:
        """Return the notice of the document, "" for a real page."""
        return self.note("notice")


@dataclass(frozen=True, slots=True)
class ArtifactSummary:
    """One entry of a listing: an artifact without its text."""

    id: str
    url: str
    title: str
    chars: int
    fetched_at: float
    last_access: float
    size: int = 0  # bytes of the text in UTF-8
    notes: tuple[tuple[str, str], ...] = ()
    pinned: bool = False
    """True if the artifact neither expires nor is dropped for space."""

    @property
    def place(self) -> Place:
        """Return the artifact's place in a listing."""
        return (self.fetched_at, self.id)


Place = tuple[float, str]
"""A place in a listing: when an artifact was fetched, and its id. It stays valid when other artifacts come or go."""


@dataclass(frozen=True, slots=True)
class ArtifactPart:
    """A part of a stored text: `artifact.text` is only the part that begins at `start`, of `total` characters.

    `artifact.main_end` is a place in the whole text.
    """

    artifact: Artifact
    start: int
    total: int


@dataclass(frozen=True, slots=True)
class TermCount:
    """The number of times that one term of the query occurs in the whole text."""

    term: str
    count: int
    in_rest: bool = False
    """True if it occurs only in the rest of the page, of which no passages were chosen."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The spans of a text that are shown, in reading order, with their scores and how they were chosen."""

    strategy: Strategy
    total: int
    spans: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]
    text: str = field(repr=False)
    """The verbatim spans joined by gap lines, within the budget."""
    terms: tuple[TermCount, ...] = ()
    matched: bool = False
    """True if any term of the query occurs in the text."""
    weak: bool = False
    """True if even the best passage matches so little of the query that the text may not contain the answer."""
    parts: tuple[tuple[tuple[str, float], ...], ...] = ()
    """For each span the components of its score, as `(name, value)`."""
    repeated: tuple[tuple[int, int], ...] = ()
    """Spans left out because the session was shown them before."""
    more: int = 0  # further passages that match the query, but less, and are left out
    copies: int = 0  # passages left out because they repeat what a shown one says
    best: int = 0  # the number of the span with the best window, from 1; 0 without a query
    skip: int = 0  # the best windows shown so far; the same call with this `skip` shows the next ones
    page_language: str = ""  # the page's language, such as "German", if the query is in another one

    @property
    def shown(self) -> int:
        """Return the number of characters shown."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Window:
    """A range of a text that is read in order."""

    start: int
    end: int
    total: int

    @property
    def next_start(self) -> int | None:
        """Return the start of the next window, None at the end of the text."""
        return self.end if self.end < self.total else None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question for the search engines, with filters that the engines or Keyhole apply."""

    query: str
    max_results: int
    sites: tuple[str, ...] = ()
    exclude_sites: tuple[str, ...] = ()
    freshness: str = ""  # `day`, `week`, `month` or `year`
    language: str = ""  # a BCP 47 tag
    country: str = ""  # ISO 3166-1, two letters in lower case
    kind: str = "web"  # `web` or `news`


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of one engine."""

    url: str
    title: str
    snippet: str
    engine: str
    date: str = ""  # of publication as the engine states it: ISO 8601, with or without a time


@dataclass(frozen=True, slots=True)
class EngineReport:
    """The outcome of a request to one engine: `fault` in a few words, "" if the engine answered, even without hits."""

    name: str
    fault: str = ""
    unapplied: tuple[str, ...] = ()
    """The filters of the request that neither the engine nor Keyhole can apply."""
    note: str = ""  # phrasings that failed, or engines behind a metasearch engine that failed


@dataclass(frozen=True, slots=True)
class Sketch:
    """A fingerprint of a text, for finding texts that are nearly the same; see passages/near_duplicates.py."""

    hashes: frozenset[int]
    """A sample of the hashes of the text's shingles, which are runs of words."""
    level: int  # sets the size of the sample
    size: int
    """The number of different shingles; an estimate for a long text."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a search: its artifact and the spans that are shown, or the reason why it was not read."""

    url: str
    title: str
    snippet: str = ""
    artifact: Artifact | None = None
    stored: bool = False
    not_read: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    scores: tuple[float, ...] = ()
    date: str = ""
    """The date of publication as the page or else the engine states it; ISO 8601."""
    copies: tuple[str, ...] = ()
    """URLs of other pages with nearly the same text, which this source represents."""
    from_store: bool = False
    """True if a search of the store found the source, not an engine."""
    sketch: Sketch | None = None
    """The sketch of the artifact's text, if it was computed already."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one source's text. Its score is comparable with the scores of other sources' passages."""

    start: int
    end: int
    score: float
    label: str = ""  # the heading or the table's header row above the passage, for the gap line
    coverage: float = 1.0
    """The share of the query's weight that the passage and its context match, from 0 to 1 or a little more."""
    strength: float = 1.0
    """How probable it is, from 0 to 1, that the text of the passage answers the query (passages/strength.py)."""


Ranked = tuple[tuple[Passage, ...], ...]
"""For each source of a search, its matching passages, best first."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a model gets it: encoded again by Keyhole, without metadata."""

    data: bytes
    media_type: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a tool: text for the model, facts for programs, and whether the call failed."""

    text: str
    facts: dict[str, object]
    is_error: bool = False
    shown: tuple[tuple[str, int, int], ...] = ()
    """`(id, start, end)` of each span of a stored text in the answer. The session records them; they are not sent."""
    details: dict[str, object] = field(default_factory=dict)
    """Further facts for `--json`, such as scores. They are not sent."""
    lacks_text: bool = False  # True if the space is too small for any of the text
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """The failure of one scorer. `instead` names the order that is used."""

    scorer: str
    reason: str
    instead: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A span that is left out, and the call that showed it."""

    start: int
    end: int
    call: int
    label: str = ""
