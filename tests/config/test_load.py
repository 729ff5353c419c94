"""The settings file is found and read; a missing, unreadable or exposed one is reported."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.config.config import Config
from keyhole.config.load import load_config, log_warnings, read_settings, settings_path, settings_warnings
from keyhole.errors import Code, KeyholeError


def refusal(environment: dict[str, str]) -> str:
    """Return the error message for an environment."""
    with pytest.raises(KeyholeError) as caught:
        load_config(environment)
    assert caught.value.code is Code.INVALID_ARGUMENT
    return caught.value.message


def test_by_default_the_file_in_the_platforms_config_folder_is_read(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    path = settings_path(environment)
    assert path == tmp_path / "keyhole" / "config.toml"
    assert load_config(environment) == Config()  # the default file may be missing
    path.parent.mkdir(parents=True)
    path.write_text("max_chars = 12000\n", encoding="utf-8")
    assert load_config(environment).max_chars == 12_000
    assert load_config({**environment, "KEYHOLE_MAX_CHARS": "5000"}).max_chars == 5_000
    assert load_config({**environment, "KEYHOLE_CONFIG": "off"}) == Config()


def test_a_named_file_is_read_and_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "with spaces.toml"
    environment = {"KEYHOLE_CONFIG": str(path)}
    assert refusal(environment) == f"the settings file that KEYHOLE_CONFIG names does not exist: {path}"
    path.write_text("\ufefftimeout = 12\n", encoding="utf-8")
    config = load_config(environment)
    assert config.timeout == 12.0
    assert config.origins == {"timeout": f"{path}:1"}


@pytest.mark.parametrize(
    ("body", "message"),
    [(b"timeout = \xff", "is not UTF-8 (at byte 10)"), (b"#" * 1_000_001, "larger than"), (None, "cannot be read")],
)
def test_an_unusable_file_is_an_error(body: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    if body is None:
        path.mkdir()
    else:
        path.write_bytes(body)
    assert message in refusal({"KEYHOLE_CONFIG": str(path)})


def test_all_faults_of_file_and_environment_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("timeut = 1\nmax_chars = 12000\n", encoding="utf-8")
    config, faults = read_settings({"KEYHOLE_CONFIG": str(path), "KEYHOLE_HOM": "x", "KEYHOLE_ENGINE_COUNT": "0"})
    assert config.max_chars == 12_000
    assert [fault.partition(";")[0] for fault in faults] == [
        f"{path}:1: unknown setting timeut",
        "unknown setting KEYHOLE_HOM",
        "KEYHOLE_ENGINE_COUNT='0': must be from 1 to 20",
    ]


def test_a_warning_is_logged_for_a_file_with_a_key_that_others_can_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.toml"
    path.write_text('brave_key = "k3yk3yk3y"\ntimeout = 3\n', encoding="utf-8")
    environment = {"KEYHOLE_CONFIG": str(path)}
    path.chmod(0o640)
    config = load_config(environment)
    assert settings_warnings(config) == [f"{path} contains a key and other users can read it; run chmod 600 on it"]
    with caplog.at_level(logging.WARNING):
        log_warnings(config)
    assert caplog.messages == settings_warnings(config)
    path.chmod(0o600)
    assert settings_warnings(config) == []
    path.chmod(0o644)
    assert settings_warnings(load_config({**environment, "KEYHOLE_BRAVE_KEY": "another-key"})) == []


def test_a_setting_of_an_earlier_version_is_ignored_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("max_chars = 12000\nmax_redirects = 3\n", encoding="utf-8")
    config = load_config({"KEYHOLE_CONFIG": str(path), "KEYHOLE_MODEL_HUB": "https://mirror.example"})
    assert (config.max_chars, list(config.origins)) == (12_000, ["max_chars"])
    assert settings_warnings(config) == [
        f"{path}:2: max_redirects has no effect any more: 10 redirects are followed",
        "KEYHOLE_MODEL_HUB has no effect any more: set HF_ENDPOINT, the variable of Hugging Face's own programs",
    ]


def test_a_server_over_stdio_uses_the_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"

    async def fetched(url: str) -> str:
        environment = {"KEYHOLE_CONFIG": str(path), "KEYHOLE_LOG_LEVEL": "ERROR"}
        server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
        async with Client(server) as client:
            return (await client.call_tool("web_fetch", {"url": url})).model_dump_json()

    with serve(recorded_pages()) as port:
        path.write_text(f'home = "{tmp_path}/home"\nmax_chars = 1500\nallow_private = ["127.0.0.1:{port}"]\n', "utf-8")
        answer = anyio.run(fetched, f"http://127.0.0.1:{port}/sqlite-wal")
    assert "--- untrusted text" in answer
    assert 1_000 < len(answer.encode()) < 2_000
    assert (tmp_path / "home" / "artifacts.db").exists()


@pytest.mark.parametrize("options", [[], ["--http", "--port", "0"]])
def test_a_server_does_not_start_with_an_invalid_settings_file(options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("max_chars = 12000\ntimeot = 3\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "keyhole", "serve", *options],
        env={"KEYHOLE_CONFIG": str(path)}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"keyhole: {path}:2: unknown setting timeot; did you mean timeout?\n"
