"""An MCP server over stdio with one tool, `flood`, whose result is larger than every client's limit."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

IMPORTANT: Final = "ERROR: the ferry of 17:05 is cancelled"
TEXT: Final = "\n".join(
    IMPORTANT if row == 4_400 else f"row {row}: the ferry leaves at {row % 24:02}:{row % 60:02} from pier {row % 7}"
    for row in range(4_500)
)
"""215 KB."""

_TOOL: Final = {"name": "flood", "description": "Print the timetable.", "inputSchema": {"type": "object"}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request, an empty one for what this server does not know."""
    if method == "initialize":
        information = {"name": "other", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": information,
        }
    results: dict[str, dict[str, Any]] = {
        "tools/list": {"tools": [_TOOL]},
        "tools/call": {"content": [{"type": "text", "text": TEXT}]},
    }
    return results.get(method, {})


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
