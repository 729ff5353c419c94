"""The values that travel between stages, in the order they are made. No behaviour beyond their own facts.

Offsets are Unicode code points, half-open `[start, end)`, into the stored text. Times are seconds since
the epoch. Every value is frozen: a stage makes a new one instead of changing what it was given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Strategy = Literal["whole", "passages", "head_tail", "window", "quote"]
BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]

TOPIC: Final = "*"
"""The prefix of a search term that names what an artifact is about. No word contains it."""
CHANGED: Final = "changed"
"""The artifact note that lists the passages that are new since the artifact it replaced; see text/diff.py."""
MARKDOWN: Final = "markdown"
"""The artifact note with the URL of the author's Markdown that was used; see retrieval/markdown_alternate.py."""
READER: Final = "reader"
"""The artifact note with the Keyhole version that extracted the text. Another version may extract it differently."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the network gave for one URL: the body is as served, undecoded text, at most the byte cap."""

    requested_url: str
    url: str
    status: int
    content_type: str
    body: bytes
    fetched_at: float
    cut: bool = False
    """True when the body stopped at the byte cap, the connection broke or a coding was damaged: it must never pass for
    whole."""
    etag: str = ""
    last_modified: str = ""
    link: str = ""
    """The Link header, bounded."""


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document's text."""

    kind: BlockKind
    heading_path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself: each value one bounded line, "" where it says nothing. Dates are ISO 8601."""

    title: str = ""
    """The page's own, without the site's name."""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    """BCP 47."""
    canonical: str = ""
    """Absolute http(s). A claim of the page: never used in place of the URL that was fetched."""
    site: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A page as readable Markdown, with what was left out of it counted."""

    title: str
    text: str
    media_type: str
    language: str = ""
    blocks: tuple[Block, ...] = ()
    removed: tuple[tuple[str, int], ...] = ()
    metadata: Metadata = Metadata()
    notice: str = ""
    """What the text is only, by name (see wording.NOTICES) or as a line of ours; "" for a page that is itself."""
    cut: bool = False
    """True when the text is not all that the body holds."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A document kept: the full text under an id that is the same for the same URL and text."""

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
    last_modified: str = ""
    """Validators of the final URL as it gave them, "" where none can be sent back."""
    author: str = ""
    published: str = ""
    modified: str = ""
    site: str = ""
    replaces: str = ""
    """The id of the artifact that the same request gave before, "" when there was none or it was the same."""
    notes: tuple[tuple[str, str], ...] = ()
    """Small facts by name, each once: what a stage found out that later calls must say again."""

    def note(self, name: str) -> str:
        """The note of this name, or ""."""
        return dict(self.notes).get(name, "")

    @property
    def notice(self) -> str:
        """As in the document."""
        return self.note("notice")


@dataclass(frozen=True, slots=True)
class ArtifactSummary:
    """One line of a listing: everything about an artifact but its text."""

    id: str
    url: str
    title: str
    chars: int
    fetched_at: float
    last_access: float
    size: int = 0
    """Bytes of the text in UTF-8."""

    @property
    def place(self) -> Place:
        """Where it stands in a listing."""
        return (self.fetched_at, self.id)


Place = tuple[float, str]
"""A place in a listing: when an artifact was fetched, and its id. It stays when others come or go."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a stored text without the rest: `artifact.text` is only what stands from `start` on, of `total`
    characters."""

    artifact: Artifact
    start: int
    total: int


@dataclass(frozen=True, slots=True)
class TermCount:
    """How often one term of the query stands in the whole text."""

    term: str
    count: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a text is shown: spans in reading order, their scores, and why these."""

    strategy: Strategy
    total: int
    spans: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]
    text: str = field(repr=False)
    """The verbatim spans joined by gap lines; at most the budget it was made for."""
    terms: tuple[TermCount, ...] = ()
    matched: bool = False
    """Whether any term of the query stands in the text."""
    weak: bool = False
    """Whether even the best passage has so little of the query that the text may not hold the answer."""
    parts: tuple[tuple[tuple[str, float], ...], ...] = ()
    """Each span's score split by ingredient, to explain it."""
    repeated: tuple[tuple[int, int], ...] = ()
    """Stretches that would be shown, had the session not been shown them before."""

    @property
    def shown(self) -> int:
        """How many characters of the text are shown."""
        return sum(end - start for start, end in self.spans)

    @property
    def next_gap(self) -> tuple[int, int] | None:
        """The omitted stretch to read next, or None: the one after the best span, else the last before it."""
        best = max(range(len(self.spans)), key=lambda number: self.scores[number], default=None)
        return next_gap(self.total, self.spans, best, self.repeated)


def next_gap(
    total: int, spans: tuple[tuple[int, int], ...], best: int | None, known: tuple[tuple[int, int], ...] = ()
) -> tuple[int, int] | None:
    """The omitted stretch that reading goes on with: after span number `best`, else the last one before it. What is
    `known` is none."""
    edges = [0, *(edge for span in sorted((*spans, *known)) for edge in span), total]
    gaps = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2) if edges[i] < edges[i + 1]]
    if not gaps or best is None:
        return gaps[0] if gaps else None
    return next((gap for gap in gaps if gap[0] >= spans[best][1]), gaps[-1])


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch read in order: `next_start` is where reading goes on, None at the end of the text."""

    start: int
    end: int
    total: int

    @property
    def next_start(self) -> int | None:
        """Where the next window begins, or None when this one reached the end."""
        return self.end if self.end < self.total else None


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a quote stands in a text; `exact` is False when only its letters and digits agree."""

    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question for the engines, with the filters that they or we apply."""

    query: str
    max_results: int
    sites: tuple[str, ...] = ()
    exclude_sites: tuple[str, ...] = ()
    freshness: str = ""
    """`day`, `week`, `month` or `year`."""
    language: str = ""
    """BCP 47."""
    country: str = ""
    """ISO 3166-1, two letters in lower case."""
    kind: str = "web"
    """`web` or `news`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of one engine."""

    url: str
    title: str
    snippet: str
    engine: str
    date: str = ""
    """When it was published, as an ISO 8601 date or date and time, where the engine says so."""


@dataclass(frozen=True, slots=True)
class EngineReport:
    """How asking one engine went: `fault` in a few words, "" when it is well, even if it found nothing."""

    name: str
    fault: str = ""
    unapplied: tuple[str, ...] = ()
    """The filters of the request that the engine cannot apply and that nobody applies after it."""
    note: str = ""
    """What an engine that answered left out, in a few words: phrasings that failed, engines behind it that did."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """What stands for a text in comparisons: some hashes of its runs of words, by which level they were chosen, and
    how many different runs it has, of a long text about."""

    kept: frozenset[int]
    level: int
    size: int


@dataclass(frozen=True, slots=True)
class Source:
    """One numbered source of a search: its artifact and what is shown of it, or why it was not read."""

    url: str
    title: str
    snippet: str = ""
    artifact: Artifact | None = None
    stored: bool = False
    not_read: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    scores: tuple[float, ...] = ()
    date: str = ""
    """When it was published, as the page or else the engine says; ISO 8601."""
    copies: tuple[str, ...] = ()
    """URLs of other pages with nearly the same text, which stand behind this one."""
    from_store: bool = False
    """Whether a search of the store found it, and not an engine."""
    sketch: Sketch | None = None
    """Of the artifact's text, where someone has made it already."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one source's text with its score, which compares with those of other sources' passages."""

    start: int
    end: int
    score: float
    label: str = ""
    """What stands above it and is not shown with it: a heading, a table's header row; as on a gap line."""
    held: float = 1.0
    """The share of the question's weight, from 0 to 1 or a little more, that it holds with what is around it."""


Ranked = tuple[tuple[Passage, ...], ...]
"""For each source of a search its matching passages, best first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back: text for the model, facts for programs, and whether it failed."""

    text: str
    facts: dict[str, object]
    is_error: bool = False
    shown: tuple[tuple[str, int, int], ...] = ()
    """The stretches of stored texts in it, each with the text's id: for the session's ledger, not for the wire."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with one scorer: `missing` of the `asked` texts have no score, and `instead` orders them."""

    scorer: str
    what: str
    missing: int
    asked: int
    instead: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A stretch that is left out, and the call that showed it."""

    start: int
    end: int
    call: int
    label: str = ""
