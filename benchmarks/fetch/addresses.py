"""Check which addresses a real server connects to.

    python -m benchmarks.fetch.addresses ROWS ORACLE [--peer PYTHON]
    python -m benchmarks.fetch.addresses --rebinding 400

The first form fetches every URL of a file of rows through the server over stdio, under an oracle: a folder whose
`sitecustomize.py` answers all lookups from the row, records every connect and redirects it to loopback. ROWS and ORACLE
are not in the repository. A row has `url`, `expect` (blocked, invalid or allowed) and optionally `also_ok`, `group`,
`dns`, `http` and `connect_only`, the addresses to which a connection is permitted. Proxies in the `env` of any row are
in the server's environment for all rows. A row whose `dns` answers for `ipv4only.arpa` gets its own server, because a
server remembers the NAT64 prefix. Rows that cannot be run are named.

With `--peer`, the server is the mcp-server-fetch of the environment of PYTHON, with its defaults except robots.txt.
It uses the proxies of its environment, so only the rows with proxies get them. An error without a connection counts as
a refusal.

The second form patches nothing. In a separate network namespace (Linux, `unshare -rmn`, no root), a DNS server on
loopback rebinds names between public and private addresses of that namespace. The benchmark counts connections to the
private address by Keyhole and, as a control, by a client that checks a name first and then connects to the name.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from benchmarks.rows import Check, has_fields, is_anything, is_number, is_text, list_of, load_rows, map_of, one_of
from keyhole.fetch.addresses import DISCOVERY_NAME

SERVER = Path(__file__).resolve().parents[2] / "server"
REFUSALS = ("blocked_address", "invalid_url", "invalid_argument", "scheme_not_allowed")
PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.1"
PEER = ("-m", "mcp_server_fetch", "--ignore-robots-txt")
KINDS = ("once", "flip", "mixed", "dual")
"""Ways in which a name resolves: public, then private; private, then public; both at once; A public and AAAA ::1."""


def _is_address(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(ip_address(value))
    except ValueError:
        return False


def _is_environment(value: Any) -> bool:
    has_texts = map_of(lambda text: is_text(text) and "\0" not in text)
    return has_texts(value) and all(re.fullmatch(r"\w{1,9}_proxy", name, re.IGNORECASE) for name in value)


FIELDS: dict[str, Check] = {"url": is_anything, "expect": one_of("blocked", "invalid", "allowed")}
OPTIONAL_FIELDS: dict[str, Check] = {
    "group": is_text,
    "also_ok": list_of(is_text),
    "dns": map_of(lambda answers: list_of(_is_address)(answers) or list_of(list_of(_is_address))(answers)),
    "http": map_of(has_fields({"status": is_number, "location": is_text})),
    "env": _is_environment,
    "connect_only": list_of(is_text),
}
DEFAULTS: dict[str, Any] = {"group": "none", "also_ok": [], "dns": {}, "http": {}, "env": {}, "connect_only": []}

Ask = Any
"""A function that calls `web_fetch` with a URL and returns the text of the result."""


def main() -> int:
    """Print a table. Return 0 if there was no forbidden connection and every row could be run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=Path)
    parser.add_argument("oracle", nargs="?", type=Path)
    parser.add_argument("--peer", type=Path, metavar="PYTHON")
    parser.add_argument("--rebinding", type=int, metavar="FETCHES")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return run_rebinding(arguments.rebinding)
    if arguments.rebinding:
        command = ["unshare", "-rmn", sys.executable, "-m", "benchmarks.fetch.addresses", "--inside", "--rebinding"]
        return subprocess.run([*command, str(arguments.rebinding)], check=False).returncode
    if not (arguments.rows and arguments.oracle):
        parser.error("give ROWS and ORACLE, or --rebinding")
    return run_rows(arguments.rows, arguments.oracle, arguments.peer)


@contextmanager
def run_server(peer: Path | None = None, **environment: str) -> Iterator[Ask]:
    """Run this checkout's server over stdio with an empty store, or a peer's, until the block ends."""
    with tempfile.TemporaryDirectory() as home:
        python_path = os.pathsep.join(filter(None, [environment.pop("PYTHONPATH", ""), str(SERVER)]))
        settings = {
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": home,
            "KEYHOLE_FRESHNESS": "0",
            "PYTHONPATH": python_path,
            **environment,
        }
        process = subprocess.Popen(
            [str(peer), *PEER] if peer else [sys.executable, "-m", "keyhole", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **settings},
            text=True,
        )
        numbers = itertools.count()

        def call(method: str, parameters: dict[str, Any]) -> Any:
            assert process.stdin
            assert process.stdout
            number = next(numbers)
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            print(json.dumps(message), file=process.stdin, flush=True)
            return next(answer for line in process.stdout if (answer := json.loads(line)).get("id") == number)

        def ask(url: Any) -> str:
            answer = call("tools/call", {"name": "fetch" if peer else "web_fetch", "arguments": {"url": url}})
            if "error" in answer:
                return f"invalid_argument: {answer['error']['message']}"
            text = str(answer["result"]["content"][0]["text"])
            return f"blocked_address: {text}" if peer and answer["result"].get("isError") else text

        client = {"name": "addresses", "version": "1"}
        call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        assert process.stdin
        print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=process.stdin, flush=True)
        try:
            yield ask
        finally:
            process.stdin.close()
            process.wait(10)


def run_rows(rows_file: Path, oracle: Path, peer: Path | None = None) -> int:
    """Fetch the URL of every row under the oracle, and print the table by group."""
    found, unusable = load_rows(rows_file, FIELDS, OPTIONAL_FIELDS)
    rows = [{**DEFAULTS, **row} for row in found]
    proxies = {name: value for row in rows for name, value in row["env"].items()}
    table: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as scratch:
        answers, log = Path(scratch, "answers.json"), Path(scratch, "connects.jsonl")
        answers.write_text("{}")
        hooks = {"PYTHONPATH": str(oracle.resolve()), "ORACLE_CFG": str(answers), "ORACLE_LOG": str(log)}
        numbers = itertools.count(1)

        def fetch(row: dict[str, Any], ask: Ask) -> None:
            number = next(numbers)
            answers.write_text(json.dumps({"dns": row["dns"], "http": row["http"]}))
            # The oracle reads the file again when its modification time has changed, so each row sets another time.
            os.utime(answers, ns=(number, number))
            log.write_text("")
            result = ask(row["url"])
            connects = [ip_address(json.loads(line)[0]) for line in log.read_text().splitlines()]
            facts = judge(row, result, connects)
            table[row["group"]].update(facts)
            if not facts["right"]:
                print("wrong:", row["url"], "|", row["expect"], "|", *result.splitlines()[:1], file=sys.stderr)

        alone = [row for row in rows if DISCOVERY_NAME in row["dns"] or (peer and row["env"])]
        with run_server(peer, **hooks, **({} if peer else proxies)) as shared:
            for row in rows:
                if row not in alone:
                    fetch(row, shared)
        for row in alone:
            with run_server(peer, **hooks, **(row["env"] if peer else proxies)) as own:
                fetch(row, own)
    return int(_print(table) or unusable > 0)


def judge(row: dict[str, Any], result: str, connects: list[Any]) -> Counter[str]:
    """Return the counts that a row adds to its group. `connects`: the addresses of all connections."""
    permitted = {ip_address(address) for address in row["connect_only"] if _is_address(address)}
    forbidden = sum(address not in permitted for address in connects)
    refused = result.startswith(REFUSALS)
    verdicts = {row["expect"], *row["also_ok"]}
    right = not forbidden and (("allowed" in verdicts and bool(connects)) or (verdicts != {"allowed"} and refused))
    return Counter(rows=1, right=int(right), forbidden=forbidden, allowed=int(row["expect"] == "allowed")) + Counter(
        reached=int(row["expect"] == "allowed" and bool(connects) and not forbidden)
    )


def _print(table: dict[str, Counter[str]]) -> int:
    columns = ("rows", "right", "forbidden", "allowed", "reached")
    total = sum(table.values(), Counter[str]())
    print(
        "| group | rows | right verdicts | forbidden connects | must be allowed | reached |\n|---|--:|--:|--:|--:|--:|"
    )
    for group, counts in [*sorted(table.items()), ("all", total)]:
        print(f"| {group} | " + " | ".join(str(counts[column]) for column in columns) + " |")
    return 1 if total["forbidden"] else 0


def run_rebinding(fetches: int) -> int:
    """Count connections to the private address, of Keyhole and of the control. Runs inside the namespace."""
    with tempfile.NamedTemporaryFile("w") as resolver:
        resolver.write("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
        resolver.flush()
        setup = ["ip link set lo up", *(f"ip addr add {address}/32 dev lo" for address in (PUBLIC, PRIVATE))]
        for command in [*setup, f"mount --bind {resolver.name} /etc/resolv.conf"]:
            subprocess.run(command.split(), check=True)
        connects = serve_site()
        serve_dns()
        names = [f"{KINDS[number % len(KINDS)]}-{number}" for number in range(fetches)]
        print("| client | fetches | pages read | refused | connects to the public site | to the private address |")
        print("|---|--:|--:|--:|--:|--:|")
        with run_server(KEYHOLE_ROBOTS="off") as ask:
            results = [ask(f"http://{name}.keyhole.example/") for name in names]
        read = sum("Here is the page" in text for text in results)
        refused = sum(text.startswith("blocked_address") for text in results)
        print(f"| keyhole | {fetches} | {read} | {refused} | {connects['public']} | {connects['private']} |")
        failed = connects["private"]
        connects.clear()
        read = sum(check_then_fetch(f"{name}.control.example") for name in names)
        row = f"{fetches} | {read} | {fetches - read} | {connects['public']} | {connects['private']}"
        print(f"| control: check, then fetch | {row} |")
    return 1 if failed else 0


def check_then_fetch(host: str) -> bool:
    """Check every address of a host, then connect by name, as many clients do. Return True if the page was read."""
    answers = socket.getaddrinfo(host, 80, type=socket.SOCK_STREAM)
    if not all(ip_address(answer[4][0]).is_global for answer in answers):
        return False
    connection = http.client.HTTPConnection(host, timeout=5)
    connection.request("GET", "/")
    return connection.getresponse().status == 200


def serve_site() -> Counter[str]:
    """Serve a page on every address of this namespace; return the counts of connections, updated during the run."""
    connects: Counter[str] = Counter()
    listener = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
    page = b"<title>Page</title><p>Here is the page, whichever address it was asked at."
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n"

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                public = connection.getsockname()[0] == f"::ffff:{PUBLIC}"
                connects["public" if public else "private"] += 1
                connection.recv(65_536)
                connection.sendall(head.encode() + page)

    threading.Thread(target=serve, daemon=True).start()
    return connects


def serve_dns() -> None:
    """Run a DNS server on loopback that answers by the kind in the name's first label and the number of its lookups."""
    lookups: Counter[bytes] = Counter()
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def serve() -> None:
        while True:
            query, client = server.recvfrom(4_096)
            end = query.index(b"\x00", 12) + 5
            name, (kind,) = query[12 : end - 4], struct.unpack(">H", query[end - 4 : end - 2])
            addresses = _addresses(name[1:].partition(b"-")[0].decode(), kind, lookups[name])
            lookups[name] += kind == 1
            head = query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(addresses), 0, 0)
            records = (b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(a)) + a for a in addresses)
            server.sendto(head + query[12:end] + b"".join(records), client)

    threading.Thread(target=serve, daemon=True).start()


def _addresses(kind: str, record: int, times: int) -> list[bytes]:
    public, private = socket.inet_aton(PUBLIC), socket.inet_aton(PRIVATE)
    if record == 28:  # AAAA
        return [socket.inet_pton(socket.AF_INET6, "::1")] if kind == "dual" else []
    if record != 1:  # A
        return []
    first, later = {"once": (public, private), "flip": (private, public)}.get(kind, (public, public))
    return [public, private] if kind == "mixed" else [later if times else first]


if __name__ == "__main__":
    sys.exit(main())
