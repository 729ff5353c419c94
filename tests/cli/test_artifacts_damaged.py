"""`keyhole artifacts` on a store with damaged texts, a replaced file or a failing disk."""

from __future__ import annotations

import json
from argparse import Namespace

import pytest

from keyhole.cli.artifacts_command import run_action
from keyhole.store.base import StoreStats, Verification
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock

DAMAGED_ID = "d" * 16


class DamagedStore(MemoryStore):
    """A store of two artifacts, one of them damaged, that reports itself as SQLite."""

    def __init__(self, warning: str = "") -> None:
        super().__init__(Clock())
        self._warning = warning

    def verify(self) -> Verification:
        return Verification(2, (DAMAGED_ID,))

    def stats(self) -> StoreStats:
        return StoreStats("sqlite", 1, 1, 21, 100, 1_000, 0, 1, 0.0, 0.0)

    def warning(self) -> str:
        return self._warning


def arguments(action: str, *, as_json: bool = False) -> Namespace:
    return Namespace(action=action, json=as_json, ids=[])


def test_verify_lists_damaged_artifacts_and_exits_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_action(DamagedStore(), arguments("verify")) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"2 checked, 1 damaged and set aside\n{DAMAGED_ID}: fetch its page again")
    assert run_action(DamagedStore(), arguments("verify", as_json=True)) == 1
    assert json.loads(capsys.readouterr().out) == {"checked": 2, "damaged": [DAMAGED_ID], "file": ""}
    monkeypatch.setattr(DamagedStore, "verify", lambda _: Verification(1, (), "replaced"))
    assert run_action(DamagedStore(), arguments("verify")) == 1
    assert "its readable artifacts are in a new file" in capsys.readouterr().out
    assert run_action(DamagedStore(), arguments("stats")) == 0
    assert "damaged:   1 set aside\n" in capsys.readouterr().out


@pytest.mark.parametrize("warning", ["kept_in_memory", "store_replaced", "another"])
def test_a_warning_of_the_store_is_printed_on_stderr(warning: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_action(DamagedStore(warning), arguments("gc")) == 0
    assert capsys.readouterr().err.startswith(f"keyhole: warning {warning}")
