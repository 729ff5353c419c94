"""Make the scorers that the settings name: an embeddings API, a local model, and a reranker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from keyhole.config.config import Config
from keyhole.extensions.models.apis import EmbeddingsApi, Reranker
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.local import LocalEmbeddings, LocalModel, LocalPairs, open_local_model
from keyhole.extensions.models.manifest import ModelKind
from keyhole.extensions.models.vector_scorer import VectorScorer
from keyhole.fetch.base import Api
from keyhole.rerank.base import Scorer
from keyhole.store.base import Store
from keyhole.store.home import home_folder


def open_scorers(config: Config, api: Api) -> Callable[[Store], Sequence[Scorer]] | None:
    """Return the function that makes the scorers of a store, None if the settings name none."""
    model = open_local_model(ModelsFolder(home_folder(config.home)), config.model)
    if not (model or config.embed_url or config.rerank_url):
        return None
    return partial(_make_scorers, config, api, model)


def _make_scorers(config: Config, api: Api, model: LocalModel | None, store: Store) -> list[Scorer]:
    """Return the scorers in the order of their use. The reranker is last: it reads the fewest texts."""
    embedders: list[Scorer] = [VectorScorer(EmbeddingsApi(config, api), store)] if config.embed_url else []
    if model:
        embedders.append(make_local_scorer(model, store))
    return [*embedders, Reranker(config, api)] if config.rerank_url else embedders


def make_local_scorer(model: LocalModel, store: Store) -> Scorer:
    """Return the scorer of a local model by its kind."""
    if model.manifest.kind in (ModelKind.EMBEDDING, ModelKind.STATIC):
        return VectorScorer(LocalEmbeddings(model), store)
    return LocalPairs(model)
