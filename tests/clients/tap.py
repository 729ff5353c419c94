"""Stands between a client and a server over stdio and writes down what both say: `python tap.py RECORD -- COMMAND…`.

Lines pass unchanged and in order. The record is JSON, a line for each line said: `{"from": "client", "line": …}`.
With `--unnamed` the client's name is struck out, so that the server treats it as one it does not know.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

UNNAMED = "--unnamed"
STRANGER = "stranger"


def main() -> int:
    """Run the command until the client closes our stdin or the server ends; its exit code."""
    own, command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    lock = threading.Lock()
    pipe = subprocess.PIPE
    with (
        Path(own[0]).open("a", encoding="utf-8") as record,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as server,
    ):
        assert server.stdin is not None and server.stdout is not None

        def pass_on(who: str, source: IO[bytes], target: IO[bytes]) -> None:
            for line in source:
                with lock:
                    record.write(json.dumps({"from": who, "line": line.decode("utf-8", "replace")}) + "\n")
                    record.flush()
                target.write(_unnamed(line) if who == "client" and UNNAMED in own else line)
                target.flush()
            if who == "client":
                target.close()

        threading.Thread(target=pass_on, args=("client", sys.stdin.buffer, server.stdin), daemon=True).start()
        pass_on("server", server.stdout, sys.stdout.buffer)
    return server.returncode


def _unnamed(line: bytes) -> bytes:
    try:
        message = json.loads(line)
    except ValueError:
        return line
    for info in client_infos(message):
        info["name"] = STRANGER
    return json.dumps(message).encode() + b"\n"


def client_infos(message: Any) -> list[dict[str, Any]]:
    """Where a message says who the client is, in either era."""
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict):
        return []
    meta = params.get("_meta")
    places = [
        params.get("clientInfo"),
        meta.get("io.modelcontextprotocol/clientInfo") if isinstance(meta, dict) else None,
    ]
    return [place for place in places if isinstance(place, dict)]


if __name__ == "__main__":
    sys.exit(main())
