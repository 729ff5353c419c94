"""Relay a client's stdin and stdout to the shared server.

The relay waits for its streams in one loop, and never blocks on one of them. It writes whole lines only. While there is
no server, it starts one; if that fails, it starts a private server for its client.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from keyhole.serve.shared import link
from keyhole.serve.shared.address import Address, find_address
from keyhole.serve.shared.conversation import Conversation
from keyhole.serve.shared.known_replies import load_replies

STDIN, STDOUT = 0, 1
"""The descriptors of the client."""
START_SECONDS: Final = 20.0
"""Seconds in which a shared server has to accept the client. A loaded machine takes a few seconds to start one."""
RETRY_SECONDS: Final = 0.02
"""Seconds between two attempts to connect while another relay's server starts."""
RESTART_SECONDS: Final = 1.0
"""Seconds after which the server is started again: the one that another relay started may have failed or ended."""
BUSY: Final = "busy"
"""What a server prints instead of its socket if another one has this socket, which may be starting or ending."""
CHUNK: Final = 65_536
"""Bytes of one read."""
MAX_BUFFERED: Final = 4_000_000
"""Bytes for one direction from which no more are read: several times the largest result."""


def run(environment: Mapping[str, str]) -> int | None:
    """Relay until the client disconnects, and return the exit code; None if the client needs a server of its own."""
    address = find_address(environment) if _is_client() else None
    if address is None or not link.prepare_folder(address.folder):
        return None
    with suppress(KeyboardInterrupt):
        return Relay(address).run()
    return 130


def _is_client() -> bool:
    """Return whether stdin and stdout may be a client's, and not a terminal or closed."""
    try:
        return sys.platform != "win32" and not os.isatty(STDIN) and all(map(os.fstat, (STDIN, STDOUT)))
    except OSError:
        return False


class Relay:
    """One client's connection, and the server that answers it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._conversation = Conversation(load_replies())
        self._server: socket.socket | None = None
        self._private = 0  # the process id of a private server
        self._starting = -1  # the pipe of a starting server
        self._attempt_until = time.monotonic() + START_SECONDS
        self._last_start = 0.0
        self._is_wanted = True  # a server is started at once, so that it is ready for the first call
        self._is_open = True  # the client may send more
        self._from_client, self._from_server = bytearray(), bytearray()  # incomplete lines
        self._to_client, self._to_server = bytearray(), bytearray()

    def run(self) -> int:
        """Relay until the client or its private server ends. Return the exit code."""
        try:
            while not self._is_done():
                if self._server is None and self._wants_server():
                    self._connect()
                self._step()
        except BrokenPipeError:  # the client ended
            return 0
        if self._server is not None:
            self._server.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._private, 0)[1]) if self._private else 0

    def _is_done(self) -> bool:
        """Return whether the client has closed its stream and has got everything."""
        has_all = not self._to_client and (self._server is None and not self._conversation.is_waiting)
        return not self._is_open and has_all

    def _wants_server(self) -> bool:
        return self._is_wanted or self._conversation.is_waiting

    def _connect(self) -> None:
        """Connect to the shared server, start it if there is none, and start a private one if that fails."""
        now = time.monotonic()
        try:
            if self._private == 0 and (server := link.connect(self._address)):
                self._begin(server)
            elif self._private == 0 and now < self._attempt_until:
                if self._starting < 0 and now - self._last_start > RESTART_SECONDS:
                    self._starting, self._last_start = link.start_server(self._address), now
            else:
                self._start_private()
        except OSError:
            self._start_private()

    def _start_private(self) -> None:
        server, self._private = link.start_private()
        self._begin(server)

    def _begin(self, server: socket.socket) -> None:
        self._close_start()
        self._server, self._is_wanted = server, False
        self._from_server.clear()
        self._to_server[:] = self._conversation.open_again()

    def _close_start(self) -> None:
        if self._starting >= 0:
            os.close(self._starting)
            self._starting = -1

    def _step(self) -> None:
        """Wait until a stream is ready, and read or write once on each that is."""
        poll = select.poll()
        for stream, events in self._interests().items():
            poll.register(stream, events)
        is_retrying = self._server is None and self._wants_server()
        ready = dict(poll.poll(RETRY_SECONDS * 1_000 if is_retrying else None))
        if self._starting in ready:
            self._read_start()
        if STDIN in ready:
            self._read_client()
        if events := ready.get(STDOUT, 0):
            self._write_client(events)
        if self._server is not None and (events := ready.get(self._server.fileno(), 0)):
            self._exchange(self._server, events)

    def _interests(self) -> dict[int, int]:
        interests = {}
        if self._is_open and len(self._to_server) < MAX_BUFFERED:
            interests[STDIN] = select.POLLIN
        interests[STDOUT] = select.POLLOUT if self._to_client else 0  # 0: only its end
        if self._starting >= 0:
            interests[self._starting] = select.POLLIN
        if self._server is not None:
            reads = select.POLLIN if len(self._to_client) < MAX_BUFFERED else 0
            interests[self._server.fileno()] = reads | (select.POLLOUT if self._to_server else 0)
        return interests

    def _read_start(self) -> None:
        """Read the socket of the started server. If it failed, the client gets a private one, which says why."""
        path = os.fsdecode(os.read(self._starting, CHUNK)).removesuffix("\n")
        self._close_start()
        if path == self._address.socket:
            self._last_start = 0.0
        elif path != BUSY:
            self._attempt_until = 0.0

    def _read_client(self) -> None:
        data = os.read(STDIN, CHUNK)
        if not data:
            self._is_open, self._is_wanted = False, False
            data = b"\n" if self._from_client else b""  # a last line without its break
        for line in _complete_lines(self._from_client, data):
            to_server, reply = self._conversation.take_from_client(line, is_connected=self._server is not None)
            self._to_server += to_server
            self._to_client += reply
        self._end_sending()

    def _end_sending(self) -> None:
        """Tell the server that the client sends no more, once it has got everything."""
        if not self._is_open and self._server is not None and not self._to_server:
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_WR)

    def _write_client(self, events: int) -> None:
        if events & select.POLLOUT:  # a pipe that is ready takes PIPE_BUF bytes without blocking
            del self._to_client[: os.write(STDOUT, self._to_client[: select.PIPE_BUF])]
        elif events & (select.POLLERR | select.POLLHUP):
            raise BrokenPipeError

    def _exchange(self, server: socket.socket, events: int) -> None:
        try:
            if events & select.POLLOUT and self._to_server:
                del self._to_server[: server.send(self._to_server[:CHUNK], socket.MSG_DONTWAIT)]
                self._end_sending()
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                data = server.recv(CHUNK, socket.MSG_DONTWAIT)
                if not data:
                    raise ConnectionError
                for line in _complete_lines(self._from_server, data):
                    self._to_client += self._conversation.take_from_server(line)
        except BlockingIOError:
            pass
        except OSError:
            self._lose_server(server)

    def _lose_server(self, server: socket.socket) -> None:
        """Close the connection. Unanswered requests go to the next server; after a private one, there is none."""
        server.close()
        self._server = None
        self._attempt_until = time.monotonic() + START_SECONDS
        self._to_server.clear()
        self._to_client += self._conversation.lose_server()
        if self._private or not self._is_open:
            self._is_open = False
            self._conversation.give_up()


def _complete_lines(buffer: bytearray, data: bytes) -> list[bytes]:
    """Add data to a buffer; remove and return its complete lines."""
    buffer += data
    if b"\n" not in data:
        return []
    complete, _, rest = bytes(buffer).rpartition(b"\n")
    buffer[:] = rest
    return [line + b"\n" for line in complete.split(b"\n")]
