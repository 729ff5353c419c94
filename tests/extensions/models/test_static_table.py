"""A static model returns the mean of the vectors of a text's tokens, and reads only the rows that it needs."""

from __future__ import annotations

import math
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.folder import Choices, ModelsFolder, read_hub_folder
from keyhole.extensions.models.local import load_model
from keyhole.extensions.models.manifest import TABLE, TOKENIZER, Manifest, ModelKind
from keyhole.extensions.models.static_table import StaticTable, map_arrays
from keyhole.extensions.models.vector_scorer import cosine_similarities
from tests.support.local_model import ANSWER, OTHER, QUESTION, install_static_model, static_files


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelsFolder, Manifest]:
    return install_static_model(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def table(installed: tuple[ModelsFolder, Manifest]) -> StaticTable:
    models, manifest = installed
    return StaticTable(models.folder_of(manifest.name), manifest)


def static_model(folder: Path, arrays: dict[str, Any]) -> StaticTable:
    """Write a model of these arrays with the real tokenizer, and load it."""
    folder.mkdir(exist_ok=True)
    save_file(arrays, folder / TABLE)
    (folder / TOKENIZER).write_bytes(static_files()[TOKENIZER].read_bytes())
    return StaticTable(folder, Manifest("made", ModelKind.STATIC, ()))


def test_the_passage_that_answers_in_other_words_is_nearer(table: StaticTable) -> None:
    near, far = cosine_similarities(table.embed(QUESTION), [table.embed(ANSWER), table.embed(OTHER)])
    assert near > far + 0.1


def test_a_vector_is_the_mean_of_the_rows_of_the_tokens(table: StaticTable) -> None:
    rows = load_file(static_files()[TABLE])["embedding.weight"].astype(np.float32)
    tokens = Tokenizer.from_file(str(static_files()[TOKENIZER])).encode(ANSWER, add_special_tokens=False).ids
    mean = rows[tokens].mean(axis=0)
    expected = list(mean / np.linalg.norm(mean))
    assert list(array("f", table.embed(ANSWER))) == pytest.approx(expected, abs=1e-5)


def test_weights_and_shared_rows_of_model2vec_are_applied(tmp_path: Path, table: StaticTable) -> None:
    rows = load_file(static_files()[TABLE])["embedding.weight"][:, :8].astype(np.float32)
    weights = np.linspace(0.5, 2, len(rows))
    shared = static_model(
        tmp_path / "shared",
        {"embeddings": rows[::-1].copy(), "weights": weights, "mapping": np.arange(len(rows))[::-1].copy()},
    )
    weighted = static_model(tmp_path / "weighted", {"embeddings": (rows * weights[:, None]).astype(np.float32)})
    assert list(array("f", shared.embed(ANSWER))) == pytest.approx(list(array("f", weighted.embed(ANSWER))), abs=1e-5)


def test_a_vector_has_length_1_and_depends_on_its_text_alone(table: StaticTable) -> None:
    first = table.embed(ANSWER)
    table.embed(OTHER * 50)
    assert table.embed(ANSWER) == first
    assert math.hypot(*array("f", first)) == pytest.approx(1.0, abs=1e-5)


def test_empty_and_strange_texts_have_vectors(table: StaticTable) -> None:
    for text in ("", "\x00", "\ud800 lone", "数据库" * 300, "🙂" * 300):
        vector = array("f", table.embed(text))
        assert len(vector) == 256
        assert all(math.isfinite(value) for value in vector)


def test_the_speed_of_a_passage_is_measured(table: StaticTable) -> None:
    assert table.measure_speed() > 0


def test_a_folder_of_model2vec_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"not used")
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    for name, path in static_files().items():
        (tmp_path / name).symlink_to(path)
    manifest, paths = read_hub_folder(tmp_path, "potion", Choices())
    assert manifest.kind is ModelKind.STATIC
    assert paths == {TABLE: tmp_path / TABLE, TOKENIZER: tmp_path / TOKENIZER}


def test_a_folder_of_sentence_transformers_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "0_StaticEmbedding").mkdir()
    for name, path in static_files().items():
        (tmp_path / "0_StaticEmbedding" / name).symlink_to(path)
    manifest, paths = read_hub_folder(tmp_path, "static", Choices())
    assert manifest.kind is ModelKind.STATIC
    assert paths[TABLE] == tmp_path / "0_StaticEmbedding" / TABLE


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no table",
        (1 << 40).to_bytes(8, "little"),
        (2).to_bytes(8, "little") + b"[]",
        (13).to_bytes(8, "little") + b'{"a":{"b":1}}',
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, content: bytes) -> None:
    models, manifest = install_static_model(tmp_path)
    (models.folder_of(manifest.name) / TABLE).write_bytes(content)
    with pytest.raises(KeyholeError, match="the model wordllama cannot be loaded") as caught:
        load_model(models.folder_of(manifest.name), manifest)
    assert caught.value.code is Code.INTERNAL_ERROR


def test_a_table_is_mapped_and_not_read(installed: tuple[ModelsFolder, Manifest]) -> None:
    models, manifest = installed
    (array_of_rows,) = map_arrays(models.folder_of(manifest.name) / TABLE).values()
    assert isinstance(array_of_rows, np.memmap)
    assert array_of_rows.shape == (32_000, 256)
