"""Read a folder as Hugging Face's hub has it, and describe the model in it as a manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.catalogue import CATALOGUE
from keyhole.extensions.models.folder import hash_file
from keyhole.extensions.models.manifest import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    TOKENIZER,
    WEIGHTS,
    Kind,
    Manifest,
    ModelFile,
    Pooling,
    check_name,
)
from keyhole.rerank.vector_scorer import find_prefixes
from keyhole.text.parse_json import parse_json

WEIGHT_PLACES: Final = (WEIGHTS, "onnx/model_quantized.onnx", "onnx/model_int8.onnx", f"onnx/{WEIGHTS}")
"""Where weights are looked for. Those in 8 bits come first: they take a quarter of the memory."""
TOKENIZER_PLACES: Final = (TOKENIZER, f"onnx/{TOKENIZER}")
MAX_LANGUAGES: Final = 5
"""Languages of a card up to which a model is used for these languages only: longer lists are seldom complete."""
_LANGUAGES: Final = re.compile(r"^languages?:((?:.*\n)(?:[ \t]*-.*\n)*)", re.MULTILINE)
_TEXT_PROMPTS: Final = ("passage", "document")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user states about a model; "" for what its folder tells."""

    kind: str = ""
    weights: str = ""
    """The file of the weights, relative to the folder."""
    query_prefix: str = ""
    text_prefix: str = ""


def read_hub_folder(folder: Path, name: str, choices: Choices) -> tuple[Manifest, dict[str, Path]]:
    """Return the manifest of the model in a folder, and the paths of its files.

    A model of the catalogue is recognised by its digests. Raises KeyholeError (invalid_argument) if a file is missing.
    """
    places = [choices.weights] if choices.weights else WEIGHT_PLACES
    paths = {
        WEIGHTS: _find(folder, places, "" if choices.weights else ".onnx"),
        TOKENIZER: _find(folder, TOKENIZER_PLACES, ""),
    }
    files = tuple(ModelFile(each, hash_file(path), path.stat().st_size) for each, path in paths.items())
    digests = {file.sha256 for file in files}
    for listed in CATALOGUE.values():
        if {file.sha256 for file in listed.files} == digests:
            return listed, paths
    check_name(name)
    return _describe(name, files, str(folder), choices, read_configs(folder), read_languages(folder)), paths


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
    files: tuple[ModelFile, ...],
    source: str,
    choices: Choices,
    configs: Mapping[str, Mapping[str, Any]],
    languages: tuple[str, ...],
) -> Manifest:
    """Return the manifest that the configuration files and the choices describe."""
    kind = Kind(choices.kind) if choices.kind else _find_kind(configs["config.json"])
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


def _find_kind(config: Mapping[str, Any]) -> Kind:
    """Return the kind by the architecture that config.json names."""
    names = config.get("architectures")
    is_classifier = isinstance(names, list) and any("SequenceClassification" in str(each) for each in names)
    return Kind.CROSS_ENCODER if is_classifier else Kind.EMBEDDING
