"""The manifest of a local model: its kind, its files with their digests, and how its inputs are written. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from keyhole.errors import Code, KeyholeError

WEIGHTS: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
FILE_NAMES: Final = (WEIGHTS, TOKENIZER)
"""The files of a model in its folder, as Hugging Face's Optimum writes them."""
INCOMPLETE: Final = ".part"
"""The end of the name of a folder whose model is not complete yet."""
MAX_NAME_CHARS: Final = 64
MAX_TOKENS: Final = 8_192
"""Greatest length of an input in tokens. Small models read 128 to 512, the longest ones 8,192."""
DEFAULT_TOKENS: Final = 512

_NAME: Final = re.compile(rf"[a-z0-9][a-z0-9._-]{{0,{MAX_NAME_CHARS - 1}}}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_STRICT: Final = {"extra": "forbid", "strict": True}
"""How pydantic reads a manifest: no value is converted to another type, and no unknown name is ignored."""


class Kind(StrEnum):
    """What a model computes."""

    EMBEDDING = "embedding"
    """A vector for each text; a text answers a query if their vectors are near."""
    LATE_INTERACTION = "late-interaction"
    """A vector for each token; each token of the query is compared with all tokens of a text (Khattab and Zaharia,
    "ColBERT", SIGIR 2020)."""
    CROSS_ENCODER = "cross-encoder"
    """A score for a query and a text that are read together."""


class Pooling(StrEnum):
    """How an embedding is made from the vectors of the tokens."""

    MEAN = "mean"
    CLS = "cls"
    """The vector of the first token."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model. `url`: its address on a hub, without scheme and host; "" if it was copied from a folder."""

    __pydantic_config__ = _STRICT
    name: str
    sha256: str
    size: int
    """Bytes."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that is needed to verify a model and to write its inputs."""

    __pydantic_config__ = _STRICT
    name: str
    kind: Kind
    files: tuple[ModelFile, ...]
    licence: str = "unknown"
    source: str = ""
    """Where the model and its digests come from."""
    languages: tuple[str, ...] = ()
    """Codes of the languages in which it is asked, such as "en"; empty for all."""
    query_prefix: str = ""
    text_prefix: str = ""
    pooling: Pooling = Pooling.MEAN
    max_tokens: int = DEFAULT_TOKENS
    installed_at: float = 0.0
    """Unix time; 0 if it is not installed."""
    passage_ms: float = 0.0
    """Milliseconds for one passage on this machine, measured after the installation; 0 if it was not measured."""

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def identity(self) -> str:
        """What determines a vector besides the text: the weights, the tokenizer, and how inputs are made."""
        digests = [file.sha256 for file in self.files]
        return "|".join((*digests, self.kind, self.pooling, self.query_prefix, self.text_prefix))


def check_name(name: str) -> str:
    """Return the name of a model. Raises KeyholeError (invalid_argument) if it cannot be the name of a folder."""
    if not _NAME.fullmatch(name) or name.endswith(INCOMPLETE):
        message = f"{name[:MAX_NAME_CHARS]!r} is no name of a model: use small letters, digits, dots and hyphens"
        raise KeyholeError(Code.INVALID_ARGUMENT, message)
    return name


def format_manifest(manifest: Manifest) -> str:
    """Return a manifest as JSON."""
    return json.dumps(asdict(manifest), indent=2, ensure_ascii=False) + "\n"


def parse_manifest(text: str) -> Manifest:
    """Parse a manifest that `format_manifest` wrote. Raises KeyholeError (invalid_argument)."""
    from pydantic import TypeAdapter

    try:
        manifest = TypeAdapter(Manifest).validate_json(text)
        _check_values(manifest)
    except (ValueError, RecursionError) as error:  # pydantic's errors are ValueErrors
        raise KeyholeError(Code.INVALID_ARGUMENT, f"the model's manifest is malformed: {error}") from None
    return manifest


def _check_values(manifest: Manifest) -> None:
    """Raise ValueError for values of the right types that no model has."""
    files = manifest.files
    are_valid = all(_DIGEST.fullmatch(file.sha256) and file.size >= 0 for file in files)
    if sorted(file.name for file in files) != sorted(FILE_NAMES) or not are_valid:
        raise ValueError(f"it must list {' and '.join(FILE_NAMES)} with their SHA-256 and size")
    if not 0 < manifest.max_tokens <= MAX_TOKENS:
        raise ValueError(f"max_tokens must be 1 to {MAX_TOKENS:,}")
