"""Owners of calls: over stdio the connection, over HTTP the tenant, or without tenants the session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from keyhole.config.config import Config
from keyhole.extensions.hosted.telemetry import CallLogger
from keyhole.retrieval import instrumentation
from keyhole.retrieval.retrieve import Retrieval
from keyhole.runtime.owner import current_owner
from keyhole.serve.tools import STDIO, build_server
from tests.support.product import retrieval
from tests.support.server_process import NameVerifier, Post, application_server, open_session, tool_call

READ = tool_call("read_artifact", id="a" * 16)


class OwnerRecorder(CallLogger):
    """Observer that records the owner of each call."""

    def __init__(self) -> None:
        self.owners: list[str] = []

    @contextmanager
    def call(self, call: instrumentation.ObservedCall) -> Iterator[None]:
        self.owners.append(current_owner())
        yield


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_over_stdio_the_connection_owns_its_calls(era: str) -> None:
    recorder = OwnerRecorder()

    async def get(_tenant: str) -> Retrieval:
        return retrieval({})

    async def run() -> None:
        async with Client(build_server(get), mode=era) as client:
            await client.call_tool("read_artifact", {"id": "a" * 16})
            await client.list_resources()

    with instrumentation.observed_by(recorder):
        anyio.run(run)
    assert recorder.owners == [STDIO, STDIO]


def test_over_http_the_tenant_owns_its_calls(tmp_path: Path) -> None:
    recorder = OwnerRecorder()
    with instrumentation.observed_by(recorder), application_server(config_in(tmp_path), NameVerifier()) as server:
        token = {"Authorization": "Bearer token-one"}
        session = open_session(server.port, **token)
        assert Post(server.port, READ, mcp_session_id=session, **token).answer()[0] == 200
    assert recorder.owners == ["one"]


def test_over_http_without_tenants_the_session_owns_its_calls(tmp_path: Path) -> None:
    recorder = OwnerRecorder()
    with instrumentation.observed_by(recorder), application_server(config_in(tmp_path)) as server:
        sessions = [open_session(server.port), open_session(server.port)]
        for session in sessions:
            assert Post(server.port, READ, mcp_session_id=session).answer()[0] == 200
    assert recorder.owners == sessions


def config_in(home: Path) -> Config:
    return Config(home=home, engines=("searxng",))
