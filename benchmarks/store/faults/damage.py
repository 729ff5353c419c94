"""Damage the files of a store, and check that calls still work, no wrong text is read, and writes resume."""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.store.faults.checks import Tally, check, hash_text, make_artifact, open_store, search_terms
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Store
from keyhole.store.open import LocalStores

FILE: Final = "artifacts.db"
PAGE: Final = 4_096
ARTIFACTS: Final = 12
"""Artifacts in each file before it is damaged."""
HOUR: Final = 3_600.0
"""Seconds. Half an hour passes between two rounds of calls: longer than the store's pause before it tries a disk again,
shorter than the time for which it stores a text in memory."""
MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a rollback journal."""

Damage = Callable[[Path, random.Random], None]


def flip_bits(file: Path, chance: random.Random) -> None:
    """Flip some bits."""
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 8, 64))):
        data[chance.randrange(chance.choice((100, PAGE, len(data))))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def truncate(file: Path, chance: random.Random) -> None:
    """Cut off the end."""
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(1, len(data))])


def zero_pages(file: Path, chance: random.Random) -> None:
    """Fill some pages with zeros, as after a power cut on a disk that acknowledges writes too early."""
    data = bytearray(file.read_bytes())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) // PAGE) * PAGE
        data[at : at + PAGE] = bytes(PAGE)
    file.write_bytes(data)


def replace_content(file: Path, chance: random.Random) -> None:
    """Replace the content, or a part of it, by other content."""
    kind = chance.randrange(4)
    if kind == 0:
        file.unlink()
        with closing(sqlite3.connect(file)) as other, other:
            other.execute("CREATE TABLE artifacts (somebody TEXT, elses TEXT)")
            other.execute("INSERT INTO artifacts VALUES ('a', 'b')")
    elif kind == 1:
        file.write_text("A letter that somebody wrote.\n" * chance.randint(1, 5_000))
    elif kind == 2:
        file.write_bytes(chance.randbytes(chance.randint(1, 100_000)))
    else:
        data = bytearray(file.read_bytes())
        at = chance.randrange(len(data))
        data[at : at + PAGE] = chance.randbytes(min(PAGE, len(data) - at))
        file.write_bytes(data)


def add_journals(file: Path, chance: random.Random) -> None:
    """Add journals with random content, which SQLite takes for those of a killed process."""
    garbage = chance.randbytes(chance.choice((1, 512, 20_000)))
    if chance.randrange(2):
        header = MAGIC + chance.choice((b"\xff\xff\xff\xff", b"\x00\x00\x00\x03")) + chance.randbytes(4)
        pages = chance.choice((1, file.stat().st_size // PAGE))  # SQLite truncates the file to this size
        garbage = header + pages.to_bytes(4, "big") + (512).to_bytes(4, "big") + PAGE.to_bytes(4, "big") + garbage
    for ending in chance.choice((("-journal",), ("-wal",), ("-journal", "-wal", "-shm"))):
        file.with_name(file.name + ending).write_bytes(garbage)


KINDS: Final[dict[str, Damage]] = {
    "flip": flip_bits, "cut": truncate, "zero": zero_pages, "replace": replace_content, "journal": add_journals,
}  # fmt: skip


@dataclass(slots=True)
class DamageResult:
    """Counts over all damaged files."""

    files: int = 0
    unchanged: int = 0
    """Files whose artifacts were all read unchanged."""
    warned: int = 0
    """Files whose damage was reported by a warning or an error."""
    tally: Tally = field(default_factory=Tally)
    missed: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the files with a failure, by kind of damage."""


@dataclass(slots=True)
class Clock:
    """A clock that starts at the current time and advances by assignment."""

    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.now


def run_damage(files: int, seed: int, scratch: Path) -> DamageResult:
    """Damage `files` files, with each kind of damage in turn. Equal seeds give equal damage."""
    done = DamageResult()
    template = scratch / "template"
    artifacts = [make_artifact(seed, number) for number in range(ARTIFACTS)]
    stores, store = open_store(template, long_running=False)
    for artifact in artifacts:
        store.put(artifact, search_terms(artifact))
    stores.close()
    kinds = list(KINDS)
    for number in range(files):
        kind, home = kinds[number % len(kinds)], scratch / "home"
        shutil.copytree(template, home)
        KINDS[kind](home / FILE, random.Random(f"damage {seed}/{number}"))
        _add_run(done, f"{kind}", number, _use_store(home, artifacts, seed))
        shutil.rmtree(home)
    return done


@dataclass(slots=True)
class _Run:
    tally: Tally
    unchanged: bool
    warned: bool


def _add_run(done: DamageResult, kind: str, number: int, run: _Run) -> None:
    done.files += 1
    done.unchanged += run.unchanged
    done.warned += run.warned
    if run.tally.missed:
        done.missed.setdefault(kind, []).append(number)
    done.tally += run.tally


def _use_store(home: Path, artifacts: list[Artifact], seed: int) -> _Run:
    """Use a store on the damaged file, restart it, use it again, then check the disk without memory."""
    run, clock, added = _Run(Tally(), unchanged=True, warned=False), Clock(), []
    for start in range(2):
        stores = LocalStores(Config(home=home), long_running=True, clock=clock)
        try:
            store = stores.for_tenant(LOCAL)[0]
            for turn in range(3):
                _call_reads(run, store, artifacts)
                added.append(artifact := make_artifact(seed, 100 + 10 * start + turn))
                _call(run, partial(store.put, artifact, search_terms(artifact)), may_fail=False)
                _call(run, partial(_is_same, run, store, artifact), may_fail=False)
                run.warned |= bool(store.warning())
                clock.now += HOUR / 2
            run.tally.stuck += store.warning() == "kept_in_memory"
        finally:
            stores.close()
    if not run.tally.stuck:
        run.tally += check(home, [(each.id, hash_text(each)) for each in added], [each.id for each in artifacts])
    run.tally.unwarned += not run.unchanged and not run.warned
    return run


def _call_reads(run: _Run, store: Store, artifacts: list[Artifact]) -> None:
    for artifact in artifacts:
        run.unchanged &= bool(_call(run, partial(_is_same, run, store, artifact)))
    first = artifacts[0]
    _call(run, lambda: store.part(first.id, 10, 20))
    _call(run, lambda: store.recent(first.url, 0.0))
    _call(run, lambda: store.renew(first.id, first.fetched_at))
    _call(run, lambda: store.search(("pump",), 5))
    _call(run, lambda: store.contains_words(("pump", "nowhere")))
    _call(run, lambda: store.list(20))
    _call(run, store.stats)
    _call(run, store.collect)
    _call(run, store.verify)
    _call(run, lambda: store.remember([b"key"]))
    _call(run, lambda: store.remembers(b"key"))
    _call(run, lambda: store.keep_vectors({b"key": b"1"}))
    _call(run, lambda: store.vectors([b"key"]))


def _is_same(run: _Run, store: Store, artifact: Artifact) -> bool:
    """Return whether an artifact has its text; count a different text as lost."""
    stored = store.get(artifact.id)
    run.tally.lost += stored.text != artifact.text
    return stored.text == artifact.text


def _call(run: _Run, call: Callable[[], object], *, may_fail: bool = True) -> object:
    """Return the result of a call, and count its failure. `may_fail`: True if a KeyholeError is allowed."""
    try:
        return call()
    except KeyholeError as error:
        run.warned |= error.code in (Code.DAMAGED_ARTIFACT, Code.STORE_UNAVAILABLE)
        run.tally.failed += not may_fail
    except Exception:  # noqa: BLE001 - counts exceptions other than KeyholeError
        run.tally.raw += 1
    return None
