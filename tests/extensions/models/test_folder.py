"""A model is installed whole or not at all, and a changed file is found."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from keyhole.errors import KeyholeError
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.manifest import Manifest, ModelFile, ModelKind

CONTENTS = {"model.onnx": b"weights", "tokenizer.json": b"{}"}


def make_manifest(name: str = "one", contents: Mapping[str, bytes] = CONTENTS) -> Manifest:
    files = (ModelFile(each, hashlib.sha256(data).hexdigest(), len(data)) for each, data in contents.items())
    return Manifest(name, ModelKind.EMBEDDING, tuple(files))


def write_files(folder: Path, contents: Mapping[str, bytes] = CONTENTS) -> dict[str, Path]:
    folder.mkdir(exist_ok=True)
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in contents}


def install(home: Path, name: str = "one", now: float = 1.0) -> ModelsFolder:
    home.mkdir(exist_ok=True)
    models = ModelsFolder(home)
    models.add(make_manifest(name), write_files(home / "source"), now)
    return models


def test_without_a_folder_there_is_no_model(tmp_path: Path) -> None:
    models = ModelsFolder(tmp_path)
    assert models.list() == []
    assert models.choose("auto") is None


def test_the_model_that_was_installed_last_is_chosen(tmp_path: Path) -> None:
    install(tmp_path, "one", 1.0)
    models = install(tmp_path, "two", 2.0)
    assert [each.name for each in models.list()] == ["two", "one"]
    chosen = [models.choose(setting) for setting in ("auto", "one", "off")]
    assert [each and each.name for each in chosen] == ["two", "one", None]


def test_a_model_that_is_not_installed_is_an_error_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(KeyholeError, match="`keyhole models get three` installs it"):
        install(tmp_path).choose("three")


@pytest.mark.parametrize("name", ModelKind.EMBEDDING.files)
def test_a_file_with_another_digest_installs_nothing(tmp_path: Path, name: str) -> None:
    models = ModelsFolder(tmp_path)
    data = CONTENTS[name][::-1]
    with pytest.raises(KeyholeError, match=f"{name} does not have the SHA-256"):
        models.add(make_manifest(), write_files(tmp_path / "source", {**CONTENTS, name: data}), 1.0)
    assert models.list() == []
    assert not (models.begin("one") / name).exists(), "the wrong file is removed, so that it can be fetched again"


def test_a_model_that_is_not_complete_is_not_listed(tmp_path: Path) -> None:
    models = install(tmp_path)
    write_files(models.begin("two"))
    (tmp_path / "models" / "three").mkdir()
    assert [each.name for each in models.list()] == ["one"]


def test_a_folder_whose_name_is_no_name_of_a_model_is_not_listed(tmp_path: Path) -> None:
    models = install(tmp_path)
    models.folder_of("one").rename(models.path / "One (copy)")
    assert models.list() == []
    assert models.choose("auto") is None


@pytest.mark.parametrize("text", ["", "[]", '{"name": "one"}', "\xff"])
def test_a_model_with_a_malformed_manifest_is_not_listed(tmp_path: Path, text: str) -> None:
    models = install(tmp_path)
    (models.folder_of("one") / "manifest.json").write_bytes(text.encode("latin-1"))
    assert models.list() == []


def test_a_manifest_with_a_time_that_is_no_number_is_not_listed(tmp_path: Path) -> None:
    models = install(tmp_path)
    path = models.folder_of("one") / "manifest.json"
    path.write_text(path.read_text().replace('"installed_at": 1.0', '"installed_at": "1.0"'))
    assert models.choose("auto") is None


def test_a_failed_installation_leaves_the_earlier_model(tmp_path: Path) -> None:
    models = install(tmp_path)
    wrong = write_files(tmp_path / "source", {**CONTENTS, "model.onnx": b"WEIGHTS"})
    with pytest.raises(KeyholeError):
        models.add(make_manifest(), wrong, 2.0)
    assert models.find("one").installed_at == 1.0
    assert models.verify(models.find("one")) == []


def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    models = install(tmp_path)
    for call in (models.find, models.folder_of, models.begin, models.remove):
        with pytest.raises(KeyholeError, match="is no name of a model"):
            call("../one")


def test_verify_finds_a_changed_a_shortened_and_a_missing_file(tmp_path: Path) -> None:
    models = install(tmp_path)
    manifest, weights = models.find("one"), models.folder_of("one") / "model.onnx"
    assert models.verify(manifest) == []
    weights.write_bytes(b"weightz")
    assert "does not have the SHA-256" in models.verify(manifest)[0]
    weights.write_bytes(b"w")
    assert models.verify(manifest) == ["model.onnx has 1 bytes instead of 7"]
    weights.unlink()
    assert models.verify(manifest) == ["model.onnx is missing"]


def test_a_model_is_replaced_by_a_new_installation(tmp_path: Path) -> None:
    models = install(tmp_path)
    other = {**CONTENTS, "model.onnx": b"better weights"}
    models.add(make_manifest("one", other), write_files(tmp_path / "source", other), 2.0)
    assert (models.folder_of("one") / "model.onnx").read_bytes() == b"better weights"
    assert models.verify(models.find("one")) == []


def test_remove_also_removes_an_unfinished_installation(tmp_path: Path) -> None:
    models = install(tmp_path)
    part = models.begin("one")
    models.remove("one")
    assert models.list() == []
    assert not part.exists()
    with pytest.raises(KeyholeError, match="is not installed"):
        models.remove("one")


def test_only_the_owner_can_read_the_models(tmp_path: Path) -> None:
    models = install(tmp_path / "home")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (models.path, models.folder_of("one"))] == [0o700, 0o700]


def test_the_measured_speed_is_kept(tmp_path: Path) -> None:
    models = install(tmp_path)
    models.record_speed(models.find("one"), 31.264)
    assert models.find("one").passage_ms == 31.26
