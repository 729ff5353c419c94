"""`keyhole artifacts` on a store with damaged texts, a replaced file or a failing disk."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.cli.artifacts.commands import run_action
from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, ArtifactPart
from keyhole.store.base import Span, StoreStats, Verification
from keyhole.store.chunks import PackedText
from keyhole.store.ids import artifact_id
from keyhole.store.memory import MemoryStore
from tests.support.fakes import Clock, artifact

SECRET = b"0" * 32
PAGE = artifact(url="https://example.org/sick", fetched_at=1.0)
DAMAGED_ID = artifact_id(SECRET, PAGE.url, PAGE.text)


class DamagedStore(MemoryStore):
    """A store of two artifacts, one of them damaged, that reports itself as SQLite."""

    def __init__(self, warning: str = "") -> None:
        super().__init__(Clock())
        self._warning = warning
        self.put(artifact(), "x")
        self.put(replace(PAGE, id=DAMAGED_ID), "x")
        self.damaged = {DAMAGED_ID}

    def put(
        self,
        artifact: Artifact,
        words: str,
        keys: Iterable[bytes] = (),
        packed: PackedText | None = None,
        *,
        indexed: Sequence[Span] | None = None,
        is_import: bool = False,
    ) -> None:
        super().put(artifact, words, keys, packed, indexed=indexed, is_import=is_import)
        self.damaged = set()

    def get(self, id: str) -> Artifact:
        if id in self.damaged:
            raise KeyholeError(Code.DAMAGED_ARTIFACT, f"artifact {id} is damaged", url="https://example.org/sick")
        return super().get(id)

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        self.get(id)
        return super().part(id, start, end)

    def verify(self) -> Verification:
        return Verification(2, (DAMAGED_ID,))

    def stats(self) -> StoreStats:
        return StoreStats("sqlite", 1, 1, 21, 100, 1_000, 0, 1, 0.0, 0.0)

    def warning(self) -> str:
        return self._warning


def arguments(action: str, *, as_json: bool = False, file: str = "") -> Namespace:
    return Namespace(action=action, json=as_json, file=file, ids=[])


def test_verify_lists_damaged_artifacts_and_exits_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_action(DamagedStore(), SECRET, arguments("verify")) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"2 checked, 1 damaged and set aside\n{DAMAGED_ID}: fetch its page again")
    assert run_action(DamagedStore(), SECRET, arguments("verify", as_json=True)) == 1
    assert json.loads(capsys.readouterr().out) == {"checked": 2, "damaged": [DAMAGED_ID], "file": ""}
    monkeypatch.setattr(DamagedStore, "verify", lambda _: Verification(1, (), "replaced"))
    assert run_action(DamagedStore(), SECRET, arguments("verify")) == 1
    assert "its readable artifacts are in a new file" in capsys.readouterr().out
    assert run_action(DamagedStore(), SECRET, arguments("stats")) == 0
    assert "damaged:   1 set aside\n" in capsys.readouterr().out


def test_an_export_leaves_out_damaged_artifacts_and_reports_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "x.jsonl"
    assert run_action(DamagedStore(), SECRET, arguments("export", file=str(file))) == 1
    assert capsys.readouterr().out == "1 exported, 1 damaged and left out\n"
    assert file.read_text().endswith('{"artifacts": 1}\n')


def test_an_import_repairs_a_damaged_artifact(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    store = DamagedStore()
    store.damaged = set()
    assert run_action(store, SECRET, arguments("export", file=str(file))) == 0
    store.damaged = {DAMAGED_ID}
    assert run_action(store, SECRET, arguments("import", file=str(file))) == 0
    assert "2 new, 0 known, 0 refused" in capsys.readouterr().out  # the intact one has another id in this store
    assert store.get(DAMAGED_ID) == replace(PAGE, id=DAMAGED_ID)


@pytest.mark.parametrize("warning", ["kept_in_memory", "store_replaced", "another"])
def test_a_warning_of_the_store_is_printed_on_stderr(warning: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_action(DamagedStore(warning), SECRET, arguments("gc")) == 0
    assert capsys.readouterr().err.startswith(f"keyhole: warning {warning}")


def test_an_import_stops_when_the_disk_fails(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    run_action(DamagedStore(), SECRET, arguments("export", file=str(file)))
    with pytest.raises(KeyholeError) as caught:
        run_action(DamagedStore("kept_in_memory"), SECRET, arguments("import", file=str(file)))
    assert caught.value.code is Code.STORE_UNAVAILABLE
