"""Log lines of requests and calls."""

from __future__ import annotations

import asyncio
import logging

import pytest

from keyhole.extensions.hosted.telemetry import AccessLogMiddleware, CallLogger, loggable_path, tenant_hash
from keyhole.retrieval.instrumentation import ObservedCall
from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.store.open import tenant_folder_name


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
def test_only_known_paths_are_logged(path: str, written: str) -> None:
    assert loggable_path(path) == written


def test_a_tenant_is_logged_as_the_start_of_its_folders_name() -> None:
    assert tenant_folder_name("one").startswith(tenant_hash("one") or "-")
    assert tenant_hash("") is None


def test_a_call_is_logged_with_its_outcome(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "keyhole")
    with pytest.raises(ValueError, match="x"), CallLogger().call(ObservedCall("search", "one")):
        raise ValueError("x")
    with CallLogger().call(ObservedCall("search", "", "no_results")):
        pass
    first, second = caplog.records
    assert (first.getMessage(), second.getMessage()) == ("search cancelled", "search no_results")
    assert first.__dict__["tenant"] == tenant_hash("one")
    assert first.__dict__["milliseconds"] >= 0


def test_a_request_whose_client_disconnected_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "keyhole")

    async def gone(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    asyncio.run(AccessLogMiddleware(gone)({"type": "http", "method": "POST", "path": "/mcp"}, receive, send))
    assert [record.getMessage() for record in caplog.records] == ["POST /mcp 499"]
