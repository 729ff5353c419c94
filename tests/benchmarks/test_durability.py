"""Small runs of the durability benchmark, and its detection of faults."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="limits of a process are POSIX")

from benchmarks.store.faults import damage, kills, outages, stdio_server, syncs
from benchmarks.store.faults.checks import Tally, check, hash_text, make_artifact, open_store, search_terms
from benchmarks.store.faults.syncs import Event, find_faults
from tests.support.fakes import Clock

JOURNAL, FILE = "artifacts.db-journal", "artifacts.db"
JOURNAL_SYNCS = [
    Event("pwrite64", JOURNAL),
    Event("fdatasync", JOURNAL),
    Event("pwrite64", FILE),
    Event("fdatasync", FILE),
    Event("unlink", JOURNAL),
    Event("fdatasync", "."),
]
LOG_SYNCS = [Event("pwrite64", f"{FILE}-wal"), Event("fdatasync", f"{FILE}-wal"), Event("write", f"{FILE}-shm")]


def test_killed_writers_lose_no_acknowledged_artifacts() -> None:
    done = kills.run_kills(4, seed=11)
    assert done.acknowledged
    assert not done.tally.missed, done


@pytest.mark.skipif(not shutil.which("strace"), reason="strace shows the order")
def test_writes_are_synced_before_they_are_acknowledged(tmp_path: Path) -> None:
    home = tmp_path.resolve() / "home"
    lines = syncs.trace(home, 2)
    if not lines:
        pytest.skip("this system does not allow tracing")
    puts = syncs.split_puts(lines, str(home))
    assert len(puts) == 2
    assert [fault for events in puts for fault in find_faults(events)] == []


@pytest.mark.parametrize("events", [JOURNAL_SYNCS, LOG_SYNCS, JOURNAL_SYNCS + JOURNAL_SYNCS])
def test_a_sound_order_of_syncs_has_no_fault(events: list[Event]) -> None:
    assert find_faults(events) == []


@pytest.mark.parametrize(
    ("left_out", "fault"),
    [
        (1, "the database was overwritten before its journal was on the disk"),
        (3, f"{FILE} was written after its last sync"),
        (5, "the end of the journal was not on the disk"),
    ],
)
def test_a_missing_sync_is_a_fault(left_out: int, fault: str) -> None:
    assert fault in find_faults(JOURNAL_SYNCS[:left_out] + JOURNAL_SYNCS[left_out + 1 :])


def test_a_put_that_writes_nothing_or_syncs_no_log_is_a_fault() -> None:
    assert find_faults([]) == ["the database was never written"]
    assert find_faults(LOG_SYNCS[:1]) == [f"{FILE}-wal was written after its last sync"]


def test_the_lines_of_a_trace_are_parsed() -> None:
    lines = [
        f'openat(AT_FDCWD</>, "/h/{FILE}", O_RDWR) = 3</h/{FILE}>',
        f'pwrite64(3</h/{FILE}>, "a)b"..., 4096, 0) = 4096',
        f"fdatasync(3</h/{FILE}>) = 0",
        f"fsync(3</h/{FILE}>) = -1 EIO (Input/output error)",
        f'unlink("/h/{JOURNAL}") = 0',
        'write(2</dev/null>, "x", 1) = 1',
        'write(1<pipe:[7]>, "kept a b\\n", 9) = 9',
    ]
    assert syncs.split_puts(lines, "/h") == [
        [Event("pwrite64", FILE), Event("fdatasync", FILE), Event("unlink", JOURNAL)]
    ]


def make_read_only(home: Path) -> outages.Outage:
    if os.getuid() == 0:
        pytest.skip("file modes do not restrict root")
    return outages.make_read_only(home)


@pytest.mark.parametrize("start_outage", [outages.limit_file_size, outages.unplug_folder, make_read_only])
def test_a_store_survives_a_temporary_disk_failure(
    tmp_path: Path, start_outage: Callable[[Path], outages.Outage]
) -> None:
    clock = Clock(time.time())
    done = outages.run_outage(start_outage(tmp_path / "home"), 5, clock, clock.advance)
    assert done.in_memory
    assert not done.tally.missed, done


def test_a_server_keeps_working_while_its_disk_fails(tmp_path: Path) -> None:
    done = asyncio.run(stdio_server.run_server(tmp_path / "home", stdio_server.limit_file_size, 3))
    assert done.warned
    assert not done.tally.missed, done


def test_stores_recover_from_damaged_files(tmp_path: Path) -> None:
    done = damage.run_damage(10, 1, tmp_path)
    assert done.files == 10
    assert done.warned
    assert not done.tally.missed, done


@pytest.mark.parametrize("kind", damage.KINDS)
def test_equal_seeds_cause_equal_damage(tmp_path: Path, kind: str) -> None:
    import random

    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / damage.FILE
        file.write_bytes(b"SQLite format 3\x00" * 2_000)
        damage.KINDS[kind](file, random.Random(3))
        found.append({path.name: path.read_bytes() for path in file.parent.iterdir()})
    assert found[0] == found[1] != {damage.FILE: b"SQLite format 3\x00" * 2_000}


def test_a_loss_is_counted(tmp_path: Path) -> None:
    stores, store = open_store(tmp_path, long_running=False)
    store.put(stored := make_artifact(1, 1), search_terms(stored))
    stores.close()
    good, lost = (stored.id, hash_text(stored)), make_artifact(1, 2)
    assert check(tmp_path, [good]) == Tally()
    assert check(tmp_path, [good, (stored.id, "another"), (lost.id, hash_text(lost))]) == Tally(lost=2)
    (tmp_path / FILE).write_bytes(b"no database at all" * 99)
    assert check(tmp_path, [good]).missed
