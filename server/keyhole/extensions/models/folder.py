"""The folder of the installed models: list, verify, add and remove them, and read a model of a hub's folder.

Each model is a folder with the weights, the tokenizer and a manifest. It appears under its name only when it is
complete and its digests are right, so a server never loads a part of one.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import (
    CATALOGUE,
    DEFAULT_TOKENS,
    INCOMPLETE,
    MAX_TOKENS,
    TABLE,
    TOKENIZER,
    WEIGHTS,
    Manifest,
    ModelFile,
    ModelKind,
    Pooling,
    check_name,
    format_manifest,
    parse_manifest,
)
from keyhole.extensions.models.vector_scorer import find_prefixes
from keyhole.store.home import MODELS_FOLDER
from keyhole.store.private_files import make_private_folder, write_private_file
from keyhole.text.parse_json import parse_json

MANIFEST: Final = "manifest.json"
READ_BYTES: Final = 1 << 20
"""Bytes read at a time while a file is hashed."""
AUTO, OFF = "auto", "off"
"""Values of KEYHOLE_MODEL besides a name: the model that was installed last, or no model."""


class ModelsFolder:
    """The installed models of one home folder."""

    def __init__(self, home: Path) -> None:
        self.path = home / MODELS_FOLDER

    def list(self) -> Sequence[Manifest]:
        """Return the installed models, the most recently installed first. A folder without a manifest is left out."""
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
        """Return the faults of the files of an installed model."""
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

    def received(self, manifest: Manifest) -> int:
        """Return the bytes of the files in the folder that `begin` returned."""
        part = self.path / f"{manifest.name}{INCOMPLETE}"
        return sum((part / file.name).stat().st_size for file in manifest.files if (part / file.name).is_file())

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
        manifest = replace(manifest, passage_ms=round(passage_ms, 2))
        write_private_file(self.folder_of(manifest.name) / MANIFEST, format_manifest(manifest).encode())
        return manifest

    def remove(self, name: str) -> None:
        """Remove a model and the files of an unfinished installation. Raises KeyholeError (invalid_argument)."""
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
    """Return the fault of a file, "" if it has the size and the digest of the manifest."""
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


# A folder in the layout of Hugging Face's hub: describe the model in it as a manifest.

WEIGHT_PLACES: Final = (WEIGHTS, "onnx/model_quantized.onnx", "onnx/model_int8.onnx", f"onnx/{WEIGHTS}")
"""Where weights are looked for. Those in 8 bits come first: they take a quarter of the memory."""
STATIC_FOLDER: Final = "0_StaticEmbedding"
"""The folder in which sentence-transformers writes the files of a static model."""
TABLE_PLACES: Final = (TABLE, f"{STATIC_FOLDER}/{TABLE}")
TOKENIZER_PLACES: Final = (TOKENIZER, f"onnx/{TOKENIZER}", f"{STATIC_FOLDER}/{TOKENIZER}")
STATIC_TYPE: Final = "model2vec"
"""The type of a model in the `config.json` that Model2Vec writes."""
MAX_LANGUAGES: Final = 5
"""If a card names at most this many languages, the model is used for these only: longer lists are seldom complete."""
_LANGUAGES: Final = re.compile(r"^languages?:((?:.*\n)(?:[ \t]*-.*\n)*)", re.MULTILINE)
_TEXT_PROMPTS: Final = ("passage", "document")


@dataclass(frozen=True, slots=True)
class Choices:
    """Facts about a model that a user states; "" to read them from its folder."""

    kind: str = ""
    weights: str = ""
    """The file of the weights, relative to the folder."""
    query_prefix: str = ""
    text_prefix: str = ""


def read_hub_folder(folder: Path, name: str, choices: Choices) -> tuple[Manifest, dict[str, Path]]:
    """Return the manifest of the model in a folder, and the paths of its files.

    A model of the catalogue is recognised by its digests. Raises KeyholeError (invalid_argument) if a file is missing.
    """
    configs = read_configs(folder)
    kind = ModelKind(choices.kind) if choices.kind else _find_kind(folder, configs["config.json"])
    weights, tokenizer = kind.files
    places = TABLE_PLACES if kind is ModelKind.STATIC else WEIGHT_PLACES
    paths = {
        weights: _find(folder, [choices.weights], "")
        if choices.weights
        else _find(folder, places, Path(weights).suffix),
        tokenizer: _find(folder, TOKENIZER_PLACES, ""),
    }
    files = tuple(ModelFile(each, hash_file(path), path.stat().st_size) for each, path in paths.items())
    digests = {file.sha256 for file in files}
    for listed in CATALOGUE.values():
        if {file.sha256 for file in listed.files} == digests:
            return listed, paths
    check_name(name)
    return _describe(name, kind, files, str(folder), choices, configs, read_languages(folder)), paths


def _find(folder: Path, places: Sequence[str], suffix: str) -> Path:
    """Return the first place that exists, else the only file with the suffix."""
    for place in places:
        if (folder / place).is_file():
            return folder / place
    others = sorted(folder.rglob(f"*{suffix}")) if suffix else []
    if len(others) == 1:
        return others[0]
    hint = f"; choose one of its {len(others)} files with --weights" if others else ""
    raise KeyholeError(Code.INVALID_ARGUMENT, f"{folder} has no {places[0]}{hint}")


def read_configs(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return the configuration files of a hub's folder by name; a missing or malformed one is empty."""
    names = ("config.json", "1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json")
    return {name: _read_json(folder / name) for name in (*names, "tokenizer_config.json")}


def read_languages(folder: Path) -> tuple[str, ...]:
    """Return the languages that the card of a model names at its beginning, none if it names many or has none."""
    try:
        card = (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ()
    parts = card.split("---\n", 2)
    found = _LANGUAGES.search(parts[1]) if card.startswith("---\n") and len(parts) == 3 else None
    codes = tuple(re.findall(r"\b[a-z]{2,3}\b", found[1])) if found else ()
    return () if "multilingual" in (found[1] if found else "") or len(codes) > MAX_LANGUAGES else codes


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        value = parse_json(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _describe(
    name: str,
    kind: ModelKind,
    files: tuple[ModelFile, ...],
    source: str,
    choices: Choices,
    configs: Mapping[str, Mapping[str, Any]],
    languages: tuple[str, ...],
) -> Manifest:
    """Return the manifest that the configuration files and the choices describe."""
    prompts = configs["config_sentence_transformers.json"].get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    known = find_prefixes(name)
    text_prompt = next((prompts[each] for each in _TEXT_PROMPTS if prompts.get(each)), "")
    is_cls = configs["1_Pooling/config.json"].get("pooling_mode_cls_token") is True
    lengths = (
        configs["sentence_bert_config.json"].get("max_seq_length"),
        configs["tokenizer_config.json"].get("model_max_length"),
    )
    return Manifest(
        name,
        kind,
        files,
        source=source,
        languages=languages,
        query_prefix=choices.query_prefix or str(prompts.get("query") or known.query),
        text_prefix=choices.text_prefix or str(text_prompt or known.text),
        pooling=Pooling.CLS if is_cls else Pooling.MEAN,
        max_tokens=next((each for each in lengths if isinstance(each, int) and 0 < each <= MAX_TOKENS), DEFAULT_TOKENS),
    )


def _find_kind(folder: Path, config: Mapping[str, Any]) -> ModelKind:
    """Return the kind by what config.json names, or by the folder that only a static model has."""
    if config.get("model_type") == STATIC_TYPE or (folder / STATIC_FOLDER).is_dir():
        return ModelKind.STATIC
    names = config.get("architectures")
    is_classifier = isinstance(names, list) and any("SequenceClassification" in str(each) for each in names)
    return ModelKind.CROSS_ENCODER if is_classifier else ModelKind.EMBEDDING
