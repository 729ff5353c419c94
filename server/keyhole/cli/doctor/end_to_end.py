"""The real thing: this installation's server over stdio, a page on loopback, its passages, and the kept text read on.

In both eras of the protocol, each with a home folder of its own that is gone afterwards.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from typing import TYPE_CHECKING, Any, Final

from keyhole.cli.doctor.conversation import Era, TalkError, has_our_tools, talking
from keyhole.cli.doctor.report import Finding, Level
from keyhole.cli.install.entries import Server

if TYPE_CHECKING:
    from mcp import Client

AREA: Final = "Round trip"
PATIENCE: Final = 15.0
"""Seconds for one era: several times what it takes on a slow machine."""
ANSWER: Final = "The keeper fills the lamp with oil every seventeen days, at dusk."
QUESTION: Final = "how often is the lamp filled with oil"
_ERAS: Final[tuple[tuple[Era, str], ...]] = (("legacy", "2025-11-25"), ("modern", "2026-07-28"))


def look(server: Server) -> list[Finding]:
    """One line for each era."""
    from keyhole.cli.demo_site import Recorded, serve

    with serve({"light": Recorded("light", "", "text/html; charset=utf-8", _page().encode())}) as port:
        return asyncio.run(_both(server, f"127.0.0.1:{port}"))


async def _both(server: Server, endpoint: str) -> list[Finding]:
    return list(await asyncio.gather(*(_one(server, endpoint, era, revision) for era, revision in _ERAS)))


async def _one(server: Server, endpoint: str, era: Era, revision: str) -> Finding:
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="keyhole-doctor-", ignore_cleanup_errors=True) as home:
            settings = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": endpoint}
            async with talking(Server(server.command, server.args, settings), era, PATIENCE) as client:
                await _calls(client, f"http://{endpoint}/light")
    except TalkError as error:
        fix = "Run the command by hand to see what it says, and install Keyhole anew if its files are not whole."
        return Finding(
            AREA, f"stdio, {revision}", Level.FAIL, f"{' '.join([server.command, *server.args])}: {error}", fix
        )
    said = f"listed, fetched and read on in {time.monotonic() - begun:.1f} s"
    return Finding(AREA, f"stdio, {revision}", Level.OK, said)


async def _calls(client: Client, url: str) -> None:
    await has_our_tools(client)
    text, facts = await _call(client, "web_fetch", {"url": url, "query": QUESTION, "max_chars": 1_500})
    if ANSWER not in text:
        raise TalkError("web_fetch did not return the sentence that answers")
    read, _ = await _call(client, "read_artifact", {"id": facts["artifact_id"], "find": ANSWER})
    if "exactly at" not in read:
        raise TalkError("read_artifact did not find the sentence in the kept text")


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    result = await client.call_tool(tool, arguments)
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        raise TalkError(f"{tool} failed: {text[:200]}")
    return text, dict((result.meta or {}).get("keyhole", {}))


def _page() -> str:
    """A page several times as long as the budget, with the one answer in its middle."""
    parts = [
        f"<h2>Station {n}</h2><p>At station {n} the road follows the river; mail is sorted by hand.</p>"
        for n in range(60)
    ]
    parts[30] = f"<h2>The light</h2><p>{ANSWER}</p>"
    return f'<!doctype html><html lang="en"><title>The coast road</title><main>{"".join(parts)}</main></html>'
