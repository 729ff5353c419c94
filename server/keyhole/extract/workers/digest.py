"""All that is done with a page's bytes before they are kept, as one function: what a worker runs. Pure."""

from __future__ import annotations

import dataclasses

from keyhole.extract import extract
from keyhole.passages.stems import index_terms
from keyhole.records import Document


def digest(body: bytes, url: str, content_type: str, requested_url: str = "") -> tuple[Document, str]:
    """The document and its words for the store's index. Blocks are left out: nothing that is kept needs them, and
    `keyhole.text.markdown.blocks` gives them for any text."""
    document = extract(body, url=url, content_type=content_type, requested_url=requested_url)
    return dataclasses.replace(document, blocks=()), words_of(document.title, document.text)


def words_of(title: str, text: str) -> str:
    """The words of a text for the store's index."""
    return " ".join(index_terms(title, text))
