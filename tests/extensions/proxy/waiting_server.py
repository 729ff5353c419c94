"""An MCP server whose call waits for the test: it says by one named pipe that it has begun, and goes on by another."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {"name": "wait", "inputSchema": {"type": "object"}}


def write(**fields: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)


def report(params: Any, progress: int) -> None:
    if token := params.get("_meta", {}).get("progressToken"):
        write(method="notifications/progress", params={"progressToken": token, "progress": progress})


def wait(params: Any) -> Any:
    report(params, 0)
    Path(params["arguments"]["begun"]).write_text("begun")
    Path(params["arguments"]["released"]).read_text()
    for progress in range(1, 4):
        report(params, progress)
    return {"content": [{"type": "text", "text": "the answer"}]}


def answer(method: str, params: Any) -> Any:
    if method == "initialize":
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "w", "version": "1"}}
    return {"tools/list": {"tools": [TOOL]}}.get(method, {}) if method != "tools/call" else wait(params)


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            write(id=message["id"], result=answer(message["method"], message.get("params", {})))
