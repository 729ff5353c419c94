"""Clients share a server if all that its answers depend on is equal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keyhole.config.config import SETTINGS
from keyhole.serve.shared.address import MAX_PATH_BYTES, PATH_VARIABLES, find_address

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no shared server")


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "KEYHOLE_HOME": "/tmp/k", "KEYHOLE_CONFIG": "off"}  # noqa: S108 - nothing is written


def identity(settings: dict[str, str]) -> str:
    address = find_address(settings)
    assert address
    return address.identity


def test_clients_whose_other_variables_differ_share_a_server(settings: dict[str, str]) -> None:
    one, other = (find_address({**settings, "TERM": name, "PWD": f"/{name}"}) for name in ("a", "b"))
    assert one and other and one.identity == other.identity
    assert one.socket == other.socket and one.socket.startswith("/tmp/k/shared/")  # noqa: S108 - nothing is written


@pytest.mark.parametrize("name", ["KEYHOLE_MAX_CHARS", "KEYHOLE_BRAVE_KEY", "HOME", "PYTHONPATH"])
def test_clients_with_other_settings_have_another_server(settings: dict[str, str], name: str) -> None:
    assert identity(settings) != identity({**settings, name: "/5000"})


def test_the_settings_file_and_the_keys_of_an_engines_file_are_settings(
    settings: dict[str, str], tmp_path: Path
) -> None:
    file, engines = tmp_path / "config.toml", tmp_path / "engines.toml"
    engines.write_text('headers = "${MY_KEY}"')
    file.write_text("max_chars = 5000\n")
    settings["KEYHOLE_CONFIG"] = str(file)
    first = identity(settings)
    assert identity({**settings, "MY_KEY": "1"}) == first
    file.write_text(f"max_chars = 5000\nengines_file = '{engines}'\n")
    second = identity(settings)
    assert len({first, second, identity({**settings, "MY_KEY": "1"}), identity({**settings, "MY_KEY": "2"})}) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"KEYHOLE_SHARED": "off"}, {"KEYHOLE_STORE": "memory"}, {"KEYHOLE_HOME": "relative"},
        {"KEYHOLE_ENGINES_FILE": "engines.toml"}, {"KEYHOLE_CONFIG": "/nowhere/config.toml"},
        {"KEYHOLE_HOME": "/" + MAX_PATH_BYTES * "x"},
    ],
)  # fmt: skip
def test_some_settings_need_a_server_of_their_own(settings: dict[str, str], change: dict[str, str]) -> None:
    assert find_address({**settings, **change}) is None


@pytest.mark.parametrize("line", ["shared = 'off'", "store = 'memory'", "shared = [unfinished"])
def test_the_settings_file_can_switch_sharing_off(settings: dict[str, str], tmp_path: Path, line: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"max_chars = 5000\n{line}\n")
    assert find_address({**settings, "KEYHOLE_CONFIG": str(file)}) is None


def test_every_path_that_a_server_over_stdio_reads_is_known() -> None:
    paths = {each.variable for each in SETTINGS if each.unit == "path"}
    assert paths - {"KEYHOLE_TOKENS_FILE"} == set(PATH_VARIABLES)
