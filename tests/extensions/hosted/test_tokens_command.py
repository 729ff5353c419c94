"""`keyhole tokens` issues, lists and revokes tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.extensions.hosted.token_file import TokenFile, parse_grants


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["tokens", *arguments])
    captured = capsys.readouterr()
    return code, captured.out.strip(), captured.err.strip()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "folder" / "tokens"
    monkeypatch.setenv("KEYHOLE_TOKENS_FILE", str(file))
    return file


def test_a_new_token_is_printed_once_and_stored_as_a_hash(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, token, errors = run(capsys, "new", "alice", "--days", "7", "--label", "her\x1b laptop\n")
    assert code == 0
    assert token.startswith("kh_")
    assert token not in errors
    assert token not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    held = TokenFile(path).find(token)
    assert held is not None
    assert held.expires is not None
    assert (held.tenant, held.label, (held.expires - held.created).days) == ("alice", "her laptop", 7)


def test_the_list_shows_no_token_and_a_revoked_token_is_removed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (run(capsys, "new", name)[1] for name in ("alice", "bob"))
    path.write_text("# kept as it is\n" + path.read_text())
    rows = json.loads(run(capsys, "list", "--json")[1])
    assert [row["tenant"] for row in rows] == ["alice", "bob"]
    _, listed, _ = run(capsys, "list")
    assert "alice  created 2" in listed
    assert first not in listed
    assert second not in listed
    assert run(capsys, "revoke", rows[0]["id"])[0] == 0
    assert run(capsys, "revoke", rows[0]["id"])[:2] == (1, f"{rows[0]['id']}: no such token")
    assert TokenFile(path).find(first) is None
    assert TokenFile(path).find(second) is not None
    assert path.read_text().startswith("# kept as it is\n")


def test_owner_and_permissions_of_the_file_are_kept(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "new", "alice")
    path.chmod(0o640)
    run(capsys, "new", "bob")
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_tokens_issued_at_the_same_time_are_all_stored(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    command = [sys.executable, "-m", "keyhole", "tokens", "new", "alice", "--file", str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(6)]
    assert [process.wait(timeout=60) for process in running] == [0] * 6
    grants, wrong = parse_grants(path.read_text())
    assert (len(grants), wrong) == (6, [])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["new"], "needs a TENANT"),
        (["new", "../etc"], "a tenant is"),
        (["new", "alice", "--days", "0"], "--days"),
        (["new", "alice", "--days", "99999"], "--days"),
        (["revoke"], "needs the ID"),
        (["list", "--file", "/"], "cannot use"),
    ],
)
def test_wrong_arguments_are_reported(
    path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    code, _, errors = run(capsys, *arguments)
    assert code == 2
    assert expected in errors


def test_without_a_file_the_command_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYHOLE_TOKENS_FILE", raising=False)
    assert run(capsys, "list")[0] == 2


def test_a_file_that_others_may_write_is_not_changed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "new", "alice")
    path.chmod(0o666)
    code, out, errors = run(capsys, "new", "bob")
    assert (code, out) == (2, "")
    assert "others may write" in errors


def test_an_empty_list_names_the_command_that_creates_a_token(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "keyhole tokens new TENANT" in run(capsys, "list")[1]
    assert run(capsys, "list", "--json")[1] == "[]"
