"""What the commands say of a store that is not well: damaged texts, and a medium that was replaced."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.cli.artifacts.commands import run
from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import StoreStats, Verification, artifact_id
from keyhole.store.memory import MemoryStore
from tests.support.fakes import Clock, artifact

SECRET = b"0" * 32
PAGE = artifact(url="https://example.org/sick", fetched_at=1.0)
SICK = artifact_id(SECRET, PAGE.url, PAGE.text)


class Damaged(MemoryStore):
    """A store on a disk, one of whose two artifacts is damaged."""

    def __init__(self, warning: str = "") -> None:
        super().__init__(Clock())
        self._warning = warning
        self.put(artifact(), "x")
        self.put(replace(PAGE, id=SICK), "x")
        self.sick = {SICK}

    def put(self, artifact: Artifact, words: str, keys: Iterable[bytes] = ()) -> None:
        super().put(artifact, words, keys)
        self.sick = set()

    def get(self, id: str) -> Artifact:
        if id in self.sick:
            raise KeyholeError(Code.DAMAGED_ARTIFACT, f"artifact {id} is damaged", url="https://example.org/sick")
        return super().get(id)

    def verify(self) -> Verification:
        return Verification(2, (SICK,))

    def stats(self) -> StoreStats:
        return StoreStats("sqlite", 1, 1, 21, 100, 1_000, 0, 1, 0.0, 0.0)

    def warning(self) -> str:
        return self._warning


def arguments(action: str, *, as_json: bool = False, file: str = "") -> Namespace:
    return Namespace(action=action, json=as_json, file=file, ids=[])


def test_a_check_that_finds_damage_names_it_and_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(Damaged(), SECRET, arguments("verify")) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"2 checked, 1 damaged and set aside\n{SICK}: fetch its page again")
    assert run(Damaged(), SECRET, arguments("verify", as_json=True)) == 1
    assert json.loads(capsys.readouterr().out) == {"checked": 2, "damaged": [SICK], "file": ""}
    monkeypatch.setattr(Damaged, "verify", lambda _: Verification(1, (), "replaced"))
    assert run(Damaged(), SECRET, arguments("verify")) == 1
    assert "what could be read of it is in a new one" in capsys.readouterr().out
    assert run(Damaged(), SECRET, arguments("stats")) == 0
    assert "damaged:   1 set aside\n" in capsys.readouterr().out


def test_an_export_leaves_out_what_is_damaged_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    assert run(Damaged(), SECRET, arguments("export", file=str(file))) == 1
    assert capsys.readouterr().out == "1 exported, 1 left out: damaged\n"
    assert file.read_text().endswith('{"artifacts": 1}\n')


def test_an_import_makes_a_damaged_artifact_whole_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    store = Damaged()
    store.sick = set()
    assert run(store, SECRET, arguments("export", file=str(file))) == 0
    store.sick = {SICK}
    assert run(store, SECRET, arguments("import", file=str(file))) == 0
    assert "2 new, 0 known, 0 refused" in capsys.readouterr().out  # the other is known here by an id of its own
    assert store.get(SICK) == replace(PAGE, id=SICK)


@pytest.mark.parametrize("warning", ["kept_in_memory", "store_replaced", "another"])
def test_a_store_that_is_not_well_is_said_beside_what_it_gave(warning: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Damaged(warning), SECRET, arguments("gc")) == 0
    assert capsys.readouterr().err.startswith(f"keyhole: warning {warning}")


def test_an_import_stops_where_the_disk_does(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    run(Damaged(), SECRET, arguments("export", file=str(file)))
    with pytest.raises(KeyholeError) as caught:
        run(Damaged("kept_in_memory"), SECRET, arguments("import", file=str(file)))
    assert caught.value.code is Code.STORE_UNAVAILABLE
