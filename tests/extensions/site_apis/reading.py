"""Answer the requests of a site reader from a table, and return the text that a result would show."""

from __future__ import annotations

import json
from collections.abc import Mapping

from keyhole.extensions.site_apis.matchers import find_reader
from keyhole.extensions.site_apis.site_readers import MAX_REQUESTS, SiteAnswer, compose
from keyhole.extract import extract
from keyhole.records import Document
from keyhole.sites.document import CONTENT_TYPE


def read(url: str, answers: Mapping[str, object]) -> tuple[Document, list[str]]:
    """Return the document of an address and the requests for it.

    `answers`: for each request a text, or a value that is sent as JSON. The others have no answer.
    """
    reader = find_reader(url, None)
    assert reader, f"no reader for {url}"
    got: list[SiteAnswer] = []
    while requests := reader.next_requests(got):
        for request in requests:
            value = answers.get(request.url)
            assert value is not None or request.optional, f"no answer to {request.url}"
            body = value if isinstance(value, str) else json.dumps(value)
            got.append(
                SiteAnswer(request.url, label=request.label)
                if value is None
                else SiteAnswer(request.url, request.url, body.encode())
            )
        assert len(got) <= MAX_REQUESTS
    document = extract(compose(reader, got).encode(), url=url, content_type=CONTENT_TYPE)
    return document, [answer.request for answer in got]
