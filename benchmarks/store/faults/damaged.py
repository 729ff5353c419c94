"""Damaged files under a store: whatever stands on the disk, calls answer, nothing wrong is read, and writes resume."""

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

from benchmarks.store.faults.kept import Tally, check, digest, made, opened, terms
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Store
from keyhole.store.open import LocalStores

FILE: Final = "artifacts.db"
PAGE: Final = 4_096
KEPT: Final = 12
"""Artifacts in each file before it is damaged."""
HOUR: Final = 3_600.0
"""Seconds. Half of them pass for the store between two rounds of calls: longer than it waits before it tries a disk
again, shorter than it keeps a text in memory."""
MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
"""What a rollback journal begins with."""

Damage = Callable[[Path, random.Random], None]


def flip(file: Path, chance: random.Random) -> None:
    """Some bits are others."""
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 8, 64))):
        data[chance.randrange(chance.choice((100, PAGE, len(data))))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def cut(file: Path, chance: random.Random) -> None:
    """The end is missing."""
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(1, len(data))])


def zero(file: Path, chance: random.Random) -> None:
    """Some pages are zeros, as after a power cut on a disk that lies."""
    data = bytearray(file.read_bytes())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) // PAGE) * PAGE
        data[at : at + PAGE] = bytes(PAGE)
    file.write_bytes(data)


def replace(file: Path, chance: random.Random) -> None:
    """Another file's content stands there, or in the middle of ours."""
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


def journal(file: Path, chance: random.Random) -> None:
    """Garbage stands beside it, where SQLite looks for what a killed process left."""
    garbage = chance.randbytes(chance.choice((1, 512, 20_000)))
    if chance.randrange(2):
        header = MAGIC + chance.choice((b"\xff\xff\xff\xff", b"\x00\x00\x00\x03")) + chance.randbytes(4)
        pages = chance.choice((1, file.stat().st_size // PAGE))  # what SQLite cuts the file to
        garbage = header + pages.to_bytes(4, "big") + (512).to_bytes(4, "big") + PAGE.to_bytes(4, "big") + garbage
    for ending in chance.choice((("-journal",), ("-wal",), ("-journal", "-wal", "-shm"))):
        file.with_name(file.name + ending).write_bytes(garbage)


KINDS: Final[dict[str, Damage]] = {"flip": flip, "cut": cut, "zero": zero, "replace": replace, "journal": journal}


@dataclass(slots=True)
class Damaged:
    """What stores made of damaged files."""

    files: int = 0
    whole: int = 0
    """Files whose damage no call met: all was there as it had been."""
    warned: int = 0
    """Files whose damage a warning or an error named."""
    tally: Tally = field(default_factory=Tally)
    missed: dict[str, list[int]] = field(default_factory=dict)
    """By kind the numbers of the files with a miss."""


@dataclass(slots=True)
class Clock:
    """Begins now and moves when it is told to."""

    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.now


def damage(files: int, seed: int, scratch: Path) -> Damaged:
    """So many files, each kind of damage in turn, the same for the same seed."""
    done = Damaged()
    template = scratch / "template"
    kept = [made(seed, number) for number in range(KEPT)]
    stores, store = opened(template, lasting=False)
    for artifact in kept:
        store.put(artifact, terms(artifact))
    stores.close()
    kinds = list(KINDS)
    for number in range(files):
        kind, home = kinds[number % len(kinds)], scratch / "home"
        shutil.copytree(template, home)
        KINDS[kind](home / FILE, random.Random(f"damage {seed}/{number}"))
        _judge(done, f"{kind}", number, _used(home, kept, seed))
        shutil.rmtree(home)
    return done


@dataclass(slots=True)
class _Use:
    tally: Tally
    whole: bool
    warned: bool


def _judge(done: Damaged, kind: str, number: int, use: _Use) -> None:
    done.files += 1
    done.whole += use.whole
    done.warned += use.warned
    if use.tally.missed:
        done.missed.setdefault(kind, []).append(number)
    done.tally += use.tally


def _used(home: Path, kept: list[Artifact], seed: int) -> _Use:
    """A store over the damaged file: used, started again and used, then read from the disk alone."""
    use, clock, added = _Use(Tally(), whole=True, warned=False), Clock(), []
    for start in range(2):
        stores = LocalStores(Config(home=home), lasting=True, clock=clock)
        try:
            store = stores.of(LOCAL)[0]
            for turn in range(3):
                _read(use, store, kept)
                added.append(artifact := made(seed, 100 + 10 * start + turn))
                _call(use, partial(store.put, artifact, terms(artifact)), refusal=False)
                _call(use, partial(_same, use, store, artifact), refusal=False)
                use.warned |= bool(store.warning())
                clock.now += HOUR / 2
            use.tally.stuck += store.warning() == "kept_in_memory"
        finally:
            stores.close()
    if not use.tally.stuck:
        use.tally += check(home, [(each.id, digest(each)) for each in added], [each.id for each in kept])
    use.tally.unwarned += not use.whole and not use.warned
    return use


def _read(use: _Use, store: Store, kept: list[Artifact]) -> None:
    for artifact in kept:
        use.whole &= bool(_call(use, partial(_same, use, store, artifact)))
    some = kept[0]
    _call(use, lambda: store.part(some.id, 10, 20))
    _call(use, lambda: store.recent(some.url, 0.0))
    _call(use, lambda: store.renew(some.id, some.fetched_at))
    _call(use, lambda: store.search(("pump",), 5))
    _call(use, lambda: store.held(("pump", "nowhere")))
    _call(use, lambda: store.list(20))
    _call(use, store.stats)
    _call(use, store.collect)
    _call(use, store.verify)
    _call(use, lambda: store.remember([b"key"]))
    _call(use, lambda: store.remembers(b"key"))
    _call(use, lambda: store.keep_vectors({b"key": b"1"}))
    _call(use, lambda: store.vectors([b"key"]))


def _same(use: _Use, store: Store, artifact: Artifact) -> bool:
    """Whether an artifact is there; one that is there with another text is lost, whatever it says."""
    found = store.get(artifact.id)
    use.tally.lost += found.text != artifact.text
    return found.text == artifact.text


def _call(use: _Use, call: Callable[[], object], *, refusal: bool = True) -> object:
    """`refusal`: whether the call may be refused by name, as one is that needs what the damage took."""
    try:
        return call()
    except KeyholeError as error:
        use.warned |= error.code in (Code.DAMAGED_ARTIFACT, Code.STORE_UNAVAILABLE)
        use.tally.failed += not refusal
    except Exception:  # noqa: BLE001 - what a store raises beside its own errors is what is counted
        use.tally.raw += 1
    return None
