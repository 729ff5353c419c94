"""A manifest is read as it was written; anything else is refused. Prefixes follow from the name of a model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.manifest import CATALOGUE, check_name, format_manifest, parse_manifest
from keyhole.extensions.models.vector_scorer import Prefixes, find_prefixes

MODEL = CATALOGUE["multilingual-e5-small"]
INSTRUCTION = "Instruct: Given a question, retrieve passages that answer it"
SENTENCE = "Represent this sentence for searching relevant passages: "
FILES = json.loads(format_manifest(MODEL))["files"]


def test_a_manifest_is_read_as_it_was_written() -> None:
    for model in CATALOGUE.values():
        installed = replace(model, installed_at=17.5, passage_ms=31.2)
        assert parse_manifest(format_manifest(installed)) == installed


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "oracle"},
        {"pooling": "max"},
        {"max_tokens": 0},
        {"max_tokens": 100_000},
        {"max_tokens": 1.5},
        {"max_tokens": True},
        {"max_tokens": "512"},
        {"files": []},
        {"files": [{"name": "model.onnx", "sha256": "abc", "size": 1, "url": ""}]},
        {"files": [*FILES, FILES[0]]},
        {"files": [{**file, "size": "7"} for file in FILES]},
        {"files": [{**file, "size": -1} for file in FILES]},
        {"files": [{**file, "url": None} for file in FILES]},
        {"name": 5},
        {"licence": None},
        {"query_prefix": None},
        {"languages": "en"},
        {"languages": [1]},
        {"installed_at": "yesterday"},
        {"installed_at": None},
        {"passage_ms": "fast"},
        {"unknown": 1},
    ],
)
def test_a_malformed_manifest_is_refused(change: dict[str, object]) -> None:
    row = {**json.loads(format_manifest(MODEL)), **change}
    with pytest.raises(KeyholeError) as caught:
        parse_manifest(json.dumps(row))
    assert caught.value.code is Code.INVALID_ARGUMENT


@given(st.text() | st.recursive(st.none() | st.integers(), lambda inner: st.lists(inner)).map(json.dumps))
def test_any_text_is_a_manifest_or_refused(text: str) -> None:
    with pytest.raises(KeyholeError):
        parse_manifest(text)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "A", "-x", "x" * 65, "x.part", "x\n"])
def test_a_name_that_is_no_folder_is_refused(name: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        check_name(name)
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_the_vectors_of_a_model_are_told_apart_by_everything_that_determines_them() -> None:
    changed = [replace(MODEL, query_prefix="q: "), replace(MODEL, text_prefix=""), replace(MODEL, name="other")]
    assert [each.identity == MODEL.identity for each in changed] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [
        ("intfloat/multilingual-e5-small", Prefixes("query: ", "passage: ")),
        ("intfloat/e5-mistral-7b-instruct", Prefixes(f"{INSTRUCTION}\nQuery: ")),
        ("intfloat/multilingual-e5-large-instruct", Prefixes(f"{INSTRUCTION}\nQuery: ")),
        ("BAAI/bge-small-en-v1.5", Prefixes(SENTENCE)),
        ("snowflake-arctic-embed:335m", Prefixes(SENTENCE)),
        ("snowflake-arctic-embed2", Prefixes("query: ")),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("embeddinggemma:300m", Prefixes("task: search result | query: ", "title: none | text: ")),
        ("nomic-embed-text:latest", Prefixes("search_query: ", "search_document: ")),
        ("BAAI/bge-m3", Prefixes()),
        ("text-embedding-3-small", Prefixes()),
        ("", Prefixes()),
    ],
)
def test_the_prefixes_of_known_families_follow_from_the_name(name: str, prefixes: Prefixes) -> None:
    assert find_prefixes(name) == prefixes
