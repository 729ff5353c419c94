"""The record of a call that a hook leaves in the spool folder, until a log of calls adopts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.outputs.adopt import adopt_all, adopt_calls
from keyhole.outputs.hooks.answer import CLIENTS, answer
from keyhole.store.base import LOCAL
from keyhole.store.calls.base import CallLog
from keyhole.store.open import open_stores
from keyhole.store.spool import spool_folder
from tests.outputs.hooks.test_answer import text_of, with_long_text
from tests.support.hook_events import LONG

BUDGET = 4_000
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(b"s" * 32)
    return tmp_path


@pytest.fixture
def log(home: Path) -> CallLog:
    stores = open_stores(Config(home=home), adopt=adopt_all, adopt_calls=adopt_calls)
    return stores.calls_for(LOCAL)


def ask(client: str, home: Path, event: object = None, **environment: str) -> bytes:
    data = json.dumps(event or with_long_text(client)).encode()
    return answer(data, client, BUDGET, {"KEYHOLE_HOME": str(home), "HOME": str(home), **environment})


@pytest.mark.parametrize("client", CLIENTS)
def test_a_bounded_result_is_recorded_with_what_the_model_got(client: str, home: Path, log: CallLog) -> None:
    assert log.calls(9) == ()
    shown = text_of(client, ask(client, home))
    (call,) = log.calls(9)
    record = log.get(call.id)
    assert record is not None
    assert (call.origin, call.outcome, call.budget) == ("hook", "ok", BUDGET)
    assert call.client == {"claude": "claude-code"}.get(client, client)
    assert record.result == shown
    assert call.result_bytes == len(shown.encode())
    (text,) = record.texts
    assert text.chars == call.read_chars > len(shown) > call.shown_chars > 0
    stored = open_stores(Config(home=home), adopt=adopt_all).for_tenant(LOCAL)[0].get(text.id).text
    assert len(stored) == text.chars
    assert all(stored[start:end].strip() in shown for start, end in text.spans)
    assert log.calls(9) == (call,)
    assert list(Path(spool_folder(home)).glob("*.call")) == []


def test_calls_of_one_session_of_the_client_are_one_session(home: Path, log: CallLog) -> None:
    event = with_long_text("claude")
    for session in ("1f", "1f", "../2 é"):
        ask("claude", home, {**event, "session_id": session})
    sessions = {each.id: each.calls for each in log.sessions(9)}
    assert sessions.pop("1f") == 2
    ((other, calls),) = sessions.items()
    assert (other.isalnum(), calls) == (True, 1)


def test_the_facts_of_a_command_are_recorded_without_its_secrets(home: Path, log: CallLog) -> None:
    event = with_long_text("claude")
    command = f"TOKEN={SECRET} /usr/bin/make -j 8 all"
    event |= {"cwd": "/src", "tool_input": {"command": command, "description": "Build all"}}
    ask("claude", home, event)
    (kept,) = Path(spool_folder(home)).glob("*.call")
    assert SECRET not in kept.read_text()
    (call,) = log.calls(9)
    assert call.tool == "make"
    assert call.target.endswith("/usr/bin/make -j 8 all")
    record = log.get(call.id)
    assert record is not None
    assert SECRET not in f"{record}"
    assert dict(record.notes)["folder"] == "/src"
    assert dict(record.notes)["kind"] == "compiler"
    assert json.loads(record.arguments)["budget"] == BUDGET


COMMANDS = (
    "vault login {0}", "openssl enc -aes256 -k {0}", "export MYAPP_PW={0}", "lftp -u me,{0} sftp://h",
    r"smbclient //h/s -U dom\\me%{0}", "restic --password-command 'echo {0}' backup", "sqlplus scott/{0}@db",
    "nmcli device wifi connect Attic password {0}", "wpa_passphrase Attic {0}", "htpasswd -b file me {0}",
    "chpasswd <<< me:{0}", "usermod -p {0} me", "machine h login me password {0}",
)  # fmt: skip
"""Command lines whose secret was stored before shells' words were read."""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_argument_of_a_program_that_is_a_secret_is_in_no_file(command: str, home: Path, log: CallLog) -> None:
    event = with_long_text("claude") | {"tool_input": {"command": command.format("hunter2hunter2")}}
    assert ask("claude", home, event)
    kept = [path.read_bytes() for path in Path(spool_folder(home)).rglob("*") if path.is_file()]
    assert len(kept) > 1
    assert not any(b"hunter2" in each for each in kept)
    (call,) = log.calls(9)
    assert "***" in call.target
    assert not any(b"hunter2" in path.read_bytes() for path in home.rglob("*") if path.is_file())


@pytest.mark.parametrize("variable", ["KEYHOLE_RECORD", "KEYHOLE_KEEP_OUTPUTS"])
def test_nothing_is_recorded_if_the_settings_say_so(variable: str, home: Path, log: CallLog) -> None:
    assert ask("claude", home, **{variable: "off"})
    assert log.calls(9) == ()


def test_a_result_that_is_left_alone_is_not_recorded(home: Path, log: CallLog) -> None:
    event = with_long_text("claude")
    event["tool_response"] = {**event["tool_response"], "stdout": LONG[:3_000]}
    assert ask("claude", home, event) == b""
    assert log.calls(9) == ()


@pytest.mark.parametrize(
    "harm", [b"{", b"[]", b'{"id": 1}', b'{"origin": "tool", "outputs": []}', b'{"outputs": [[1, 2]]}']
)
def test_a_damaged_record_is_set_aside(harm: bytes, home: Path, log: CallLog, caplog: pytest.LogCaptureFixture) -> None:
    ask("claude", home)
    (kept,) = Path(spool_folder(home)).glob("*.call")
    kept.write_bytes(harm)
    assert log.calls(9) == ()
    assert "is damaged" in caplog.text
    assert kept.with_suffix(".damaged").exists()


def test_a_record_that_cannot_be_written_does_not_change_the_result(
    home: Path, log: CallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = text_of("claude", ask("claude", home))

    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("keyhole.store.spool.write_call", fail)
    assert text_of("claude", ask("claude", home)) == expected


def test_a_secret_in_the_name_of_a_file_is_not_recorded(home: Path, log: CallLog) -> None:
    path = f"/src/{SECRET}.log"
    file = {"filePath": path, "content": LONG, "numLines": 9, "startLine": 1, "totalLines": 9}
    event = with_long_text("claude") | {"tool_name": "Read", "tool_input": {"file_path": path}}
    assert ask("claude", home, event | {"tool_response": {"type": "text", "file": file}})
    (kept,) = Path(spool_folder(home)).glob("*.call")
    assert '"name": "***.log"' in kept.read_text()
    assert SECRET not in f"{[log.get(call.id) for call in log.calls(9)]}"
