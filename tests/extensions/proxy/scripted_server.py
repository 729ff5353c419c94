"""An MCP server over stdio for tests: its tools do what an argument says, also what no server should do."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from typing import Any

TOOLS = {
    "small": {"type": "object"},
    "big": {"type": "object", "properties": {"lines": {"type": "integer"}}},
    "structured": {"type": "object"},
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LOCK = threading.Lock()
NEXT_ID = [100]


def send(message: dict[str, Any] | str) -> None:
    text = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})
    with LOCK:
        WRITE[0](text)


def write_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


WRITE = [write_line]
"""Where messages go; the server over HTTP puts its own function here."""


def log_lines(count: int) -> str:
    return "\n".join(f"{number:06} the step {word(number)} of {word(number * 31)} is done" for number in range(count))


def word(number: int) -> str:
    return "".join(chr(ord("a") + number * 7919 // 26**place % 26) for place in range(5))


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def call(  # noqa: C901 - one branch for each tool
    id: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]
) -> None:
    if name == "big":
        send({"id": id, "result": text(log_lines(arguments.get("lines", 5_000)))})
    elif name == "structured":
        rows = {"rows": [{"id": number, "name": f"name {number}"} for number in range(2_000)]}
        send({"id": id, "result": {**text(json.dumps(rows)), "structuredContent": rows}})
    elif name == "media":
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png", "new": {"field": 1.50}}
        send({"id": id, "result": {"content": [image, {"type": "hologram", "beam": 1}], "new": None}})
    elif name == "fail":
        send({"id": id, "result": {**text("no such file"), "isError": True}})
    elif name == "progress":
        for done in range(3):
            params = {"progressToken": meta.get("progressToken"), "progress": done}
            send({"method": "notifications/progress", "params": params})
        send({"id": id, "result": text("done")})
    elif name == "ask":
        NEXT_ID[0] += 1
        WAITING[NEXT_ID[0]] = id
        send({"id": NEXT_ID[0], "method": arguments["method"], "params": arguments.get("params", {})})
    elif name == "late":
        threading.Timer(arguments["seconds"], send, [{"id": id, "result": text(str(arguments["seconds"]))}]).start()
    elif name == "never":
        if token := meta.get("progressToken"):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 0}})
    elif name == "die":
        os._exit(3)
    elif name == "noise":
        send("Listening on port 3000")
        send({"id": 424242, "result": {}})
        send({"id": id, "result": text("after the noise")})
    elif name == "half":
        send('{"jsonrpc":"2.0","id":' + json.dumps(id) + ',"result":{"content":[')
    elif name == "huge":
        with LOCK:
            sys.stdout.write(
                '{"jsonrpc":"2.0","id":' + json.dumps(id) + ',"result":{"content":[{"type":"text","text":"'
            )
            for _ in range(arguments["megabytes"]):
                sys.stdout.write("x" * 1_000_000)
            sys.stdout.write('"}]}}\n')
            sys.stdout.flush()
    elif name == "raw":
        for each in arguments["lines"]:
            send(expand(each, id))
    elif name == "refused":
        WAITING["asked"] = id
        send(expand(arguments["line"], "asked"))
    elif name == "deaf":
        send({"id": id, "result": text("deaf")})
        time.sleep(3_600)
    elif name == "shut":
        os.close(0)
        send({"id": id, "result": text("shut")})
        time.sleep(3_600)
    elif name == "env":
        send({"id": id, "result": text(os.environ.get(arguments["name"], ""))})
    else:
        send({"id": id, "result": text(f"{name} {json.dumps(arguments, sort_keys=True)}")})


def expand(line: str, id: Any) -> str:
    """Return a line with the id of the call for ID, and nine nested arrays, objects or both for ARRAYS:9 and so on.

    VALUES:9 stands for nine values side by side.
    """

    def nest(found: re.Match[str]) -> str:
        opening, closing = NESTED[found[1]]
        return opening * int(found[2]) + "1" + closing * int(found[2])

    return re.sub(r"(ARRAYS|OBJECTS|MIXED|VALUES):(\d+)", nest, line).replace("ID", json.dumps(id))


NESTED = {"ARRAYS": ("[", "]"), "OBJECTS": ('{"a":', "}"), "MIXED": ('[{"a":', "}]"), "VALUES": ("1,", "")}
WAITING: dict[int | str, Any] = {}


def handle(message: dict[str, Any]) -> None:  # noqa: C901 - one branch for each method
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method is None:
        send({"id": WAITING.pop(message["id"]), "result": text(json.dumps(message, sort_keys=True))})
    elif method in ("initialize", "server/discover"):
        capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}
        result = {"protocolVersion": params.get("protocolVersion"), "capabilities": capabilities, "new": [1.0, 1e3]}
        send({"id": id, "result": {**result, "serverInfo": {"name": "scripted", "version": "1"}}})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": each, "outputSchema": {}} for name, each in TOOLS.items()]
        if "ENDLESS" in os.environ:  # each page has one tool and leads to another page
            page = int(params.get("cursor", 0))
            send({"id": id, "result": {"tools": [{"name": f"t{page}"}], "nextCursor": str(page + 1)}})
            return
        send({"id": id, "result": {"tools": tools, "_meta": {"a": 1}}})
    elif method == "tools/call":
        call(id, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    elif method == "resources/read":
        contents = [{"uri": params["uri"], "mimeType": "text/plain", "text": log_lines(int(params["uri"][4:]))}]
        send({"id": id, "result": {"contents": contents}})
    elif method == "logging/setLevel":
        send({"method": "notifications/message", "params": {"level": "info", "data": {"new": "level"}}})
        send({"id": id, "result": {}})
    elif method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": id}
        send({"method": "notifications/subscriptions/acknowledged", "params": {"_meta": meta, "new": 1}})
        send({"method": "notifications/resources/updated", "params": {"_meta": meta, "uri": "log:1"}})
        send({"id": id, "result": {"_meta": meta, "resultType": "complete"}})
    elif method == "notifications/cancelled":
        send({"id": params["requestId"], "error": {"code": 0, "message": "Request cancelled"}})
    elif method == "notifications/roots/list_changed":
        send({"method": "notifications/tools/list_changed"})
        send({"method": "notifications/resources/updated", "params": {"uri": "log:1", "new": True}})
    elif id is not None:
        send({"id": id, "result": {"method": method, "params": params}})


if __name__ == "__main__":
    for line in sys.stdin:
        handle(json.loads(line))
