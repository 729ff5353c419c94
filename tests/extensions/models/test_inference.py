"""A real model returns the same vectors for the same texts, nearer ones for nearer meanings, and names its faults."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.errors import KeyholeError
from keyhole.extensions.models.folder import ModelsFolder
from keyhole.extensions.models.inference import Inference
from keyhole.extensions.models.manifest import WEIGHTS, Manifest, ModelKind, Pooling
from keyhole.extensions.models.vector_scorer import cosine_similarities
from tests.support.local_model import ANSWER, OTHER, QUESTION, install_model


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelsFolder, Manifest]:
    return install_model(tmp_path_factory.mktemp("home"))


def load(installed: tuple[ModelsFolder, Manifest], max_tokens: int = 128, **changes: object) -> Inference:
    models, manifest = installed
    return Inference(models.folder_of(manifest.name), replace(manifest, **changes), max_tokens)  # type: ignore[arg-type]


def test_the_passage_that_answers_in_other_words_is_nearer(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed)
    near, far = cosine_similarities(model.embed(QUESTION), [model.embed(ANSWER), model.embed(OTHER)])
    assert near > far + 0.1


def test_a_vector_has_length_1_and_depends_on_its_text_alone(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed)
    first = model.embed(ANSWER)
    model.embed(OTHER * 50)
    assert model.embed(ANSWER) == first == load(installed).embed(ANSWER)
    assert math.hypot(*array("f", first)) == pytest.approx(1.0, abs=1e-5)


def test_only_the_first_tokens_of_a_text_are_read(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed, max_tokens=16)
    assert model.embed(ANSWER * 5) == model.embed(ANSWER * 9)


def test_the_first_token_and_the_mean_of_all_tokens_are_different_vectors(
    installed: tuple[ModelsFolder, Manifest],
) -> None:
    assert load(installed, pooling=Pooling.CLS).embed(ANSWER) != load(installed).embed(ANSWER)


def test_late_interaction_compares_each_token_of_the_query(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed, kind=ModelKind.LATE_INTERACTION)
    tokens = model.query_tokens(QUESTION)
    assert model.compare_tokens(tokens, QUESTION) == pytest.approx(1.0, abs=1e-4)
    assert model.compare_tokens(tokens, ANSWER) > model.compare_tokens(tokens, OTHER)


def test_a_pair_is_read_together(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed, kind=ModelKind.CROSS_ENCODER)
    assert model.score_pair(QUESTION, ANSWER) == model.score_pair(QUESTION, ANSWER)
    assert model.score_pair(QUESTION, ANSWER) != model.score_pair(OTHER, ANSWER)


def test_empty_and_strange_texts_have_vectors(installed: tuple[ModelsFolder, Manifest]) -> None:
    model = load(installed)
    for text in ("", "\x00", "\ud800 lone", "数据库" * 300, "🙂" * 300):
        assert all(math.isfinite(value) for value in array("f", model.embed(text)))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    models, manifest = install_model(tmp_path)
    (models.folder_of(manifest.name) / WEIGHTS).write_bytes(b"no weights")
    with pytest.raises(KeyholeError, match="the model minilm cannot be loaded"):
        Inference(models.folder_of(manifest.name), manifest, 128)
