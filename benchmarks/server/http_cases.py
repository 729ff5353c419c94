"""Send hostile and odd HTTP requests to the real server over raw sockets, and check the statuses.

    python -m benchmarks.server.http_cases FILE [--idle 1000] [--rows 5]

Each line of FILE is a JSON object: `case` (headers, method, path, body, rpc) and the allowed statuses as `expect`, or a
`check` in words, which is skipped. Each row is sent to `keyhole serve --http` in three profiles: without
authentication, with a token file, and stateless with a real OAuth issuer on loopback. Also checked: the log at DEBUG
contains no token, memory grows by at most 60 MB, and `tools/list` takes less than a second meanwhile. Takes about a
minute.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any, Final

import jwt

from benchmarks.rows import (
    Check,
    has_fields,
    is_anything,
    is_latin1,
    is_text,
    list_of,
    load_rows,
    map_of,
    one_of,
)
from keyhole.config.config import Config
from keyhole.config.load import parse_config
from keyhole.extensions.hosted.authenticate import add_authentication, create_verifier
from keyhole.extensions.hosted.bodies import MAX_OPENERS, BodyMiddleware, check_body
from keyhole.extensions.hosted.host_check import add_host_check
from keyhole.extensions.hosted.token_file import Grant, format_grant, hash_token, new_token
from keyhole.serve.http.asgi import App, Message, Receive, Scope, Send
from tests.support.http_server import KEYHOLE, Server, run_server, send
from tests.support.issuer import AUDIENCE, Issuer, issuer, private_key

CLIENT: Final = {"name": "cases", "version": "1"}
LEGACY: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
MODERN: Final = "2026-07-28"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
MAX_GROWTH: Final = 60_000
"""Maximum kilobytes by which all rows together increase the server's memory."""
MAX_CROWD: Final = 150_000
"""Maximum kilobytes that 200 concurrent large bodies add: the buffers of uvicorn and asyncio take about 300 for each
connection before Keyhole's middleware runs, and freed memory is not returned at once."""
INTERNAL_PATH: Final = "/srv/private/path of the server"
FAILING_SERVER: Final = f"""
import sys
from keyhole.cli.main import main
from keyhole.serve import tenants_loader
def broken(self):
    raise RuntimeError({INTERNAL_PATH!r})
tenants_loader.TenantsLoader._load = broken
sys.exit(main(["serve", "--http", "--port", "0"]))
"""


def encode_request(server: Server, row: dict[str, Any], session: str = "") -> bytes:
    """Return the bytes of a row's request."""
    body, more = _body(row)
    token = server.tokens.get("valid")
    fields: dict[str, str | None] = {
        "Host": f"127.0.0.1:{server.port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {token}" if token else None,
        "Mcp-Session-Id": session or None,
        **more,
    }
    for name, value in row.get("headers", {}).items():
        fields[name] = None if value is None else _fill_placeholders(value, server)
    pairs = [(name, value) for name, value in fields.items() if value is not None]
    if two := row.get("raw_two_auth"):
        pairs = [pair for pair in pairs if pair[0] != "Authorization"]
        pairs += [("Authorization", _fill_placeholders(value, server)) for value in two]
    method, path = row.get("method", "POST"), _fill_placeholders(row.get("path", "/mcp"), server)
    if "Transfer-Encoding" not in fields and method == "POST":
        pairs.append(("Content-Length", str(len(body))))
    head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + (body if method == "POST" else b"")


def _fill_placeholders(text: str, server: Server) -> str:
    text = text.replace("{port}", str(server.port))
    for name, token in server.tokens.items():
        text = text.replace(f"<{name}>", token)
    return text


def _body(row: dict[str, Any]) -> tuple[bytes, dict[str, str | None]]:
    body = row.get("body")
    if isinstance(body, str):
        return body.encode(), {}
    if isinstance(body, dict):
        return GENERATED[body["gen"]]()
    if row.get("rpc_legacy") == "tools/call":
        return message("tools/call", {"name": "read_artifact", "arguments": {"id": "none"}}), {}
    if method := row.get("rpc"):
        return message(method, {"uri": row["uri"]} if "uri" in row else {}), {}
    return message("initialize", LEGACY), {}


def message(method: str, params: dict[str, Any]) -> bytes:
    """Return a JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _nested() -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}}"


GENERATED: dict[str, Callable[[], tuple[bytes, dict[str, str | None]]]] = {
    "deep50000": lambda: (b"[" * 50_000 + b"]" * 50_000, {}),
    "deep50000 in a message": lambda: (_nested(), {}),
    "deep50000 in a modern message": lambda: (_nested(), {"Mcp-Protocol-Version": MODERN}),
    "5MB": lambda: (message("tools/list", {"a": "x" * 5_000_000}), {}),
    "5MB in chunks": lambda: (
        b"4c4b40\r\n" + b"x" * 5_000_000 + b"\r\n0\r\n\r\n",
        {"Transfer-Encoding": "chunked"},
    ),
    "chunked_garbage": lambda: (b"ZZ\r\nno chunk\r\n", {"Transfer-Encoding": "chunked"}),
    "gzip_request_bomb": lambda: (gzip.compress(bytes(50_000_000)), {"Content-Encoding": "gzip"}),
}

FIELDS: Final[dict[str, Check]] = {
    "case": has_fields(
        {},
        {
            "name": is_text,
            "headers": lambda headers: (
                map_of(lambda value: value is None or is_latin1(value))(headers) and all(map(is_latin1, headers))
            ),
            "method": is_latin1,
            "path": is_latin1,
            "raw_two_auth": list_of(is_latin1),
            "body": lambda body: is_text(body) or has_fields({"gen": one_of(*GENERATED)})(body),
            "rpc": is_text,
            "rpc_legacy": is_text,
            "profile": is_text,
            "uri": is_anything,
        },
    ),
    "expect": list_of(lambda outcome: isinstance(outcome, int | str)),  # a word is the outcome of a `check`
}

OWN_ROWS: tuple[dict[str, Any], ...] = (
    *({"case": {"name": f"body {gen}", "body": {"gen": gen}}, "expect": [400]} for gen in list(GENERATED)[1:3]),
    {"case": {"name": "body 5MB in chunks", "body": {"gen": "5MB in chunks"}}, "expect": [413]},
    {"case": {"name": "two Hosts", "headers": {"Host": "127.0.0.1:{port}\r\nHost: evil.example"}}, "expect": [400]},
    {
        "case": {"name": "two Origins", "headers": {"Origin": "http://localhost:{port}\r\nOrigin: null"}},
        "expect": [400],
    },
    {"case": {"name": "Host localhost", "headers": {"Host": "localhost"}}, "expect": [200]},
    {"case": {"name": "Host LocalHost:{port}", "headers": {"Host": "LocalHost:{port}"}}, "expect": [200]},
    {"case": {"name": "Host with another port", "headers": {"Host": "localhost:1"}}, "expect": [421]},
    {"case": {"name": "Host in absolute form", "path": "http://evil.example/mcp"}, "expect": [404]},
    {"case": {"name": "UTF-16", "headers": {"Content-Type": "application/json; charset=utf-16"}}, "expect": [415]},
)
"""Rows in addition to the file's."""


def session_of(server: Server) -> str:
    """Open a session of the legacy era and return its id; return "" if the server is stateless."""
    found = re.search(r"(?i)mcp-session-id: (\S+)", send(server.port, encode_request(server, {})).text)
    return found[1] if found else ""


def find_fault(server: Server, profile: str, row: dict[str, Any]) -> str:
    """Return the fault of the answer to a row, or ""."""
    case, expect = row["case"], row["expect"]
    try:
        session = session_of(server) if "rpc" in case else ""
        reply = send(server.port, encode_request(server, case, session))
    except (OSError, ValueError) as error:
        return f"no HTTP answer: {type(error).__name__}: {error}"
    if reply.status not in expect:
        return f"{reply.status}, not {expect}: {reply.text[-300:]}"
    if "rpc" in case and ("root:" in reply.text or '"error"' not in reply.text):
        return f"no JSON-RPC error: {reply.text[-300:]}"
    if case.get("rpc") == "resources/read" and not re.search(r'"code": ?-32602\b', reply.text):
        return f"not -32602: {reply.text[-300:]}"
    if case.get("name") == "no auth (hosted)" and "www-authenticate: bearer" not in reply.text.lower():
        return "no WWW-Authenticate"
    if profile == "oauth" and reply.status == 401 and "resource_metadata=" not in reply.text:
        return "WWW-Authenticate without resource_metadata"
    return ""


def memory(server: Server) -> int:
    """Return the resident memory of a server, in kilobytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0])


def run_rows(server: Server, profile: str, rows: Sequence[dict[str, Any]]) -> int:
    """Send every row; return the number of failures."""
    failed, before = 0, memory(server)
    for row in rows:
        if "check" in row["case"] or (profile == "plain" and "profile" in row["case"]):
            continue
        start = time.perf_counter()
        beside: list[float] = []
        other = Thread(target=lambda taken=beside: taken.append(time_list(server)))
        other.start()
        fault = find_fault(server, profile, row)
        other.join()
        slow = "" if beside and beside[0] < 1 else f"tools/list took {beside} s meanwhile"
        if fault or slow:
            failed += 1
            print(f"  {row.get('id', 'own')} {row['case'].get('name', '')}: {fault or slow}")
        if time.perf_counter() - start > 5:
            print(f"  {row['case'].get('name', '')}: {time.perf_counter() - start:.1f} s")
    growth = memory(server) - before
    leaked = [name for name, token in server.tokens.items() if token in server.log.read_text(errors="replace")]
    print(f"{profile}: {failed} failed, memory +{growth / 1_000:.1f} MB, tokens in the log: {leaked or 'none'}")
    return failed + (growth > MAX_GROWTH) + len(leaked)


def time_list(server: Server) -> float:
    """Return the seconds of a tools/list in the modern era, which needs no session."""
    start = time.perf_counter()
    body = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    request = encode_request(server, {"headers": body, "body": message("tools/list", {"_meta": META}).decode()})
    reply = send(server.port, request)
    assert reply.status == 200, reply
    return time.perf_counter() - start


def check_default_address(server: Server) -> str:
    """Return a fault unless the server listens on 127.0.0.1 only."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    local = {row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{server.port:04X}")}
    return "" if local == {f"0100007F:{server.port:04X}"} else f"listens on {local}"


def check_refusal() -> str:
    """Return a fault unless the server refuses to start on public addresses without the settings that protect it."""
    for host in ("0.0.0.0", "::"):  # noqa: S104 - they must be refused
        with tempfile.TemporaryDirectory() as home:
            environment = {"PATH": os.environ["PATH"], "KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home}
            arguments = (*KEYHOLE, "serve", "--http", "--host", host, "--port", "0")
            run = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=20, check=False)
        if run.returncode == 0 or "KEYHOLE_ALLOWED_HOSTS" not in run.stderr or "KEYHOLE_TOKENS_FILE" not in run.stderr:
            return f"{host}: exit {run.returncode}, {run.stderr}"
    return ""


def check_forced() -> str:
    """Return a fault if the answer exposes an internal exception, in either era."""
    call = {"name": "read_artifact", "arguments": {"id": "none"}}
    with run_server({}, (sys.executable, "-c", FAILING_SERVER)) as server:
        headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "read_artifact"}
        modern = {"headers": headers, "body": message("tools/call", {**call, "_meta": META}).decode()}
        legacy = {"body": message("tools/call", call).decode()}
        for row, session in ((modern, ""), (legacy, session_of(server))):
            reply = send(server.port, encode_request(server, row, session))
            if reply.status not in {200, 500} or re.search(f'Traceback|File "|KEYHOLE_|{INTERNAL_PATH}', reply.text):
                return f"{reply.status} {reply.text[-500:]}"
    return ""


def check_idle(server: Server, count: int) -> str:
    """Print the times of tools/list with `count` idle connections; return a fault if they are too slow."""
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        times = sorted(time_list(server) for _ in range(100))
    p95 = times[94]
    print(f"{count} idle connections: tools/list p50 {times[49] * 1e3:.0f} ms, p95 {p95 * 1e3:.0f} ms")
    return "" if p95 < 1 else f"p95 {p95:.2f} s"


def check_many_bodies(server: Server, count: int) -> str:
    """Print memory and tools/list times with `count` incomplete large bodies; return a fault if one is too large."""
    before = memory(server)
    head = encode_request(server, {"body": ""}).replace(b"Content-Length: 0", b"Content-Length: 900000")
    with ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            with suppress(OSError):  # the server was full, so it answered and closed
                connection.sendall(head + b"{" + b" " * 890_000)
        times = sorted(time_list(server) for _ in range(20))
        growth = memory(server) - before
    print(
        f"{count} bodies of 0.9 MB that never end: memory +{growth / 1_000:.0f} MB, tools/list {times[-1] * 1e3:.0f} ms"
    )
    return "" if growth < MAX_CROWD and times[-1] < 1 else f"memory +{growth} KB, tools/list {times[-1]:.2f} s"


async def overhead(server: Issuer, folder: Path, calls: int = 2_000) -> None:
    """Print the microseconds that the middleware adds to a request, and the time of the worst body."""
    body = message("tools/call", {"name": "read_artifact", "arguments": {"id": "a" * 16}})
    for name, (settings, tokens) in {"tokens": file_tokens(folder), "oauth": oauth_tokens(server)}.items():
        app = build_middleware(parse_config({**settings, "KEYHOLE_ALLOWED_HOSTS": "127.0.0.1"}))
        authorization = f"Bearer {tokens['valid']}".encode()
        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"authorization", authorization)]
        times = sorted([await time_request(app, body, headers) for _ in range(calls)])
        print(
            f"middleware with {name}: p50 {times[calls // 2] * 1e6:.0f} us, p95 {times[calls * 95 // 100] * 1e6:.0f} us"
        )
    start = time.perf_counter()
    assert check_body(b'{"a":[' + b"[]," * (MAX_OPENERS - 2) + b'"' + b"a" * 900_000 + b'"]}') is None
    print(f"a megabyte with the maximum of brackets: {(time.perf_counter() - start) * 1e3:.0f} ms")


def build_middleware(config: Config) -> App:
    """Return the middleware around an application that answers at once."""

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    return add_host_check(add_authentication(BodyMiddleware(app, 1_000_000), config, create_verifier(config)), config)


async def time_request(app: App, body: bytes, headers: list[tuple[bytes, bytes]]) -> float:
    """Return the seconds until an application has answered a request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "server": ("127.0.0.1", 1), "headers": headers}
    start = time.perf_counter()
    await app(scope, receive, send)
    taken = time.perf_counter() - start
    assert sent[0]["status"] == 200, sent
    return taken


def file_tokens(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings of a server with a token file, and tokens for it."""
    valid, expired, now = new_token(), new_token(), datetime.now(UTC)
    grants = (Grant(hash_token(valid), "alice", now), Grant(hash_token(expired), "bob", now, now - timedelta(days=1)))
    path = folder / "tokens"
    path.write_text("\n".join(map(format_grant, grants)))
    path.chmod(0o600)
    forged = {name: new_token() for name in ("wrong-audience", "alg-none", "other-issuer")}
    return {"KEYHOLE_TOKENS_FILE": str(path)}, {"valid": valid, "expired": expired, **forged}


def oauth_tokens(server: Issuer) -> tuple[dict[str, str], dict[str, str]]:
    """Return the settings of a stateless server with a real issuer, and tokens for it."""
    tokens = {
        "valid": server.token(),
        "expired": server.token(exp=int(time.time()) - 3_600),
        "wrong-audience": server.token(aud="https://other.example/mcp"),
        "alg-none": jwt.encode(server.claims(), "", "none", {"kid": "first"}),
        "other-issuer": server.token(iss="https://evil.example", key=private_key("RS256", "evil")),
    }
    settings = {"KEYHOLE_OAUTH_ISSUER": server.url, "KEYHOLE_PUBLIC_URL": AUDIENCE, "KEYHOLE_STATELESS": "on"}
    return settings, tokens


def main() -> int:
    """Run all rows in all profiles; return 1 if one fails."""
    parser = argparse.ArgumentParser(description="Send hostile HTTP requests to the real server.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--idle", type=int, default=1_000, help="idle connections, default 1000")
    parser.add_argument("--rows", type=int, help="only the first rows")
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, arguments.idle * 2 + 200), hard))
    rows, failed = load_rows(arguments.file, FIELDS)
    rows = [*rows[: arguments.rows], *OWN_ROWS]
    hosted = {"KEYHOLE_ALLOWED_HOSTS": "127.0.0.1,localhost"}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        real = stack.enter_context(issuer())
        asyncio.run(overhead(real, folder))
        profiles = {"plain": ({}, {}), "tokens": file_tokens(folder), "oauth": oauth_tokens(real)}
        for profile, (settings, tokens) in profiles.items():
            environment = {**settings, **(hosted if tokens else {})}
            with run_server(environment) as server:
                server.tokens = tokens
                failed += run_rows(server, profile, rows)
                if profile == "plain":
                    checks = {
                        "default address": check_default_address(server),
                        "idle connections": check_idle(server, arguments.idle),
                        "many bodies": check_many_bodies(server, arguments.idle // 5),
                        "refusal to start": check_refusal(),
                        "forced exception": check_forced(),
                    }
                    failed += sum(map(bool, checks.values()))
                    for name, fault in checks.items():
                        print(f"{name}: {fault or 'passed'}")
    print(f"{len(rows)} rows, {failed} failures in all profiles together")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
