"""Keyhole's folders are those that platformdirs chooses, which takes longer to import."""

from __future__ import annotations

import sys

import platformdirs
import pytest

from keyhole.config import folders


@pytest.mark.parametrize("base", ["", "/data"])
def test_the_folders_are_those_of_platformdirs(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, base) if base else monkeypatch.delenv(name, raising=False)
    environment = dict.fromkeys(("XDG_DATA_HOME", "XDG_CONFIG_HOME"), base)
    assert folders.default_home(environment) == platformdirs.user_data_dir("keyhole", appauthor=False)
    expected = platformdirs.user_config_path("keyhole", appauthor=False) / "config.toml"
    assert folders.settings_file(environment) == str(expected)


def test_the_defaults_of_macos_are_those_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs.macos import MacOS

    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    mac = MacOS("keyhole", appauthor=False)
    assert folders.default_home({}) == mac.user_data_dir
    assert folders.settings_file({}) == f"{mac.user_config_dir}/config.toml"


def test_another_system_asks_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = platformdirs.user_data_dir("keyhole", appauthor=False)
    monkeypatch.setattr(folders, "_DEFAULTS", {})
    assert folders.default_home({}) == expected


def test_variables_choose_the_home_folder_and_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert folders.home_folder({"KEYHOLE_HOME": " ~/pages "}) == "/home/ada/pages"
    assert folders.settings_file({"KEYHOLE_CONFIG": "~/k.toml"}) == "/home/ada/k.toml"
    assert folders.settings_file({"KEYHOLE_CONFIG": "Off"}) == ""
    assert folders.is_required({"KEYHOLE_CONFIG": "k.toml"}) and not folders.is_required({})
