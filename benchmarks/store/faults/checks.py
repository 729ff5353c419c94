"""Make reproducible artifacts from two numbers, and check that a store still has them byte for byte."""

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
from keyhole.store.base import LOCAL, Store
from keyhole.store.open import open_stores
from keyhole.store.stores import Stores

WORDS: Final = ("pump", "valve", "seal", "rotor", "Dichtung", "größe", "数据", "насос", "bearing", "shaft", "head")
FETCHED: Final = 1_700_000_000.0
SMALL: Final = 500
LARGE: Final = 60_000
"""Characters of the shortest and the longest text: the range of most pages."""


@dataclass(slots=True)
class Tally:
    """Counts of failures. All must be zero."""

    lost: int = 0
    """Acknowledged artifacts that are missing or changed."""
    failed: int = 0
    """Calls that raised KeyholeError and should not have."""
    raw: int = 0
    """Calls that raised another exception."""
    corrupt: int = 0
    """Files that fail SQLite's integrity check, and texts that do not match their checksum."""
    leftovers: int = 0
    """Files that a clean exit would not leave."""
    unwarned: int = 0
    """Losses without an error or warning, and texts in memory without the warning."""
    stuck: int = 0
    """Stores that did not return to the disk by themselves."""

    def __iadd__(self, other: Tally) -> Tally:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self

    @property
    def missed(self) -> int:
        """The sum of all counts."""
        return sum(getattr(self, each.name) for each in fields(self))

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, each.name)} {each.name}" for each in fields(self))


def make_artifact(seed: int, number: int) -> Artifact:
    """Return the artifact of two numbers, always the same."""
    chance = random.Random(f"{seed}/{number}")
    length = int(SMALL * (LARGE / SMALL) ** chance.random())
    text = f"Text {number} of {seed}.\n"
    while len(text) < length:  # half of it is random, so that it hardly compresses
        text += f"{' '.join(chance.choices(WORDS, k=20))} {chance.randbytes(60).hex()}.\n"
    url = f"https://kept.example/{seed}/{number}"
    return Artifact(make_id(seed, number), url, url, f"Page {number}", text, "text/html", "en", FETCHED)


def make_id(seed: int, number: int) -> str:
    """Return the id of the artifact of two numbers."""
    return f"{seed:08d}{number:08d}"


def search_terms(artifact: Artifact) -> str:
    """Return the search terms of an artifact, separated by spaces."""
    return " ".join(sorted({*WORDS, artifact.id}))


def hash_text(artifact: Artifact) -> str:
    """Return a hash of an artifact's text."""
    return hashlib.sha256(artifact.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def open_store(home: Path, *, long_running: bool) -> tuple[Stores, Store]:
    """Open the store in a folder: with memory as a fallback if `long_running`, else from the disk alone."""
    stores = open_stores(Config(home=home), long_running=long_running)
    return stores, stores.for_tenant(LOCAL)[0]


def check(home: Path, acknowledged: Iterable[tuple[str, str]], spoiled: Iterable[str] = ()) -> Tally:
    """Open the store again, and compare its artifacts and files with what was acknowledged.

    `acknowledged`: ids and text hashes. `spoiled`: ids of artifacts that may be damaged.
    """
    tally = Tally()
    stores, store = open_store(home, long_running=False)
    try:
        for id, expected in acknowledged:
            try:
                tally.lost += hash_text(store.get(id)) != expected
            except KeyholeError:
                tally.lost += 1
        tally.corrupt += len(set(store.verify().damaged).difference(spoiled))
    except KeyholeError:
        tally.failed += 1
    finally:
        stores.close()
    tally.corrupt += count_damaged_files(home)
    return tally


def count_damaged_files(home: Path) -> int:
    """Return the number of database files that fail the integrity check."""
    count = 0
    for path in home.rglob("artifacts.db"):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
                count += next(file.execute("PRAGMA integrity_check")) != ("ok",)
        except sqlite3.Error:
            count += 1
    return count


def list_files(home: Path) -> set[str]:
    """Return the relative paths of all files in a folder."""
    return {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
