"""Record the lines between a client and a server over stdio: `stdio_recorder.py RECORD [--unnamed] -- COMMAND…`.

Lines are forwarded unchanged and in order. The record has a line of JSON for each: `{"from": "client", "line": …}`.
With `--unnamed`, the client's name is replaced, so that the server treats the client as unknown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

UNNAMED = "--unnamed"
UNKNOWN_NAME = "stranger"


def main() -> int:
    """Run the command until the client closes stdin or the server ends; return the server's exit code."""
    options, command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    lock = threading.Lock()
    pipe = subprocess.PIPE
    with (
        Path(options[0]).open("a", encoding="utf-8") as record,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as server,
    ):
        assert server.stdin is not None and server.stdout is not None

        def forward(who: str, source: IO[bytes], target: IO[bytes]) -> None:
            for line in source:
                with lock:
                    record.write(json.dumps({"from": who, "line": line.decode("utf-8", "replace")}) + "\n")
                    record.flush()
                target.write(_replace_name(line) if who == "client" and UNNAMED in options else line)
                target.flush()
            if who == "client":
                target.close()

        threading.Thread(target=forward, args=("client", sys.stdin.buffer, server.stdin), daemon=True).start()
        forward("server", server.stdout, sys.stdout.buffer)
    return server.returncode


def _replace_name(line: bytes) -> bytes:
    try:
        message = json.loads(line)
    except ValueError:
        return line
    for info in client_infos(message):
        info["name"] = UNKNOWN_NAME
    return json.dumps(message).encode() + b"\n"


def client_infos(message: Any) -> list[dict[str, Any]]:
    """Return the `clientInfo` objects in a message of either protocol era."""
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
