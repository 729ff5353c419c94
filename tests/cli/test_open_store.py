"""`keyhole.open_store` opens the store that the settings of the environment choose."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

import keyhole
from keyhole.cli.main import main
from keyhole.errors import Code, KeyholeError

LOG = "".join(f"{number}.c: compiled in {number} ms\n" for number in range(3_000))


def test_what_a_program_stores_is_read_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    store, secret = keyhole.open_store()
    with closing(store):
        bounded = keyhole.bound(LOG, budget=1_000, store=store, secret=secret)
        assert bounded.id
        assert main(["read", bounded.id, "--query", "2345.c", "--json"]) == 0
    assert "2345.c: compiled" in json.loads(capsys.readouterr().out)["text"]


def test_no_store_is_opened_if_the_settings_keep_no_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    monkeypatch.setenv("KEYHOLE_KEEP_OUTPUTS", "off")
    with pytest.raises(KeyholeError, match="KEYHOLE_KEEP_OUTPUTS=off") as error:
        keyhole.open_store()
    assert error.value.code is Code.INVALID_ARGUMENT
    assert not list(tmp_path.iterdir())
