"""Each listed model can be verified: its files have digests, sizes and the address of one revision."""

from __future__ import annotations

import re

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import CATALOGUE, DEFAULT_NAME, Manifest, check_name, find_model

MODELS = pytest.mark.parametrize("model", CATALOGUE.values(), ids=list(CATALOGUE))


@MODELS
def test_each_listed_file_has_a_digest_and_a_size(model: Manifest) -> None:
    assert sorted(file.name for file in model.files) == sorted(model.kind.files)
    for file in model.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256), file.url
        assert file.size > 100_000, file.url


@MODELS
def test_each_address_names_one_revision_of_the_models_source(model: Manifest) -> None:
    for file in model.files:
        address = re.fullmatch(r"([^/]+/[^/]+)/resolve/[0-9a-f]{40}/(?:onnx/)?[^/]+", file.url)
        assert address, file.url
        assert model.source == f"https://huggingface.co/{address[1]}"


@MODELS
def test_each_listed_model_has_a_licence_and_the_name_of_a_folder(model: Manifest) -> None:
    assert model.licence in {"MIT", "Apache-2.0"}
    assert check_name(model.name) == model.name


def test_no_two_listed_files_have_the_same_digest() -> None:
    digests = [file.sha256 for model in CATALOGUE.values() for file in model.files]
    assert len(digests) == len(set(digests))


def test_the_recommended_model_comes_first() -> None:
    assert next(iter(CATALOGUE)) == DEFAULT_NAME
    assert find_model(DEFAULT_NAME) is CATALOGUE[DEFAULT_NAME]


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(KeyholeError, match="did you mean multilingual-e5-small") as caught:
        find_model("multilingual-e5-smal")
    assert caught.value.code is Code.INVALID_ARGUMENT
