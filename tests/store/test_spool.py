"""The spool folder: outputs of short-lived processes, written at once, adopted once, and bounded in size."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import TOO_LARGE
from keyhole.store.spool import PARTIAL_SECONDS, adopt, spool_folder, write

ID = "abcdefghij234567"
TEXT = "naïve\r\n\ud800 lines\n" * 100


def keep(folder: str, id: str = ID, text: str = TEXT, now: float = 1.5, max_bytes: int = 10**6) -> bool:
    return write(
        folder, id, "output:log", text, title="make", now=now, notes={"exit_status": "2"}, max_bytes=max_bytes
    )  # fmt: skip


def adopted(folder: str, id: str = "") -> list[Artifact]:
    artifacts: list[Artifact] = []
    assert adopt(folder, artifacts.append, id) == len(artifacts)
    return artifacts


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return spool_folder(tmp_path / "home")


def test_an_output_is_adopted_once_with_its_facts(folder: str) -> None:
    assert keep(folder)
    (artifact,) = adopted(folder)
    assert (artifact.id, artifact.url, artifact.title, artifact.text) == (ID, "output:log", "make", TEXT)
    assert (artifact.fetched_at, artifact.notes, artifact.cut) == (1.5, (("exit_status", "2"),), False)
    assert adopted(folder) == []
    assert list(Path(folder).iterdir()) == []


def test_only_the_owner_can_read_an_output(folder: str) -> None:
    keep(folder)
    assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in Path(folder).iterdir()] == [0o600]


def test_one_output_is_adopted_by_its_id(folder: str) -> None:
    other = ID[::-1]
    keep(folder)
    keep(folder, other)
    assert [artifact.id for artifact in adopted(folder, other)] == [other]
    assert [artifact.id for artifact in adopted(folder)] == [ID]


def test_a_folder_that_does_not_exist_holds_no_output(folder: str) -> None:
    assert adopted(folder) == []


@pytest.mark.parametrize(
    "damage", [b"", b"{}\n", b"no JSON\ntext", b'{"id": "abcdefghij234567", "chars": 9}\ntext', b"[1]\n\xff"]
)
def test_a_damaged_output_is_left_out_with_one_log_line(
    folder: str, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    keep(folder, ID[::-1])
    (Path(folder) / f"{ID}.output").write_bytes(damage)
    assert [artifact.id for artifact in adopted(folder)] == [ID[::-1]]
    assert adopted(folder) == []
    assert len(caplog.messages) == 1


def test_a_cut_output_is_damaged(folder: str) -> None:
    keep(folder)
    path = Path(folder) / f"{ID}.output"
    path.write_bytes(path.read_bytes()[:-1])
    assert adopted(folder) == []


def test_a_partial_file_is_removed_when_its_process_has_certainly_ended(folder: str) -> None:
    keep(folder)
    old, new = Path(folder) / "a.1.partial", Path(folder) / "b.2.partial"
    for path in (old, new):
        path.write_bytes(b"begun")
    os.utime(old, (0, new.stat().st_mtime - PARTIAL_SECONDS - 1))
    assert len(adopted(folder)) == 1
    assert list(Path(folder).iterdir()) == [new]


def test_an_output_that_the_store_cannot_take_now_stays(folder: str) -> None:
    def refuse(_: Artifact) -> None:
        raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full")

    keep(folder)
    assert adopt(folder, refuse) == 0
    assert len(adopted(folder)) == 1


def test_an_output_that_no_store_can_take_is_removed(folder: str) -> None:
    def refuse(_: Artifact) -> None:
        raise KeyholeError(Code.STORE_UNAVAILABLE, TOO_LARGE)

    keep(folder)
    adopt(folder, refuse)
    assert list(Path(folder).iterdir()) == []


def test_two_processes_may_adopt_at_the_same_time(folder: str) -> None:
    keep(folder)
    inner: list[Artifact] = []

    def put(_: Artifact) -> None:
        adopt(folder, inner.append)

    assert adopt(folder, put) == 1
    assert [artifact.id for artifact in inner] == [ID]


def test_the_oldest_outputs_make_room_for_a_new_one(folder: str) -> None:
    ids = [letter * 16 for letter in "abc"]
    for number, id in enumerate(ids):
        assert keep(folder, id, max_bytes=5_000)
        os.utime(Path(folder) / f"{id}.output", (number, number))
    assert [artifact.id for artifact in adopted(folder)] == ids[1:]


def test_the_output_of_a_running_command_displaces_no_other(folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / "1-2.running").write_bytes(bytes(9_000))
    ids = [letter * 16 for letter in "ab"]
    assert all(keep(folder, id, max_bytes=5_000) for id in ids)
    assert {artifact.id for artifact in adopted(folder)} == set(ids)


def test_an_output_over_the_limit_is_not_kept(folder: str) -> None:
    assert not keep(folder, max_bytes=1_000)
    assert adopted(folder) == []


def test_importing_the_module_loads_nothing_that_takes_long() -> None:
    heavy = ["dataclasses", "logging", "pathlib", "sqlite3", "backports", "keyhole.records", "keyhole.errors"]
    code = f"import sys, keyhole.store.spool; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
