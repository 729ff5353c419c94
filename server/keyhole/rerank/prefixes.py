"""Prefixes that embedding models expect before a query and before a text, by the family of the model."""

from __future__ import annotations

from typing import Final, NamedTuple


class Prefixes(NamedTuple):
    """What an embedding model expects before a query and before a text: it was trained so, and few users know it."""

    query: str = ""
    text: str = ""


_FAMILIES: Final = (
    # The cards of these models on Hugging Face. A longer name comes before a shorter one that it contains.
    ("e5-mistral", Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ")),
    ("e5-large-instruct", Prefixes("Instruct: Given a question, retrieve passages that answer it\nQuery: ")),
    ("e5", Prefixes("query: ", "passage: ")),
    ("nomic-embed", Prefixes("search_query: ", "search_document: ")),
    ("bge-small-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("bge-base-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("bge-large-en", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("mxbai-embed", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("snowflake-arctic-embed-l-v2", Prefixes("query: ")),
    ("snowflake-arctic-embed-m-v2", Prefixes("query: ")),
    ("snowflake-arctic-embed2", Prefixes("query: ")),
    ("snowflake-arctic-embed", Prefixes("Represent this sentence for searching relevant passages: ")),
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
)


def find_prefixes(model: str) -> Prefixes:
    """Return the prefixes of a model by its name; empty for a family that needs none or is not known."""
    name = model.lower()
    return next((prefixes for family, prefixes in _FAMILIES if family in name), Prefixes())
