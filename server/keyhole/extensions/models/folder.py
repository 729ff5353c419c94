"""The folder of the installed models: list, verify, add and remove them.

Each model is a folder with the weights, the tokenizer and a manifest. It appears under its name only when it is
complete and its digests are right, so a server never loads a part of one.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import (
    INCOMPLETE,
    Manifest,
    ModelFile,
    check_name,
    format_manifest,
    parse_manifest,
)
from keyhole.store.home import MODELS_FOLDER
from keyhole.store.private_files import make_private_folder, write_private_file

MANIFEST: Final = "manifest.json"
READ_BYTES: Final = 1 << 20
"""Bytes read at a time while a file is hashed."""
AUTO, OFF = "auto", "off"
"""Values of KEYHOLE_MODEL besides a name: the model that was installed last, and none."""


class ModelsFolder:
    """The installed models of one home folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / MODELS_FOLDER

    def list(self) -> Sequence[Manifest]:
        """Return the installed models, the one that was installed last first. One without a manifest is left out."""
        names = [path.name for path in self.path.iterdir()] if self.path.is_dir() else []
        found = [manifest for name in names if not name.endswith(INCOMPLETE) and (manifest := self._read(name))]
        return sorted(found, key=lambda manifest: (-manifest.installed_at, manifest.name))

    def choose(self, setting: str) -> Manifest | None:
        """Return the model that KEYHOLE_MODEL selects, None if it is off or none is installed.

        Raises KeyholeError (invalid_argument) if the named model is not installed.
        """
        if setting == OFF:
            return None
        if setting == AUTO:
            return next(iter(self.list()), None)
        return self.find(setting)

    def find(self, name: str) -> Manifest:
        """Return an installed model. Raises KeyholeError (invalid_argument)."""
        if manifest := self._read(check_name(name)):
            return manifest
        message = f"the model {name} is not installed; `keyhole models get {name}` installs it"
        raise KeyholeError(Code.INVALID_ARGUMENT, message, fault="not installed")

    def folder_of(self, name: str) -> Path:
        """Return the folder of a model."""
        return self.path / check_name(name)

    def verify(self, manifest: Manifest) -> Sequence[str]:
        """Return what is wrong with the files of an installed model, nothing if each has its digest."""
        folder = self.folder_of(manifest.name)
        return [fault for file in manifest.files if (fault := check_file(folder / file.name, file))]

    def add(self, manifest: Manifest, paths: Mapping[str, Path], now: float) -> Manifest:
        """Copy the files of a model, verify the copies, and return its manifest.

        Raises KeyholeError (invalid_argument) if a file has another digest, and OSError if it cannot be written.
        """
        part = self.begin(manifest.name)
        for file in manifest.files:
            shutil.copyfile(paths[file.name], part / file.name)
        return self.finish(manifest, now)

    def begin(self, name: str) -> Path:
        """Return the folder for the files of a model that is being installed. Files of an earlier try remain in it."""
        part = self.path / f"{check_name(name)}{INCOMPLETE}"
        make_private_folder(part)
        return part

    def finish(self, manifest: Manifest, now: float) -> Manifest:
        """Verify the files in the folder that `begin` returned, and install the model in place of an earlier one.

        Raises KeyholeError (invalid_argument) if a file has another digest; it is then removed.
        """
        part = self.path / f"{manifest.name}{INCOMPLETE}"
        for file in manifest.files:
            if fault := check_file(part / file.name, file):
                (part / file.name).unlink(missing_ok=True)
                raise KeyholeError(Code.INVALID_ARGUMENT, f"{manifest.name}: {fault}; nothing was installed")
        manifest = replace(manifest, installed_at=now)
        write_private_file(part / MANIFEST, format_manifest(manifest).encode())
        target = self.folder_of(manifest.name)
        with suppress(FileNotFoundError):
            shutil.rmtree(target)
        part.rename(target)
        return manifest

    def record_speed(self, manifest: Manifest, passage_ms: float) -> Manifest:
        """Write the measured time of a passage into the manifest of an installed model, and return it."""
        manifest = replace(manifest, passage_ms=round(passage_ms, 1))
        write_private_file(self.folder_of(manifest.name) / MANIFEST, format_manifest(manifest).encode())
        return manifest

    def remove(self, name: str) -> None:
        """Remove a model and what an unfinished installation left. Raises KeyholeError (invalid_argument)."""
        target, part = self.folder_of(name), self.path / f"{name}{INCOMPLETE}"
        if not (target.is_dir() or part.is_dir()):
            raise KeyholeError(Code.INVALID_ARGUMENT, f"the model {name} is not installed")
        for folder in (target, part):
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self, name: str) -> Manifest | None:
        try:
            text = (self.path / name / MANIFEST).read_text(encoding="utf-8")
            return replace(parse_manifest(text), name=check_name(name))
        except (OSError, ValueError, KeyholeError):
            return None


def check_file(path: Path, file: ModelFile) -> str:
    """Return what is wrong with a file, "" if it has the size and the digest of the manifest."""
    if not path.is_file():
        return f"{file.name} is missing"
    if path.stat().st_size != file.size:
        return f"{file.name} has {path.stat().st_size:,} bytes instead of {file.size:,}"
    return "" if hash_file(path) == file.sha256 else f"{file.name} does not have the SHA-256 {file.sha256[:12]}…"


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
