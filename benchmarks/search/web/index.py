"""A small search engine: SQLite's FTS5 with BM25 over pieces of pages. A page has the rank of its best piece.

Its results resemble those of real engines: they contain copies, dead links, hostile pages and irrelevant pages.
"""

from __future__ import annotations

import html
import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from benchmarks.search.web.sites import CLOSED, NO_NAME, TROUBLE, Place, listed_path, seeded_fraction

PIECE: Final = 1_500
"""Characters of a piece: about one passage of a manual."""
MAX_RESULTS: Final = 30
"""Maximum results, as on one page of a metasearch engine such as SearXNG."""
DEAD: Final = ("closed", "name", "/missing", "/broken", "/forbidden")
HOSTILE: Final = ("/bomb", "/endless", "/loop", "/hidden", "/boundary")

_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]+|[^\W_]+")
_IDEOGRAPHS = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")
_STEM: Final = 6
"""Number of letters of a word that are indexed, as a simple stemmer for every alphabet."""

Row = dict[str, str]


class Index:
    """A full-text index over the places of the web."""

    def __init__(self, places: Iterable[Place], port: int) -> None:
        self._places = list(places)
        self._port = port
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE pieces USING fts5(title, body, tokenize='unicode61')")
        self._db.execute("CREATE TABLE owners (rowid INTEGER PRIMARY KEY, place INTEGER, text TEXT)")
        numbers: dict[str, list[tuple[int, str]]] = {}
        for number, place in enumerate(self._places):
            if place.page.id not in numbers:
                numbers[place.page.id] = [(number, piece) for piece in split_pieces(place.page.html)]
                self._add(place, numbers[place.page.id])
        self._copies: dict[str, list[Place]] = {}
        for place in self._places:
            self._copies.setdefault(place.page.id, []).append(place)

    def _add(self, place: Place, numbered_pieces: list[tuple[int, str]]) -> None:
        title = tokenize(place.title)
        for number, piece in numbered_pieces:
            row = self._db.execute("INSERT INTO pieces VALUES (?, ?)", (title, tokenize(piece))).lastrowid
            self._db.execute("INSERT INTO owners VALUES (?, ?, ?)", (row, number, piece))

    def search(self, query: str) -> list[Row]:
        """Return the results for a query."""
        words = sorted(set(tokenize(query).split()))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        best: dict[int, str] = {}
        for number, text in self._db.execute(
            "SELECT place, text FROM pieces JOIN owners ON owners.rowid = pieces.rowid WHERE pieces MATCH ?"
            " ORDER BY bm25(pieces, 2.0, 1.0), owners.rowid LIMIT 200",
            (match,),
        ):
            best.setdefault(number, text)
        return list(self._mix_results(query, list(best.items())))[:MAX_RESULTS]

    def _mix_results(self, query: str, matches: list[tuple[int, str]]) -> Iterator[Row]:
        dead, hostile = int(seeded_fraction("dead" + query) * 4) + 1, int(seeded_fraction("hostile" + query) * 9) + 1
        for rank, (number, text) in enumerate(matches):
            if rank == dead:
                yield self._dead_link(query)
            if rank == hostile:
                yield self._hostile_page(query)
            copies = sorted(
                self._copies[self._places[number].page.id], key=lambda place: seeded_fraction(query + place.key)
            )
            for place in copies[:2]:
                yield {
                    "url": f"http://{place.host}:{self._port}{listed_path(place)}",
                    "title": place.title,
                    "content": build_snippet(text, query),
                }

    def _dead_link(self, query: str) -> Row:
        kind = DEAD[int(seeded_fraction("what" + query) * len(DEAD))]
        name = quote(query.replace(" ", "-")[:40].lower())
        address = {"closed": f"http://{CLOSED}:{self._port}/{name}", "name": NO_NAME + name}.get(
            kind, f"http://{TROUBLE}:{self._port}{kind}/{name}"
        )
        return {"url": address, "title": f"{query} - solved", "content": f"{query}: see the accepted answer."}

    def _hostile_page(self, query: str) -> Row:
        kind = HOSTILE[int(seeded_fraction("which" + query) * len(HOSTILE))]
        address = f"http://{TROUBLE}:{self._port}{kind}?about={quote(query[:200])}"
        return {"url": address, "title": f"{query} (best answer)", "content": f"{query}? Everything you need to know."}


def split_pieces(body: str) -> Iterator[str]:
    """Yield a page's text in pieces of `PIECE` characters."""
    text = " ".join(html.unescape(_TAG.sub(" ", body)).split())
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def tokenize(text: str) -> str:
    """Return the index terms of a text: beginnings of words, or pairs of characters in scripts without spaces."""
    terms: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if _IDEOGRAPHS.match(word):
            terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            terms.append(word[:_STEM])
    return " ".join(terms)


def build_snippet(text: str, query: str) -> str:
    """Return the part of a piece around the first word of the query that it contains."""
    low = text.casefold()
    at = max(0, min((low.find(word) for word in query.casefold().split() if low.find(word) >= 0), default=0) - 60)
    return text[at : at + 220].strip() + " …"
