"""Use two servers behind the proxy with a client: python mixed_eras_client.py sdk|fastmcp MODE FILE COMMAND…

Prints as JSON what the client saw. FILE is the file that the server of files reads.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any


async def use_sdk(mode: str, file: str, command: list[str]) -> dict[str, Any]:
    """Return what the client of the Python SDK saw."""
    from mcp import Client, StdioServerParameters

    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    connected: Any = Client(server, mode=mode)
    async with connected as client:
        return {
            "version": client.session.protocol_version,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "templates": [each.uri_template for each in (await client.list_resource_templates()).resource_templates],
            "sum": (await client.call_tool("sums_add", {"a": 2, "b": 3})).content[0].text,
            "same name": (await client.call_tool("sums_read_file", {"path": "x"})).content[0].text,
            "file": (await client.call_tool("files_read_text_file", {"path": file})).content[0].text,
            "resource": (await client.read_resource("keyhole:sums:data://x")).contents[0].text,
            "prompt": (await client.get_prompt("sums_greet", {"name": "me"})).messages[0].content.text,
        }


async def use_fastmcp(mode: str, file: str, command: list[str]) -> dict[str, Any]:
    """Return what the client of FastMCP saw."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(command[0], command[1:], env=dict(os.environ), keep_alive=False)
    async with Client(transport, mode=mode) as client:
        return {
            "version": client.session.protocol_version,
            "tools": [tool.name for tool in await client.list_tools()],
            "templates": [each.uri_template for each in await client.list_resource_templates()],
            "sum": (await client.call_tool("sums_add", {"a": 2, "b": 3})).content[0].text,
            "same name": (await client.call_tool("sums_read_file", {"path": "x"})).content[0].text,
            "file": (await client.call_tool("files_read_text_file", {"path": file})).content[0].text,
            "resource": (await client.read_resource("keyhole:sums:data://x"))[0].text,
            "prompt": (await client.get_prompt("sums_greet", {"name": "me"})).messages[0].content.text,
        }


if __name__ == "__main__":
    kind, mode, file, *command = sys.argv[1:]
    use = {"sdk": use_sdk, "fastmcp": use_fastmcp}[kind]
    print(json.dumps(asyncio.run(use(mode, file, command))))
