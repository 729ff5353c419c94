"""The settings of a hook, which agree with those of every other command."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.errors import KeyholeError
from keyhole.outputs.hooks.keep import load_settings
from keyhole.store.home import home_folder


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "KEYHOLE_HOME", "KEYHOLE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("data", ["", "  ", "/data"])
def test_the_home_folder_is_that_of_the_other_commands(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", data)
    assert load_settings({"XDG_DATA_HOME": data}).home == str(home_folder(None))
    assert load_settings({"KEYHOLE_HOME": "~/kept"}).home == str(home_folder(Path("~/kept")))


def test_outputs_are_kept_unless_a_variable_says_otherwise() -> None:
    assert load_settings({}).keeps_outputs
    assert load_settings({"KEYHOLE_KEEP_OUTPUTS": "ON"}).keeps_outputs
    assert not load_settings({"KEYHOLE_KEEP_OUTPUTS": "off"}).keeps_outputs
    with pytest.raises(KeyholeError):
        load_settings({"KEYHOLE_KEEP_OUTPUTS": "perhaps"})


@pytest.mark.parametrize("store", ["memory", "postgresql://localhost/keyhole"])
def test_outputs_are_not_kept_for_a_store_that_does_not_adopt_them(store: str) -> None:
    assert not load_settings({"KEYHOLE_STORE": store}).keeps_outputs


def test_calls_are_recorded_unless_a_variable_says_otherwise() -> None:
    assert load_settings({"KEYHOLE_RECORD": "on"}).records
    assert load_settings({"KEYHOLE_RECORD": "Off"}) == (load_settings({}).home, True, False)
    with pytest.raises(KeyholeError):
        load_settings({"KEYHOLE_RECORD": "perhaps"})


def test_the_settings_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    file.write_text('keep_outputs = "off"\nhome = "/elsewhere"\n')
    assert load_settings({"KEYHOLE_CONFIG": str(file)}) == ("/elsewhere", False, True)
    assert load_settings({"KEYHOLE_CONFIG": "off"}).keeps_outputs


def test_the_settings_file_of_the_user_counts(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "keyhole"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('keep_outputs = "off"\n')
    assert not load_settings({}).keeps_outputs
