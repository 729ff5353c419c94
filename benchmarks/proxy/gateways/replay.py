"""Serve the recorded results over stdio as an MCP server: `python -m benchmarks.proxy.gateways.replay`.

A call of a recorded tool with the recorded arguments gets the recorded result. The tool `say` repeats its text. A call
with a progress token gets one progress notification before its result, as the protocol allows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.proxy.gateways.corpus import load_results

SAY = {"name": "say", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


def main() -> None:
    """Answer requests until stdin ends."""
    recorded = load_results().values()
    tools = {each.tool["name"]: each.tool for each in recorded}
    results = {call_key(each.tool["name"], each.arguments): each.result for each in recorded}
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message or method is None:
            continue
        if method == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "replay", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [*tools.values(), SAY]}
        elif method == "tools/call":
            _notify(params)
            result = _call(params, results)
        else:
            _send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            continue
        _send({"id": message["id"], "result": result})


def call_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what tells one recorded call from another."""
    return json.dumps([tool, arguments], sort_keys=True)


def _notify(params: Mapping[str, Any]) -> None:
    token = (params.get("_meta") or {}).get("progressToken")
    if token is not None:
        _send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})


def _call(params: Mapping[str, Any], results: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    arguments = params.get("arguments") or {}
    if params["name"] == SAY["name"]:
        return {"content": [{"type": "text", "text": arguments["text"]}]}
    missing = {"content": [{"type": "text", "text": "not recorded"}], "isError": True}
    return results.get(call_key(params["name"], arguments), missing)


def _send(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
