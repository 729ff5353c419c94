"""`keyhole doctor`: reports each problem with its fix, finds none in a good installation, and ends in time."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import keyhole
from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.cli.main import main
from keyhole.cli.terminal import Finding, Level, ReportStyle, format_report, has_failures
from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.extensions.install.clients import Server
from keyhole.extensions.install.doctor import machine, network, servers
from keyhole.extensions.install.doctor.commands import run_checks
from keyhole.extensions.install.doctor.servers import try_start

Captured = pytest.CaptureFixture[str]
SERVER = Server(sys.executable, ("-m", "keyhole", "serve"))


def run_doctor(capsys: Captured, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code and the findings by name."""
    capsys.readouterr()
    code = main(["doctor", "--json", *words])
    facts = json.loads(capsys.readouterr().out)
    assert facts["ok"] is (code == 0)
    return code, {finding["name"]: finding for finding in facts["findings"]}


def test_a_fresh_installation_has_no_failures_offline(home: Path, capsys: Captured) -> None:
    main(["install", "codex", "--no-hooks"])
    code, findings = run_doctor(capsys, "--offline")
    assert code == 0, [each for each in findings.values() if each["level"] == "fail"]
    for name in ("Python", "Keyhole", "full-text search", "values", "home folder", "free disk", "certificates"):
        assert findings[name]["level"] == "ok"
    assert findings["Keyhole"]["message"] == f"{keyhole.__version__} in {Path(keyhole.__file__).parents[1]}"
    assert findings["codex"]["message"].startswith("starts in")
    assert findings["stdio, 2025-11-25"]["level"] == findings["stdio, 2026-07-28"]["level"] == "ok"
    assert findings["engines"]["message"] == "not checked: keyless, wikipedia"
    assert not list(home.rglob("artifacts.db")), "checking creates nothing"


def test_problems_with_clients_are_reported_with_their_fixes(home: Path, capsys: Captured) -> None:
    for client in ("codex", "cursor", "gemini", "cline", "zed"):
        main(["install", client, "--no-hooks"])
    files = {
        "codex": (".codex/config.toml", '[mcp_servers.keyhole]\ncommand = "/gone/keyhole-reader"\n'),
        "cursor": (".cursor/mcp.json", "{broken"),
        "gemini": (".gemini/settings.json", '{"mcpServers": {"keyhole": {"command": "npx"}}}'),
        "cline": (".cline/data/settings/cline_mcp_settings.json", json.dumps({"mcpServers": {"keyhole": {
            "command": sys.executable, "args": ["-m", "keyhole", "serve"], "env": {"KEYHOLE_TYPO": "1"}}}})),
        "zed": (".config/zed/settings.json", "{}"),
    }  # fmt: skip
    for path, text in files.values():
        (home / path).write_text(text, "utf-8")
    capsys.readouterr()
    findings = {each.name: each for each in servers.check_clients(offline=True)}
    assert findings["codex"].level is Level.FAIL and "/gone/keyhole-reader" in findings["codex"].message
    assert findings["codex"].fix == "keyhole install codex"
    assert findings["cursor"].level is Level.FAIL and "line 1" in findings["cursor"].message
    assert findings["gemini"].level is Level.WARN and "another program: npx" in findings["gemini"].message
    assert findings["cline"].level is Level.FAIL and "unknown setting KEYHOLE_TYPO" in findings["cline"].message
    assert findings["zed"].level is Level.NOTE and findings["zed"].fix == "keyhole install zed"


def test_the_url_of_a_remote_server_is_checked_unless_offline(home: Path) -> None:
    url = "http://127.0.0.1:1/mcp"
    main(["install", "codex", "--no-hooks", "--http", url])
    findings = {
        offline: {each.name: each for each in servers.check_clients(offline=offline)} for offline in (True, False)
    }
    assert (findings[True]["codex"].level, findings[True]["codex"].message) == (Level.NOTE, f"not checked: {url}")
    assert findings[False]["codex"].level is Level.FAIL and findings[False]["codex"].message.startswith(f"{url}: ")


def test_a_wrong_setting_is_a_finding_and_stops_no_other_check(
    home: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_ROBOT", "off")
    monkeypatch.setenv("KEYHOLE_TIMEOUT", "soon")
    monkeypatch.setenv("KEYHOLE_ENGINES", "wikipedia")
    capsys.readouterr()
    assert main(["doctor", "--json", "--offline"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert "not checked: wikipedia" in [each["message"] for each in findings], "the other settings hold"
    failures = [each["message"] for each in findings if each["level"] == "fail"]
    assert "unknown setting KEYHOLE_ROBOT; did you mean KEYHOLE_ROBOTS?" in failures
    assert any("KEYHOLE_TIMEOUT" in message for message in failures)


def test_risky_settings_are_reported() -> None:
    environment = {
        "KEYHOLE_ALLOW_PRIVATE": "10.0.0.1:80", "KEYHOLE_ROBOTS": "off", "KEYHOLE_MAX_CHARS": "50000",
        "KEYHOLE_TIMEOUT": "90", "KEYHOLE_LOG_LEVEL": "DEBUG", "KEYHOLE_STORE": "memory", "KEYHOLE_BRAVE_KEY": "k" * 20,
    }  # fmt: skip
    findings = machine.check_settings(parse_config(environment), [])
    assert [each.name for each in findings if each.level is Level.WARN] == [
        "allow_private", "robots", "max_chars", "timeout", "log_level", "store",
    ]  # fmt: skip
    assert all(each.fix for each in findings if each.level is Level.WARN)
    assert "k" * 20 not in str(findings) and "KEYHOLE_BRAVE_KEY" in str(findings)


def test_a_setting_of_an_earlier_version_is_reported() -> None:
    findings = machine.check_settings(parse_config({"KEYHOLE_SEARCH_TIMEOUT": "20"}), [])
    (warning,) = (each for each in findings if each.level is Level.WARN)
    assert warning.message.startswith("KEYHOLE_SEARCH_TIMEOUT has no effect any more: ")
    assert warning.fix == "Remove it."


@pytest.fixture
def filled_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Iterator[Config]:
    """The settings of a store with two artifacts."""
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "kept"))
    with serve(recorded_pages()) as port:
        monkeypatch.setenv("KEYHOLE_ALLOW_PRIVATE", f"127.0.0.1:{port}")
        for page in ("sqlite-wal", "release-notes"):
            assert main(["fetch", f"http://127.0.0.1:{port}/{page}"]) == 0
    capsys.readouterr()
    yield Config(home=tmp_path / "kept")


def finding_levels(config: Config) -> dict[str, Level]:
    return {each.name: each.level for each in machine.check_store(config)}


def test_an_undamaged_store_is_read_and_not_changed(filled_store: Config) -> None:
    file = Path(str(filled_store.home)) / "artifacts.db"
    before = file.read_bytes()
    findings = {each.name: each for each in machine.check_store(filled_store)}
    assert {each.level for each in findings.values()} == {Level.OK}
    assert findings["artifacts"].message.startswith("2 in ") and findings["texts"].message == "2 checked, none damaged"
    assert file.read_bytes() == before


def test_a_damaged_text_is_found_and_not_set_aside(filled_store: Config) -> None:
    file = Path(str(filled_store.home)) / "artifacts.db"
    with sqlite3.connect(file) as database:
        (table,) = database.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%data BLOB%'").fetchone()
        database.execute(f"UPDATE {table} SET data = zeroblob(length(data))")  # noqa: S608 - a name of ours
    database.close()
    assert finding_levels(filled_store)["texts"] is Level.FAIL
    assert finding_levels(filled_store)["texts"] is Level.FAIL, "the check set nothing aside"


def test_a_file_that_sqlite_did_not_write_is_found(filled_store: Config) -> None:
    file = Path(str(filled_store.home)) / "artifacts.db"
    file.write_bytes(b"nothing that SQLite wrote " * 400)
    assert finding_levels(filled_store)["artifacts"] is Level.FAIL


def test_a_home_folder_that_others_can_access_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)
    assert finding_levels(Config(home=folder))["home folder"] is Level.WARN
    folder.chmod(0o700)
    assert finding_levels(Config(home=folder))["home folder"] is Level.OK


def test_a_home_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert finding_levels(Config(home=tmp_path / "file" / "below"))["home folder"] is Level.FAIL


def test_unreachable_engines_are_reported_with_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("127.0.0.1", 0)) as gone:
        reached, port = f"http://127.0.0.1:{there.getsockname()[1]}", gone.getsockname()[1]
        gone.close()
        config = parse_config({"KEYHOLE_SEARXNG_URL": f"{reached},http://127.0.0.1:{port}"})
        findings = {each.name: each for each in network.check(config, offline=False)}
        assert findings["searxng"].level is Level.OK
        assert findings["searxng1"].level is Level.WARN and "refused" in findings["searxng1"].message
        secured = network.try_connection(reached.replace("http:", "https:"), "")
    assert secured.startswith(("no answer", "its certificate", "no connection"))


def test_an_engine_without_its_key_is_reported() -> None:
    findings = network.check(parse_config({"KEYHOLE_ENGINES": "brave,wikipedia"}), offline=True)
    assert any(each.name == "brave" and "KEYHOLE_BRAVE_KEY" in each.message for each in findings)


def test_a_server_that_stops_is_reported_with_its_last_output() -> None:
    (first, second) = servers.check_round_trip(Server(sys.executable, ("-c", "import sys; sys.exit('no such thing')")))
    assert first.level is second.level is Level.FAIL
    assert "no such thing" in first.message


def test_a_server_with_other_tools_is_reported() -> None:
    program = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    if "id" in request:
        result = info if request["method"] == "initialize" else {"tools": []}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
    tried = asyncio.run(try_start(Server(sys.executable, ("-c", program)), 20.0))
    assert tried.fault == "its tools are none"


def test_the_round_trip_ignores_the_users_settings(home: Path) -> None:
    (file := home / ".config/keyhole/config.toml").parent.mkdir(parents=True)
    file.write_text("timeot = 3\n", "utf-8")
    assert [each.message for each in servers.check_round_trip(SERVER) if each.level is not Level.OK] == []


def test_a_check_that_hangs_does_not_delay_the_others() -> None:
    release = Event()
    start = time.monotonic()
    findings = run_checks({"A": lambda: [] * release.wait(30), "B": lambda: [Finding("B", "b", Level.OK, "fine")]}, 0.3)
    release.set()
    assert time.monotonic() - start < 10
    assert [(each.area, each.level) for each in findings] == [("A", Level.FAIL), ("B", Level.OK)]


def test_the_report_is_plain_without_a_terminal_and_has_each_fix_below_its_finding() -> None:
    findings = [
        Finding("Store", "texts", Level.OK, "2 checked"),
        Finding("Store", "free disk", Level.FAIL, "1 MB", "Free some space."),
    ]
    assert has_failures(findings)
    assert format_report(findings, 1.25, ReportStyle(symbols=False)).splitlines() == [
        "Store",
        "  ok   texts              2 checked",
        "  FAIL free disk          1 MB",
        "                          -> Free some space.",
        "",
        "1 failed, 1 ok; 1.2 s",
    ]
    assert "\x1b[31m✗\x1b[0m" in format_report(findings, 1.0, ReportStyle(color=True))


def test_no_secret_of_an_entry_is_shown_and_a_wrong_entry_hides_no_other(home: Path) -> None:
    entries = {
        "codex": (".codex/config.toml", '[mcp_servers.keyhole]\nurl = "https://u:S3CRET@127.0.0.1:1/mcp?token=S3CRET"\n'),
        "cursor": (".cursor/mcp.json", '{"mcpServers": {"keyhole": {"url": "http://h:99999999/mcp"}}}'),
        "gemini": (".gemini/settings.json", '{"mcpServers": {"keyhole": {"url": "http://[x/"}}}'),
        "cline": (".cline/data/settings/cline_mcp_settings.json", json.dumps({"mcpServers": {"keyhole": {
            "command": "/x\x00/keyhole-reader", "args": ["--token", "S3CRET"]}}})),
        "zed": (".config/zed/settings.json", '{"context_servers": {"keyhole": {"url": "http://%s/"}}}' % ("a" * 300)),
    }  # fmt: skip
    for path, text in entries.values():
        (home / path).parent.mkdir(parents=True)
        (home / path).write_text(text, "utf-8")
    findings = {each.name: each for each in servers.check_clients(offline=False)}
    assert {name: findings[name].level for name in entries} == dict.fromkeys(entries, Level.FAIL)
    assert "S3CRET" not in str(findings)
    offline = {each.name: each.message for each in servers.check_clients(offline=True)}
    assert offline["codex"].startswith("not checked: https://")
    assert "S3CRET" not in str(offline)
