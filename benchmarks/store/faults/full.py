"""A disk that cannot be written for a while, under a store in a process that goes on: nothing is lost, nothing raised.

Each way in which a disk fails gives a pair of functions: one that makes it fail and one that ends it.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.store.faults.kept import Tally, check, digest, made, opened, terms
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Clock, Store
from keyhole.store.fallback import KEPT_IN_MEMORY
from keyhole.store.open import LocalStores

PATIENCE: Final = 40.0
"""Seconds in which a store must be back on a disk that works again: more than its longest pause."""
TICK: Final = 0.1
"""Seconds between two calls meanwhile."""
NOBODY: Final = 65_534
"""The user and group that own nothing."""
NEARLY: Final = 4_000
"""Bytes that a disk that is said to be full still has."""


@dataclass(frozen=True, slots=True)
class Failing:
    """How the disk of a folder is made to fail, and how that ends."""

    home: Path
    begin: Callable[[], None]
    end: Callable[[], None]
    readable: bool = True
    """Whether what stands on the disk can be read meanwhile."""


@dataclass(slots=True)
class Outlived:
    """What happened to a store whose disk failed for a while."""

    puts: int = 0
    held: int = 0
    """Of them those after which the store said that texts are held in memory."""
    back_after: float = 0.0
    """Seconds from the end of the failure to the last text on the disk."""
    tally: Tally = field(default_factory=Tally)


def outlive(
    failing: Failing, puts: int, clock: Clock = time.time, pause: Callable[[float], None] = time.sleep
) -> Outlived:
    """Keep and read artifacts before, while and after the disk fails."""
    done = Outlived()
    stores = LocalStores(Config(home=failing.home), lasting=True, clock=clock)
    store = stores.of(LOCAL)[0]
    kept: list[Artifact] = []

    def put_some(readable: bool = True) -> None:
        since = 0 if readable else len(kept)
        for _ in range(puts):
            kept.append(artifact := made(1, len(kept)))
            done.puts += 1
            _call(done.tally, partial(store.put, artifact, terms(artifact)))
            done.held += store.warning() == KEPT_IN_MEMORY
            _read_all(done.tally, store, kept[since:])

    put_some()
    done.tally.stuck += store.warning() != ""
    failing.begin()
    try:
        put_some(failing.readable)
        done.tally.unwarned += not done.held
    finally:
        failing.end()
    done.back_after = _wait(store, clock, pause)
    put_some()
    done.tally.stuck += store.warning() != ""
    stores.close()
    done.tally += check(failing.home, [(artifact.id, digest(artifact)) for artifact in kept])
    return done


def _read_all(tally: Tally, store: Store, kept: list[Artifact]) -> None:
    for artifact in (*kept[:2], *kept[-3:]):
        tally.lost += _call(tally, partial(store.get, artifact.id)) != artifact
    _call(tally, partial(store.recent, kept[-1].url, 0.0))
    _call(tally, partial(store.search, ("pump",), 3))
    _call(tally, partial(store.remember, [kept[-1].id.encode()]))


def _call(tally: Tally, call: Callable[[], object]) -> object:
    try:
        return call()
    except KeyholeError:
        tally.failed += 1
    except Exception:  # noqa: BLE001 - what a store raises beside its own errors is what is counted
        tally.raw += 1
    return None


def _wait(store: Store, clock: Clock, pause: Callable[[float], None]) -> float:
    """Call now and then until the store is well."""
    begun = clock()
    while store.warning() and clock() < begun + PATIENCE:
        store.recent("https://other.example/", 0.0)
        pause(TICK)
    return clock() - begun


# The ways in which a disk fails.


def by_limit(home: Path) -> Failing:
    """This process may write no file beyond the size that the largest of the folder has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def begin() -> None:
        largest = max(path.stat().st_size for path in home.rglob("*") if path.is_file())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + NEARLY, hard))

    return Failing(home, begin, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))


def by_filler(home: Path) -> Failing:
    """The rest of a small disk is taken by a file."""
    filler = home.parent / "filler"

    def begin() -> None:
        disk = os.statvfs(home)
        with filler.open("wb") as file:
            file.write(b"x" * max(0, disk.f_bavail * disk.f_frsize - NEARLY))

    return Failing(home, begin, filler.unlink)


def by_mode(home: Path) -> Failing:
    """The folder may be read only. Says nothing to root."""
    return Failing(home, lambda: home.chmod(0o500), lambda: home.chmod(0o700))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """A disk in memory, mounted for the time. Needs root; in a mount namespace of its own nobody else sees it."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    assert mount and unmount
    command = [mount, "-t", "tmpfs", "-o", f"size={megabytes}m", "keyhole", str(folder)]
    subprocess.run(command, check=True, timeout=20)
    try:
        yield
    finally:
        subprocess.run([unmount, str(folder)], check=True, timeout=20)


def by_absence(home: Path) -> Failing:
    """The folder goes away and comes back, as that of a disk that is unplugged."""
    away = home.with_name("away")

    def begin() -> None:
        home.rename(away)

    def end() -> None:
        away.rename(home)

    return Failing(home, begin, end, readable=False)


def as_nobody(home: Path) -> None:
    """Become a user whom modes of files bind, and own the folder. What only root may load is loaded before."""
    opened(home.with_name("loaded"), lasting=True)[1].put(made(0, 0), "word")
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
