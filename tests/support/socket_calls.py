"""Observe a program and its descendants with strace: where their sockets connect, and what other programs they start.

The program need not cooperate, and a call is seen whether it succeeds or not. A connection through a proxy is seen as
a connection to the proxy.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MISSING: Final = "strace is not installed or may not trace processes (apt-get install strace)"
_CALLS: Final = "connect,sendto,sendmsg,sendmmsg,execve"
_LINE: Final = re.compile(r"[0-9]+ +(?P<call>connect|send\w+)\([0-9]+<(?P<protocol>TCP|UDP|RAW|ICMP|DCCP|SCTP|MPTCP)")
_PROGRAM: Final = re.compile(r'[0-9]+ +execve\("([^"]+)"')
_PORT: Final = re.compile(r"sin6?_port=htons\(([0-9]+)\)")
_ADDRESS: Final = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')


@dataclass(frozen=True, slots=True)
class SocketCall:
    """A call that connects an internet socket, or sends over a socket that needs no connection."""

    call: str
    protocol: str
    address: str = ""
    """Empty if the socket was connected before."""
    port: int = 0

    @property
    def is_packet(self) -> bool:
        """False for connecting a UDP socket, which only asks the system for a route and sends nothing."""
        return self.protocol == "TCP" or self.call != "connect"


def can_trace() -> bool:
    """Return True if strace is installed and the system lets it trace a process."""
    program = shutil.which("strace")
    return program is not None and subprocess.run([program, "-o", "/dev/null", "true"], check=False).returncode == 0


def traced_command(log: str) -> list[str]:
    """Return the beginning of a command that writes the calls of the command after it to `log`."""
    options = ("-f", "-qq", "-yy", "--seccomp-bpf", "-e", f"trace={_CALLS}", "-e", "signal=none", "-s", "0")
    return ["strace", *options, "-o", log, "--"]


def read_calls(lines: Iterable[str]) -> list[SocketCall]:
    """Return the calls of a log. Calls that send over a TCP connection are left out."""
    calls = []
    for line in lines:
        match, port, address = _LINE.match(line), _PORT.search(line), _ADDRESS.search(line)
        if match and (address or match["protocol"] != "TCP"):
            where = (address[1] or address[2]) if address else ""
            calls.append(SocketCall(match["call"], match["protocol"], where, int(port[1]) if port else 0))
    return calls


def read_programs(lines: Iterable[str]) -> set[str]:
    """Return the paths of the programs that were started or looked for."""
    return {match[1] for line in lines if (match := _PROGRAM.match(line))}
