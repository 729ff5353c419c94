"""Serve the recorded results over stdio as an MCP server: `python -m benchmarks.proxy.gateways.replay`.

A call of a recorded tool with the recorded arguments gets the recorded result. The tool `say` repeats its text, and the
tool `poll` returns a long log with the number of its call at both ends. A call with a progress token gets one progress
notification before its result, as the protocol allows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.proxy.gateways.corpus import load_results

SAY = {"name": "say", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}

POLL = {"name": "poll", "inputSchema": {"type": "object"}}
LOG = "".join(f"{number:05} the worker has copied a row\n" for number in range(2_000))


def main() -> None:
    """Answer requests until stdin ends."""
    recorded = load_results().values()
    tools = {each.tool["name"]: each.tool for each in recorded}
    results = {call_key(each.tool["name"], each.arguments): each.result for each in recorded}
    polls = 0
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
            result = {"tools": [*tools.values(), SAY, POLL]}
        elif method == "tools/call":
            _notify(params)
            polls += params["name"] == POLL["name"]
            result = _call(params, results, polls)
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


def _call(params: Mapping[str, Any], results: Mapping[str, dict[str, Any]], polls: int) -> dict[str, Any]:
    arguments = params.get("arguments") or {}
    if params["name"] == SAY["name"]:
        return _text(arguments["text"])
    if params["name"] == POLL["name"]:
        return _text(f"poll {polls}\n{LOG}poll {polls}")
    return results.get(call_key(params["name"], arguments), {**_text("not recorded"), "isError": True})


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def _send(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
