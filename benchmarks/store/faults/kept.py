"""Artifacts that anybody can make again from two numbers, and whether a store still has them byte for byte."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Store, Stores
from keyhole.store.open import open_stores

WORDS: Final = ("pump", "valve", "seal", "rotor", "Dichtung", "größe", "数据", "насос", "bearing", "shaft", "head")
FETCHED: Final = 1_700_000_000.0
SMALL: Final = 500
LARGE: Final = 60_000
"""Characters of the shortest and the longest text: what most pages have."""


@dataclass(slots=True)
class Tally:
    """What went wrong, counted; all of it must be zero."""

    lost: int = 0
    """Acknowledged and not there, or not as it was."""
    failed: int = 0
    """Calls that were refused by name where they should not be."""
    raw: int = 0
    """Exceptions that are none of ours."""
    corrupt: int = 0
    """Files that fail SQLite's integrity check, and texts that fail their checksum."""
    leftovers: int = 0
    """Files that a clean end does not leave."""
    unwarned: int = 0
    """Losses of which nothing was said, and texts held in memory without the warning."""
    stuck: int = 0
    """Stores that did not go back to the disk by themselves."""

    def __iadd__(self, other: Tally) -> Tally:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self

    @property
    def missed(self) -> int:
        """All together."""
        return sum(getattr(self, each.name) for each in fields(self))

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, each.name)} {each.name}" for each in fields(self))


def made(seed: int, number: int) -> Artifact:
    """The artifact of two numbers: always the same."""
    chance = random.Random(f"{seed}/{number}")
    length = int(SMALL * (LARGE / SMALL) ** chance.random())
    text = f"Text {number} of {seed}.\n"
    while len(text) < length:  # half of it says nothing, so that compressed too it takes room
        text += f"{' '.join(chance.choices(WORDS, k=20))} {chance.randbytes(60).hex()}.\n"
    url = f"https://kept.example/{seed}/{number}"
    return Artifact(name(seed, number), url, url, f"Page {number}", text, "text/html", "en", FETCHED)


def name(seed: int, number: int) -> str:
    """Its id."""
    return f"{seed:08d}{number:08d}"


def terms(artifact: Artifact) -> str:
    """Words under which it is found."""
    return " ".join(sorted({*WORDS, artifact.id}))


def digest(artifact: Artifact) -> str:
    """Of its text."""
    return hashlib.sha256(artifact.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def opened(home: Path, *, lasting: bool) -> tuple[Stores, Store]:
    """The store of a folder: as a server has it (`lasting`), or as a single command does, from the disk alone."""
    stores = open_stores(Config(home=home), lasting=lasting)
    return stores, stores.of(LOCAL)[0]


def check(home: Path, acknowledged: Iterable[tuple[str, str]], spoiled: Iterable[str] = ()) -> Tally:
    """What a new start finds of what was acknowledged, by id and digest, and how whole the files are. Texts that were
    `spoiled` on purpose are rightly set aside."""
    found = Tally()
    stores, store = opened(home, lasting=False)
    try:
        for id, told in acknowledged:
            try:
                found.lost += digest(store.get(id)) != told
            except KeyholeError:
                found.lost += 1
        found.corrupt += len(set(store.verify().damaged).difference(spoiled))
    except KeyholeError:
        found.failed += 1
    finally:
        stores.close()
    found.corrupt += damaged_files(home)
    return found


def damaged_files(home: Path) -> int:
    """Database files that are not whole."""
    count = 0
    for path in home.rglob("artifacts.db"):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
                count += next(file.execute("PRAGMA integrity_check")) != ("ok",)
        except sqlite3.Error:
            count += 1
    return count


def names(home: Path) -> set[str]:
    """Of all files in a folder."""
    return {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
