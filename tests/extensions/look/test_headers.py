"""Every response has the security headers, unless it sets one itself."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from keyhole.extensions.look.access import HEADERS, add_headers


@pytest.mark.parametrize("own", [{}, {"content-security-policy": "sandbox"}])
def test_a_response_keeps_the_headers_that_it_sets_and_gets_the_others(own: dict[str, str]) -> None:
    answer = TestClient(add_headers(PlainTextResponse("text", headers=own))).get("/")
    assert {name: answer.headers[name] for name in HEADERS} == {**HEADERS, **own}
