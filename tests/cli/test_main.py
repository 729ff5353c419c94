"""The command line: the tools' results, exit codes and JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import keyhole
from keyhole.cli.demo_site import fixtures_folder, recorded_pages, serve
from keyhole.cli.main import main
from tests.support.loopback import response
from tests.support.loopback import serve as answering

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serve(recorded_pages()) as port:
        monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home with spaces"))
        monkeypatch.setenv("KEYHOLE_ALLOW_PRIVATE", f"127.0.0.1:{port}")
        monkeypatch.setenv("KEYHOLE_ENGINES", "searxng")
        yield f"http://127.0.0.1:{port}"


def test_fetch_prints_what_an_agent_gets(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/routine-vacuuming", "--query", "vacuum threshold formula"]) == 0
    out = capsys.readouterr().out
    assert "vacuum threshold = vacuum base threshold" in out
    assert "Next: read_artifact(" in out


def test_fetch_read_and_search_share_the_store(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/sqlite-wal", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert main(["read", facts["artifact_id"], "--offset", "100", "--limit", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spans"] == [[100, 150, 0.0]]
    assert main(["read", facts["artifact_id"], "--find", "Write-Ahead Logging"]) == 0
    assert "exactly at" in capsys.readouterr().out
    assert main(["search", "checkpoint starvation", "--scope", "stored"]) == 0
    assert re.search(r"^\[1\] \S+ “Write-Ahead Logging”", capsys.readouterr().out, re.MULTILINE)


def test_artifacts_are_listed_shown_and_removed(site: str, capsys: Captured) -> None:
    main(["artifacts", "list"])
    assert "No artifacts yet" in capsys.readouterr().out
    main(["fetch", f"{site}/release-notes"])
    capsys.readouterr()
    main(["artifacts", "list", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    main(["artifacts", "list"])
    assert row["id"] in capsys.readouterr().out
    assert main(["artifacts", "show", row["id"]]) == 0
    assert capsys.readouterr().out.startswith("# Release notes")
    assert main(["artifacts", "gc"]) == 0
    assert main(["artifacts", "rm", row["id"]]) == 0
    assert main(["artifacts", "rm", row["id"]]) == 1
    assert "not found" in capsys.readouterr().out


def test_a_failed_call_goes_to_stderr_and_exits_with_1(site: str, capsys: Captured) -> None:
    assert main(["fetch", f"{site}/missing"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("not_found: HTTP 404")


def test_a_web_search_without_an_engine_is_a_named_error(site: str, capsys: Captured) -> None:
    assert main(["search", "anything"]) == 1
    assert capsys.readouterr().err.startswith("key_refused: no search engine is set up")


def test_a_wrong_setting_exits_with_2_and_suggests_the_nearest(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_MAX_CHAR", "5")
    assert main(["artifacts", "list"]) == 2
    assert "did you mean KEYHOLE_MAX_CHARS?" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["serve"], ["search", "anything"]])
def test_an_unknown_engine_exits_with_2_before_any_request(
    site: str, command: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_ENGINES", "brave,gogle")
    assert main(command) == 2
    assert "'gogle' is not one of searxng, brave" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[[engine]]\nname = 'x'", None])
def test_a_wrong_engines_file_exits_with_2_at_the_start(
    site: str, text: str | None, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "engines.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("KEYHOLE_ENGINES_FILE", str(tmp_path / "engines.toml"))
    assert main(["serve"]) == 2
    errors = capsys.readouterr().err
    assert "[[engine]] 1 (x): url: is missing" in errors if text else "cannot be read" in errors


def test_an_engine_of_the_file_may_have_a_private_address(
    site: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.dumps({"items": [{"u": f"{site}/sqlite-wal", "t": "Write-Ahead Logging", "s": "checkpoints"}]})
    with answering({"/find?q=checkpoint%20starvation": response(found.encode())}) as intranet:
        (tmp_path / "engines.toml").write_text(
            f"[[engine]]\nname = 'intranet'\nurl = '{intranet.url('/find?q={query}')}'\n"
            "results = 'items'\nlink = 'u'\ntitle = 't'\nsnippet = 's'\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("KEYHOLE_ENGINES_FILE", str(tmp_path / "engines.toml"))
        monkeypatch.setenv("KEYHOLE_ENGINES", "intranet")
        assert main(["search", "checkpoint starvation", "--freshness", "week"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\[1\] \S+ “Write-Ahead Logging”", out, re.MULTILINE)
    assert "freshness not applied by intranet." in out


def test_showing_a_missing_artifact_is_a_named_error_without_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    assert main(["artifacts", "show", "zzz"]) == 1
    assert capsys.readouterr().err.startswith("unknown_artifact: ")


def test_with_an_unusable_home_folder_the_answer_has_a_warning(
    site: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "file" / "home"))
    assert main(["fetch", f"{site}/sqlite-wal"]) == 0
    out = capsys.readouterr().out
    assert "Warning store_unavailable" in out
    assert "read_artifact(" not in out


def test_select_prints_each_score_of_a_file_by_ingredient(capsys: Captured) -> None:
    body = str(fixtures_folder() / "sqlite-wal" / "body")
    assert main(["select", body, "-q", "checkpoint starvation", "--max-chars", "2000", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["text"]) <= 2_000
    assert facts["terms"]["starvation"] > 0
    for (_, _, score), parts in zip(facts["spans"], facts["parts"], strict=True):
        assert abs(sum(parts.values()) - score) < 0.001


def test_select_of_a_missing_file_is_a_clear_error(capsys: Captured) -> None:
    assert main(["select", "/nonexistent/page.html", "-q", "x"]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_control_characters_in_a_file_name_never_reach_the_terminal(capsys: Captured) -> None:
    assert main(["extract", "no\x1b]0;title\x07\x9b31m.html"]) == 2
    message = capsys.readouterr().err
    assert "cannot read" in message and not {"\x1b", "\x07", "\x9b"} & set(message)


def test_the_module_prints_its_version() -> None:
    run = subprocess.run([sys.executable, "-m", "keyhole", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == f"keyhole {keyhole.__version__}"


def test_the_demo_shows_every_call_on_lines_of_at_most_100_columns() -> None:
    def demo(*options: str) -> str:
        command = [sys.executable, "-m", "keyhole", "demo", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    steps = json.loads(demo("--json"))
    assert [step["tool"] for step in steps] == [
        "web_fetch",
        "web_fetch",
        "read_artifact",
        "read_artifact",
        "web_fetch",
        "search",
    ]
    assert "vacuum threshold = vacuum base threshold" in steps[0]["text"]
    assert all(step["result_bytes"] <= 9_000 for step in steps)
    output = demo()
    assert "mcp_servers.keyhole" in output
    program = str(Path(sys.executable).parent)
    assert [line for line in output.splitlines() if len(line) > 100 and program not in line] == []
    for number, step in enumerate(steps, start=1):
        assert f"\n{number}. {step['title']}\n   {step['tool']}(" in output


def test_a_port_without_http_is_an_error(capsys: Captured) -> None:
    assert main(["serve", "--port", "7000"]) == 2
    assert capsys.readouterr().err == "keyhole: --host, --port and --processes need --http\n"


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_at_a_terminal_serve_reports_that_it_waits_for_a_client() -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "keyhole", "serve"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        assert server.stderr.readline() == b"keyhole: waiting for an MCP client on standard input; Ctrl-C ends it\n"
        server.kill()
    os.close(ours)
    os.close(theirs)
