"""Lines of requests and calls in the log."""

from __future__ import annotations

import asyncio
import logging

import pytest

from keyhole.retrieval.instrumentation import Call
from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.serve.http.telemetry.access_log import Access, CallLines, shown, tenant_hash
from keyhole.store.open import folder_name


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/mcp", "/mcp"),
        ("/readyz", "/readyz"),
        ("/.well-known/oauth-protected-resource/mcp", "/.well-known/…"),
        ("/", "(other)"),
        ("/hunter2\nforged", "(other)"),
    ],
)
def test_only_paths_that_are_known_are_written(path: str, written: str) -> None:
    assert shown(path) == written


def test_a_tenant_is_written_as_the_beginning_of_its_folders_name() -> None:
    assert folder_name("one").startswith(tenant_hash("one") or "-")
    assert tenant_hash("") is None


def test_a_call_has_a_line_with_its_outcome(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "keyhole")
    with pytest.raises(ValueError, match="x"), CallLines().call(Call("search", "one")):
        raise ValueError("x")
    with CallLines().call(Call("search", "", "no_results")):
        pass
    first, second = caplog.records
    assert (first.getMessage(), second.getMessage()) == ("search cancelled", "search no_results")
    assert first.__dict__["tenant"] == tenant_hash("one")
    assert first.__dict__["milliseconds"] >= 0


def test_a_request_whose_client_went_away_has_a_line_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "keyhole")

    async def gone(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    asyncio.run(Access(gone)({"type": "http", "method": "POST", "path": "/mcp"}, receive, send))
    assert [record.getMessage() for record in caplog.records] == ["POST /mcp 499"]
