"""A minimal MCP client over streamable HTTP, for both eras."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal

import httpx  # noqa: TID251 - a client of our own server, on loopback

Era = Literal["2026-07-28", "2025-11-25"]
ERAS: Final[tuple[Era, Era]] = ("2026-07-28", "2025-11-25")
"""The era without sessions, and the last one with a handshake."""
PATIENCE: Final = 90.0
"""Maximum seconds for an answer: twice the longest deadline of a call, so a slower call hangs."""
CLIENT: Final = {"name": "load", "version": "1"}
_INSECURE: Final = ssl.create_default_context()
"""Shared by all clients, since creating a context is slow."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one call."""

    status: int
    """The HTTP status; 0 if the connection broke."""
    seconds: float
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False
    code: str = ""
    """Code of the refusal, JSON-RPC error or broken connection; "" if there is a result."""
    retry_after: float = 0.0

    @property
    def outcome(self) -> str:
        """`ok`, the code of the tool's error, or `code` if there is no result."""
        return self.code or (self.text.partition(":")[0] if self.is_error else "ok")

    @property
    def is_refused(self) -> bool:
        """True if the server refused the call because of its load or limits."""
        return self.status in (429, 503)


class Caller:
    """A client that calls tools in sequence."""

    def __init__(self, url: str, token: str = "", era: Era = "2026-07-28") -> None:
        self._url = url
        self._era = era
        self._numbers = count(1)
        self._greeted = False
        headers = {"accept": "application/json, text/event-stream"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._http = httpx.AsyncClient(headers=headers, timeout=PATIENCE, verify=_INSECURE, trust_env=False)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Call a tool. Failures of the server or the network are returned, not raised."""
        if self._era == "2025-11-25" and not self._greeted:
            greeting = await self._greet()
            if greeting.status != 200:
                return greeting
        return await self._request("tools/call", {"name": tool, "arguments": dict(arguments)}, tool)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def _greet(self) -> Reply:
        params = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": CLIENT}
        reply = await self._request("initialize", params)
        self._greeted = reply.status == 200
        if self._greeted:
            notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            try:
                await self._http.post(self._url, json=notice, headers={"mcp-protocol-version": self._era})
            except httpx.HTTPError:
                self._greeted = False
        return reply

    async def _request(self, method: str, params: dict[str, Any], name: str = "") -> Reply:
        headers: dict[str, str] = {"mcp-protocol-version": self._era}
        if self._era == "2026-07-28":
            headers |= {"mcp-method": method, "mcp-name": name}
            params = {**params, "_meta": _envelope(self._era)}
        body = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        started = time.perf_counter()
        try:
            response = await self._http.post(self._url, json=body, headers=headers)
        except httpx.HTTPError as error:
            return Reply(0, time.perf_counter() - started, code=type(error).__name__)
        seconds = time.perf_counter() - started
        if session := response.headers.get("mcp-session-id"):
            self._http.headers["mcp-session-id"] = session
        elif response.status_code == 404 and self._http.headers.pop("mcp-session-id", ""):
            self._greeted = False  # the replica that had the session has died
        return parse_reply(response.status_code, response.headers, response.text, seconds)


def _envelope(era: Era) -> dict[str, Any]:
    space = "io.modelcontextprotocol/"
    return {f"{space}protocolVersion": era, f"{space}clientInfo": CLIENT, f"{space}clientCapabilities": {}}


def parse_reply(status: int, headers: Mapping[str, str], text: str, seconds: float) -> Reply:
    """Return the reply of an HTTP response: JSON, or the last message of an event stream."""
    wait = float(headers.get("retry-after") or 0)
    if "text/event-stream" in headers.get("content-type", ""):
        events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
        text = next((event for event in reversed(events) if event), "")
    try:
        message = json.loads(text)
    except ValueError:
        return Reply(status, seconds, code=f"http_{status}" if status != 200 else "no_message", retry_after=wait)
    if not isinstance(message, dict) or "result" not in message:
        return Reply(status, seconds, code=_refusal(status, message), retry_after=wait)
    result = message["result"]
    shown = "".join(block.get("text", "") for block in result.get("content", []))
    facts = (result.get("_meta") or {}).get("keyhole") or {}
    return Reply(status, seconds, shown, facts, bool(result.get("isError")), retry_after=wait)


def _refusal(status: int, message: Any) -> str:
    error = message.get("error") if isinstance(message, dict) else None
    if isinstance(error, dict):
        data = error.get("data")
        named = data.get("error") or data.get("code") if isinstance(data, dict) else None
        return str(named or f"jsonrpc_{error.get('code')}")
    return str(error or f"http_{status}")
