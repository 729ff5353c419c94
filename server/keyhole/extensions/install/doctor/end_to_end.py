"""Check a complete call: start this installation's server over stdio, fetch a page from loopback, read its stored text.

Both eras of the protocol are checked, each with a temporary home folder of its own.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from typing import TYPE_CHECKING, Any, Final

from keyhole.cli.report import Finding, Level
from keyhole.extensions.install.doctor.conversation import ConversationError, Era, check_tools, connect
from keyhole.extensions.install.entries import Server

if TYPE_CHECKING:
    from mcp import Client

AREA: Final = "Round trip"
TIMEOUT: Final = 15.0
"""Seconds for one era: several times the duration on a slow machine."""
ANSWER: Final = "The keeper fills the lamp with oil every seventeen days, at dusk."
QUESTION: Final = "how often is the lamp filled with oil"
_ERAS: Final[tuple[tuple[Era, str], ...]] = (("legacy", "2025-11-25"), ("modern", "2026-07-28"))


def check(server: Server) -> list[Finding]:
    """Return one finding for each era of the protocol."""
    from keyhole.cli.demo_site import RecordedPage, serve

    with serve({"light": RecordedPage("light", "", "text/html; charset=utf-8", _page().encode())}) as port:
        return asyncio.run(_check_eras(server, f"127.0.0.1:{port}"))


async def _check_eras(server: Server, endpoint: str) -> list[Finding]:
    return list(await asyncio.gather(*(_check_era(server, endpoint, era, revision) for era, revision in _ERAS)))


async def _check_era(server: Server, endpoint: str, era: Era, revision: str) -> Finding:
    name, start = f"stdio, {revision}", time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-doctor-", ignore_cleanup_errors=True) as home:
            own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_SHARED": "off"}
            settings = {**own, "KEYHOLE_ALLOW_PRIVATE": endpoint}
            async with connect(Server(server.command, server.args, settings), era, TIMEOUT) as client:
                await _call_tools(client, f"http://{endpoint}/light")
    except ConversationError as error:
        fix = "Run the command by hand to see its output; reinstall Keyhole if files are missing."
        command = " ".join([server.command, *server.args])
        return Finding(AREA, name, Level.FAIL, f"{command}: {error}", fix)
    message = f"listed the tools, fetched a page and read its stored text in {time.monotonic() - start:.1f} s"
    return Finding(AREA, name, Level.OK, message)


async def _call_tools(client: Client, url: str) -> None:
    """Fetch and read the page. Raise ConversationError if a result is not as expected."""
    await check_tools(client)
    text, facts = await _call(client, "web_fetch", {"url": url, "query": QUESTION, "max_chars": 1_500})
    if ANSWER not in text:
        raise ConversationError("web_fetch did not return the sentence that answers")
    quote, _ = await _call(client, "read_artifact", {"id": facts["artifact_id"], "find": ANSWER})
    if "exactly at" not in quote:
        raise ConversationError("read_artifact did not find the sentence in the stored text")


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    result = await client.call_tool(tool, arguments)
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise ConversationError(f"{tool} failed: {text[:200]}")
    return text, dict((result.meta or {}).get("keyhole", {}))


def _page() -> str:
    """Return a page several times as long as the budget, with the answer in its middle."""
    parts = [
        f"<h2>Station {n}</h2><p>At station {n} the road follows the river; mail is sorted by hand.</p>"
        for n in range(60)
    ]
    parts[30] = f"<h2>The light</h2><p>{ANSWER}</p>"
    return f'<!doctype html><html lang="en"><title>The coast road</title><main>{"".join(parts)}</main></html>'
