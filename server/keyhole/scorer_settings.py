"""The settings of second opinions: rows of the table in config.py. Nothing is read here."""

from __future__ import annotations

import re
from collections.abc import Callable

from keyhole.errors import Code, KeyholeError
from keyhole.setting import Setting, between


def _endpoint(raw: str) -> str:
    """The one address of an API, as it is asked."""
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", raw, re.IGNORECASE):
        raise ValueError("must be one absolute http:// or https:// URL")
    return raw


def _secret(variable: str) -> Callable[[str], str]:
    """A key that travels in a header. What is wrong with it is told without it."""

    def parse(raw: str) -> str:
        if not (raw.isascii() and raw.isprintable()):
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{variable} must be printable ASCII; its value is not shown")
        return raw

    return parse


SCORER_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "rerank_url",
        "URL",
        "address of a /rerank API that may reorder the best passages; none is asked by default",
        _endpoint,
    ),
    Setting("rerank_model", "name", "model that the reranker is asked for; some servers have only one", str),
    Setting("rerank_key", "text", "sent as a bearer token; shown nowhere", _secret("KEYHOLE_RERANK_KEY")),
    Setting("rerank_max_docs", "passages", "the best by lexical score that are sent", between(1, 1_000, int)),
    Setting(
        "rerank_max_chars_per_doc",
        "characters",
        "of a passage that are sent; what is shown is whole",
        between(50, 100_000, int),
    ),
    Setting(
        "rerank_threshold",
        "score",
        "passages that the reranker scores lower come after all others; none by default, for scales differ",
        between(-1e9, 1e9, float),
    ),
    Setting(
        "rerank_timeout", "seconds", "longest wait for the reranker, within the call's own", between(0.1, 60, float)
    ),
    Setting(
        "embed_url",
        "URL",
        "address of a /v1/embeddings API whose order is fused in; none is asked by default",
        _endpoint,
    ),
    Setting("embed_model", "name", "model that embeds; some servers have only one", str),
    Setting("embed_key", "text", "sent as a bearer token; shown nowhere", _secret("KEYHOLE_EMBED_KEY")),
    Setting("embed_max_docs", "passages", "the best by lexical score that are embedded", between(1, 100_000, int)),
    Setting("embed_batch", "texts", "texts in one request; some servers take fewer", between(1, 10_000, int)),
    Setting("embed_query_prefix", "text", "what the model wants before a query, such as `query:`", str),
    Setting("embed_text_prefix", "text", "what the model wants before a passage, such as `passage:`", str),
    Setting(
        "embed_timeout", "seconds", "longest wait for all embeddings, within the call's own", between(0.1, 60, float)
    ),
)
