"""Run a store while its disk cannot be written for a while. Nothing may be lost, and no call may fail."""

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

from benchmarks.store.faults.checks import Tally, check, hash_text, make_artifact, open_store, search_terms
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Clock, Store
from keyhole.store.fallback import KEPT_IN_MEMORY
from keyhole.store.open import LocalStores

PATIENCE: Final = 40.0
"""Seconds within which a store must return to a working disk: more than its longest pause."""
TICK: Final = 0.1
"""Seconds between two calls while waiting."""
NOBODY: Final = 65_534
"""Number of the user and group `nobody`."""
FREE_BYTES: Final = 4_000
"""Bytes left on a full disk."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Functions that begin and end a failure of a folder's disk."""

    home: Path
    begin: Callable[[], None]
    end: Callable[[], None]
    is_readable: bool = True
    """True if the disk can be read during the failure."""


@dataclass(slots=True)
class OutageResult:
    """Counts of a run of a store during an outage."""

    puts: int = 0
    in_memory: int = 0
    """Puts after which the store warned that texts are stored in memory only."""
    back_after: float = 0.0
    """Seconds from the end of the failure until all texts were on the disk."""
    tally: Tally = field(default_factory=Tally)


def run_outage(
    outage: Outage, puts: int, clock: Clock = time.time, pause: Callable[[float], None] = time.sleep
) -> OutageResult:
    """Store and read artifacts before, during and after an outage."""
    done = OutageResult()
    stores = LocalStores(Config(home=outage.home), long_running=True, clock=clock)
    store = stores.for_tenant(LOCAL)[0]
    artifacts: list[Artifact] = []

    def put_some(readable: bool = True) -> None:
        since = 0 if readable else len(artifacts)
        for _ in range(puts):
            artifacts.append(artifact := make_artifact(1, len(artifacts)))
            done.puts += 1
            _call(done.tally, partial(store.put, artifact, search_terms(artifact)))
            done.in_memory += store.warning() == KEPT_IN_MEMORY
            _read_all(done.tally, store, artifacts[since:])

    put_some()
    done.tally.stuck += store.warning() != ""
    outage.begin()
    try:
        put_some(outage.is_readable)
        done.tally.unwarned += not done.in_memory
    finally:
        outage.end()
    done.back_after = _wait_until_well(store, clock, pause)
    put_some()
    done.tally.stuck += store.warning() != ""
    stores.close()
    done.tally += check(outage.home, [(artifact.id, hash_text(artifact)) for artifact in artifacts])
    return done


def _read_all(tally: Tally, store: Store, artifacts: list[Artifact]) -> None:
    for artifact in (*artifacts[:2], *artifacts[-3:]):
        tally.lost += _call(tally, partial(store.get, artifact.id)) != artifact
    _call(tally, partial(store.recent, artifacts[-1].url, 0.0))
    _call(tally, partial(store.search, ("pump",), 3))
    _call(tally, partial(store.remember, [artifacts[-1].id.encode()]))


def _call(tally: Tally, call: Callable[[], object]) -> object:
    try:
        return call()
    except KeyholeError:
        tally.failed += 1
    except Exception:  # noqa: BLE001 - counts exceptions other than KeyholeError
        tally.raw += 1
    return None


def _wait_until_well(store: Store, clock: Clock, pause: Callable[[float], None]) -> float:
    """Call the store until it has no warning; return the seconds."""
    begun = clock()
    while store.warning() and clock() < begun + PATIENCE:
        store.recent("https://other.example/", 0.0)
        pause(TICK)
    return clock() - begun


# Outages.


def limit_file_size(home: Path) -> Outage:
    """Limit the size of files that this process may write to about the size of the store's largest file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def begin() -> None:
        largest = max(path.stat().st_size for path in home.rglob("artifacts.db*"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + FREE_BYTES, hard))

    return Outage(home, begin, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))


def fill_small_disk(home: Path) -> Outage:
    """Fill the rest of a small disk with a file."""
    filler = home.parent / "filler"

    def begin() -> None:
        disk = os.statvfs(home)
        with filler.open("wb") as file:
            file.write(b"x" * max(0, disk.f_bavail * disk.f_frsize - FREE_BYTES))

    return Outage(home, begin, filler.unlink)


def make_read_only(home: Path) -> Outage:
    """Make the folder read-only. This has no effect for root."""
    return Outage(home, lambda: home.chmod(0o500), lambda: home.chmod(0o700))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """Mount a disk in memory on a folder. Needs root; use a mount namespace to hide it from other processes."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    assert mount and unmount
    command = [mount, "-t", "tmpfs", "-o", f"size={megabytes}m", "keyhole", str(folder)]
    subprocess.run(command, check=True, timeout=20)
    try:
        yield
    finally:
        subprocess.run([unmount, str(folder)], check=True, timeout=20)


def unplug_folder(home: Path) -> Outage:
    """Rename the folder, as if its disk were unplugged."""
    away = home.with_name("away")

    def begin() -> None:
        home.rename(away)

    def end() -> None:
        away.rename(home)

    return Outage(home, begin, end, is_readable=False)


def become_nobody(home: Path) -> None:
    """Become the user `nobody`, to whom file modes apply, and give it the folder.

    A put before that imports all modules, because only root may be able to read them.
    """
    open_store(home.with_name("loaded"), long_running=True)[1].put(make_artifact(0, 0), "word")
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
