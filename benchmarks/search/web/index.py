"""A small search engine over the pages: SQLite's FTS5 with BM25 over pieces of pages, a page as good as its best piece.

What it lists is mixed as engines' results are: copies beside their originals, addresses that are dead, pages made to
do harm, pages about something else.
"""

from __future__ import annotations

import html
import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from benchmarks.search.web.sites import CLOSED, NO_NAME, TROUBLE, Place, chance, listed

PIECE: Final = 1_500
"""Characters: about what one passage of a manual takes."""
LISTED: Final = 30
"""Results of one page of an engine that asks several, as SearXNG does."""
DEAD: Final = ("closed", "name", "/missing", "/broken", "/forbidden")
HOSTILE: Final = ("/bomb", "/endless", "/loop", "/hidden", "/boundary")

_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]+|[^\W_]+")
_IDEOGRAPHS = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")
_STEM: Final = 6
"""Letters of a word that count: a stemmer for every alphabet."""

Row = dict[str, str]


class Index:
    """The pages, searchable."""

    def __init__(self, places: Iterable[Place], port: int) -> None:
        self._places = list(places)
        self._port = port
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE pieces USING fts5(title, body, tokenize='unicode61')")
        self._db.execute("CREATE TABLE owners (rowid INTEGER PRIMARY KEY, place INTEGER, text TEXT)")
        numbers: dict[str, list[tuple[int, str]]] = {}
        for number, place in enumerate(self._places):
            if place.page.id not in numbers:
                numbers[place.page.id] = [(number, piece) for piece in pieces(place.page.html)]
                self._add(place, numbers[place.page.id])
        self._copies: dict[str, list[Place]] = {}
        for place in self._places:
            self._copies.setdefault(place.page.id, []).append(place)

    def _add(self, place: Place, found: list[tuple[int, str]]) -> None:
        title = tokens(place.title)
        for number, piece in found:
            row = self._db.execute("INSERT INTO pieces VALUES (?, ?)", (title, tokens(piece))).lastrowid
            self._db.execute("INSERT INTO owners VALUES (?, ?, ?)", (row, number, piece))

    def search(self, query: str) -> list[Row]:
        """What an engine would list for a query."""
        words = sorted(set(tokens(query).split()))
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
        return list(self._mixed(query, list(best.items())))[:LISTED]

    def _mixed(self, query: str, found: list[tuple[int, str]]) -> Iterator[Row]:
        dead, hostile = int(chance("dead" + query) * 4) + 1, int(chance("hostile" + query) * 9) + 1
        for rank, (number, text) in enumerate(found):
            if rank == dead:
                yield self._dead(query)
            if rank == hostile:
                yield self._hostile(query)
            copies = sorted(self._copies[self._places[number].page.id], key=lambda place: chance(query + place.key))
            for place in copies[:2]:
                yield {
                    "url": f"http://{place.host}:{self._port}{listed(place)}",
                    "title": place.title,
                    "content": snippet(text, query),
                }

    def _dead(self, query: str) -> Row:
        kind = DEAD[int(chance("what" + query) * len(DEAD))]
        name = quote(query.replace(" ", "-")[:40].lower())
        address = {"closed": f"http://{CLOSED}:{self._port}/{name}", "name": NO_NAME + name}.get(
            kind, f"http://{TROUBLE}:{self._port}{kind}/{name}"
        )
        return {"url": address, "title": f"{query} - solved", "content": f"{query}: see the accepted answer."}

    def _hostile(self, query: str) -> Row:
        kind = HOSTILE[int(chance("which" + query) * len(HOSTILE))]
        address = f"http://{TROUBLE}:{self._port}{kind}?about={quote(query[:200])}"
        return {"url": address, "title": f"{query} (best answer)", "content": f"{query}? Everything you need to know."}


def pieces(body: str) -> Iterator[str]:
    """A page's text in pieces of a passage's size."""
    text = " ".join(html.unescape(_TAG.sub(" ", body)).split())
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def tokens(text: str) -> str:
    """A text as the index sees it: words cut to their first letters, pairs of characters where words have no spaces."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if _IDEOGRAPHS.match(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        else:
            found.append(word[:_STEM])
    return " ".join(found)


def snippet(text: str, query: str) -> str:
    """The stretch of a piece where the query's first known word stands, as engines show it."""
    low = text.casefold()
    at = max(0, min((low.find(word) for word in query.casefold().split() if low.find(word) >= 0), default=0) - 60)
    return text[at : at + 220].strip() + " …"
