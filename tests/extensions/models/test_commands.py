"""`keyhole models` installs, lists, verifies and removes a real model; what is wrong is said, with the exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.cli.terminal import Level
from keyhole.config.config import Config
from keyhole.extensions.models.arguments import KINDS
from keyhole.extensions.models.commands import check_model
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.manifest import ModelKind
from keyhole.store.sqlite.file import lock_folder
from tests.support.local_model import hub_folder, install_model, static_files
from tests.support.loopback import Call, response, serve

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a new home folder."""
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    return tmp_path / "home"


def test_a_model_is_installed_from_a_folder_tried_listed_verified_and_removed(
    home: Path, tmp_path: Path, capsys: Captured
) -> None:
    hub = hub_folder(tmp_path / "hub")
    assert main(["models", "get", "minilm", "--from", str(hub)]) == 0
    assert "minilm is installed, " in (printed := capsys.readouterr().out)
    assert " ms a passage; used from the next start of a server on." in printed
    assert main(["models"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert first.split()[:2] == ["minilm", "embedding"]
    assert "used, " in first
    assert all("keyhole models get " in line for line in others)
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out == "minilm: all files have their SHA-256\n"
    assert main(["models", "rm", "minilm"]) == 0
    assert ModelsFolder(home).list() == []


def test_the_option_kind_accepts_every_kind_of_model() -> None:
    assert tuple(ModelKind) == KINDS


def test_a_changed_file_is_found(home: Path, capsys: Captured) -> None:
    models, manifest = install_model(home)
    (models.folder_of(manifest.name) / "tokenizer.json").write_text("{}")
    assert main(["models", "verify", "minilm"]) == 1
    assert "minilm: tokenizer.json has 2 bytes instead of" in capsys.readouterr().out


def test_the_faults_of_files_are_printed_as_json(home: Path, capsys: Captured) -> None:
    models, manifest = install_model(home)
    assert main(["models", "verify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "minilm", "faults": []}]
    (models.folder_of(manifest.name) / "tokenizer.json").unlink()
    assert main(["models", "verify", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [{"name": "minilm", "faults": ["tokenizer.json is missing"]}]


def test_a_model_that_another_process_installs_is_left_to_it(home: Path, tmp_path: Path, capsys: Captured) -> None:
    hub = hub_folder(tmp_path / "hub")
    with lock_folder(ModelsFolder(home).begin("minilm"), 0.0, exclusive=True):
        assert main(["models", "get", "minilm", "--from", str(hub)]) == 2
    assert "another `keyhole models get minilm` is running" in capsys.readouterr().err
    assert main(["models", "get", "minilm", "--from", str(hub)]) == 0


def test_a_static_model_is_installed_and_says_its_speed(home: Path, tmp_path: Path, capsys: Captured) -> None:
    for name, path in static_files().items():
        (tmp_path / name).symlink_to(path)
    assert main(["models", "get", "table", "--from", str(tmp_path), "--kind", "static"]) == 0
    assert re.search(r"table is installed, 0?[.\d]+ ms a passage;", capsys.readouterr().out)


def test_a_model_that_does_not_work_is_reported(home: Path, tmp_path: Path, capsys: Captured) -> None:
    hub = hub_folder(tmp_path / "hub")
    (hub / "model.onnx").write_bytes(b"no weights")
    assert main(["models", "get", "broken", "--from", str(hub), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["works"] is False


def test_wrong_command_lines_are_explained(home: Path, capsys: Captured) -> None:
    assert main(["models", "get"]) == 2
    assert "needs a name" in capsys.readouterr().err
    assert main(["models", "get", "multilingual-e5-smal"]) == 2
    assert "did you mean multilingual-e5-small?" in capsys.readouterr().err
    assert main(["models", "rm", "nothing"]) == 2
    assert "the model nothing is not installed" in capsys.readouterr().err
    assert main(["models", "verify"]) == 0
    assert "No model is installed" in capsys.readouterr().out
    assert not (home / "models").exists()


def test_a_hub_that_sends_another_file_installs_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    body = bytes(20_000_000)

    def answer(call: Call) -> None:
        if not call.path.startswith("/cdn"):  # as the hub does for large files
            call.send(response(status="302 Found", Location=f"/cdn{call.path}"))
            return
        start, end = (int(each) for each in call.headers["range"].removeprefix("bytes=").split("-"))
        call.send(response(body[: end + 1 - start], "206 Partial Content", Content_Type="application/octet-stream"))

    with serve(lambda _: answer) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url().rstrip("/"))
        assert main(["models", "get", "all-minilm-l6-v2"]) == 1
        assert "blocked_address" in capsys.readouterr().err, "the hub passes the address rules like any page"
        monkeypatch.setenv("KEYHOLE_ALLOW_PRIVATE", hub.endpoint)
        assert main(["models", "get", "all-minilm-l6-v2"]) == 2
    assert "model.onnx does not have the SHA-256" in capsys.readouterr().err
    assert len(hub.calls) == 2 * (12 + 1), "90 MB in parts of 8 MB, and the tokenizer, each after a redirect"
    assert ModelsFolder(home).list() == []


def test_the_doctor_says_which_model_is_used_and_how_fast_it_is(tmp_path: Path) -> None:
    config = Config(home=tmp_path)
    (finding,) = check_model(config)
    assert (finding.level, finding.fix.startswith("To rank by meaning")) == (Level.NOTE, True)
    models, manifest = install_model(tmp_path)
    (finding,) = check_model(config)
    assert finding.level is Level.OK
    assert finding.message.startswith("minilm, ")
    (models.folder_of(manifest.name) / "model.onnx").write_bytes(b"")
    (finding,) = check_model(config)
    assert (finding.level, finding.fix) == (Level.FAIL, "Install it again: keyhole models get minilm.")
    (finding,) = check_model(Config(home=tmp_path, model="off"))
    assert finding.message == "off; passages are ranked by their words"
    (finding,) = check_model(Config(home=tmp_path, model="other"))
    assert finding.level is Level.FAIL
