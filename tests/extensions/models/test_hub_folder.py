"""A folder as the hub has it tells kind, pooling, prefixes and length of its model; the user may state them instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keyhole.errors import KeyholeError
from keyhole.extensions.models.folder import Choices, check_file, read_hub_folder
from keyhole.extensions.models.manifest import Manifest, ModelKind, Pooling


def hub_folder(folder: Path, configs: dict[str, object], weights: tuple[str, ...] = ("model.onnx",)) -> Path:
    contents = {"tokenizer.json": "{}", **dict.fromkeys(weights, "weights")}
    contents |= {name: json.dumps(value) for name, value in configs.items()}
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def read(folder: Path, name: str = "mine", **choices: str) -> Manifest:
    return read_hub_folder(folder, name, Choices(**choices))[0]


def test_a_bare_folder_has_an_embedding_with_the_mean_of_its_tokens(tmp_path: Path) -> None:
    manifest = read(hub_folder(tmp_path, {}))
    assert (manifest.kind, manifest.pooling, manifest.max_tokens) == (ModelKind.EMBEDDING, Pooling.MEAN, 512)
    assert (manifest.query_prefix, manifest.text_prefix, manifest.licence) == ("", "", "unknown")
    assert [file.size for file in manifest.files] == [7, 2]


def test_the_configuration_files_are_read(tmp_path: Path) -> None:
    configs: dict[str, object] = {
        "config.json": {"architectures": ["BertModel"]},
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "config_sentence_transformers.json": {"prompts": {"query": "ask: ", "document": "text: "}},
        "sentence_bert_config.json": {"max_seq_length": 256},
        "tokenizer_config.json": {"model_max_length": 1_000_000_000_000},
    }
    manifest = read(hub_folder(tmp_path, configs))
    assert (manifest.kind, manifest.pooling, manifest.max_tokens) == (ModelKind.EMBEDDING, Pooling.CLS, 256)
    assert (manifest.query_prefix, manifest.text_prefix) == ("ask: ", "text: ")


def test_without_a_stated_length_that_of_the_tokenizer_is_read(tmp_path: Path) -> None:
    assert read(hub_folder(tmp_path, {"tokenizer_config.json": {"model_max_length": 384}})).max_tokens == 384


def test_a_prompt_for_passages_comes_before_one_for_documents(tmp_path: Path) -> None:
    prompts = {"document": "d: ", "passage": "p: ", "query": "q: "}
    manifest = read(hub_folder(tmp_path, {"config_sentence_transformers.json": {"prompts": prompts}}))
    assert (manifest.query_prefix, manifest.text_prefix) == ("q: ", "p: ")


def test_digests_and_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    folder = hub_folder(tmp_path, {}, ("onnx/model.onnx",))
    manifest, paths = read_hub_folder(folder, "mine", Choices())
    assert paths["model.onnx"] == folder / "onnx" / "model.onnx"
    assert [check_file(paths[file.name], file) for file in manifest.files] == ["", ""]


def test_a_name_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyholeError, match="is no name of a model"):
        read(hub_folder(tmp_path, {}), "../mine")


def test_a_classifier_is_a_cross_encoder(tmp_path: Path) -> None:
    assert read(hub_folder(tmp_path, {"config.json": {"architectures": ["BertForSequenceClassification"]}})).kind is (
        ModelKind.CROSS_ENCODER
    )


def test_what_the_user_states_comes_first(tmp_path: Path) -> None:
    folder = hub_folder(tmp_path, {"config_sentence_transformers.json": {"prompts": {"query": "ask: "}}})
    manifest = read(folder, "my-e5", kind="late-interaction", query_prefix="q: ")
    assert (manifest.kind, manifest.query_prefix, manifest.text_prefix) == (
        ModelKind.LATE_INTERACTION,
        "q: ",
        "passage: ",
    )


@pytest.mark.parametrize("value", [None, [], "text", {"prompts": [1]}, {"architectures": "x", "max_seq_length": "9"}])
def test_configuration_files_of_another_form_are_ignored(tmp_path: Path, value: object) -> None:
    names = ("config.json", "config_sentence_transformers.json", "sentence_bert_config.json", "1_Pooling/config.json")
    manifest = read(hub_folder(tmp_path, dict.fromkeys(names, value)))
    assert (manifest.kind, manifest.pooling, manifest.max_tokens) == (ModelKind.EMBEDDING, Pooling.MEAN, 512)


def test_weights_in_8_bits_come_before_those_in_32(tmp_path: Path) -> None:
    folder = hub_folder(tmp_path, {}, ("onnx/model.onnx", "onnx/model_quantized.onnx"))
    _, paths = read_hub_folder(folder, "mine", Choices())
    assert paths["model.onnx"].name == "model_quantized.onnx"


def test_of_several_unknown_weights_the_user_chooses(tmp_path: Path) -> None:
    folder = hub_folder(tmp_path, {}, ("onnx/a.onnx", "onnx/b.onnx"))
    with pytest.raises(KeyholeError, match="choose one of its 2 files with --weights"):
        read(folder)
    _, paths = read_hub_folder(folder, "mine", Choices(weights="onnx/b.onnx"))
    assert paths["model.onnx"].name == "b.onnx"


def test_weights_that_the_user_names_are_not_replaced_by_others(tmp_path: Path) -> None:
    with pytest.raises(KeyholeError, match=r"has no onnx/b\.onnx"):
        read(hub_folder(tmp_path, {}, ("onnx/a.onnx",)), weights="onnx/b.onnx")


def test_a_folder_without_weights_or_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = hub_folder(tmp_path, {})
    (folder / "tokenizer.json").unlink()
    with pytest.raises(KeyholeError, match=r"has no tokenizer\.json"):
        read(folder)
    with pytest.raises(KeyholeError, match=r"has no model\.onnx"):
        read(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        ("---\nlanguage: en\nlicense: mit\n---\n# A model\n", ("en",)),
        ("---\nlicense: mit\nlanguage:\n- de\n- fr\n---\n", ("de", "fr")),
        ("---\nlanguage:\n- multilingual\n- en\n---\n", ()),
        ("---\nlanguage: [en, de, fr, es, zh, ja, ko]\n---\n", ()),
        ("# A model\n\nlanguage: en\n", ()),
    ],
)
def test_the_card_of_a_model_names_its_languages(tmp_path: Path, card: str, languages: tuple[str, ...]) -> None:
    folder = hub_folder(tmp_path, {})
    (folder / "README.md").write_text(card)
    assert read(folder).languages == languages
