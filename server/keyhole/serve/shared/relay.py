"""Relay a client's stdin and stdout to the shared server.

The relay waits for its streams in one loop, and never blocks on one of them. It writes whole lines only. While there is
no server, it starts one; if that fails, it starts a private server for its client. A server that does not answer is
ended, and its calls go to a private server. The client's lines are read only as fast as they are answered.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from keyhole.serve.shared import link
from keyhole.serve.shared.address import Address, find_address
from keyhole.serve.shared.connection_state import PING, ConnectionState, load_replies
from keyhole.serve.shared.link import TICK_SECONDS, Watchdog

STDIN, STDOUT = 0, 1
"""The descriptors of the client."""
START_SECONDS: Final = 20.0
"""Seconds in which a shared server has to start, and a private one to answer. A loaded machine takes a few seconds."""
GREETING_SECONDS: Final = 1.5
"""Seconds in which a running server has to accept the client, which gets a private one otherwise."""
CALM_SECONDS: Final = 1.0
"""Seconds of a call in which a server says nothing, after which it is asked whether it runs. Most calls take less."""
RETRY_SECONDS: Final = 0.02
"""Seconds between two attempts to connect while another relay's server starts."""
RESTART_SECONDS: Final = 1.0
"""Seconds after which the server is started again: the one that another relay started may have failed or ended."""
BUSY: Final = "busy"
"""What a server prints instead of its socket if another one has this socket, which may be starting or ending."""
CHUNK: Final = 65_536
"""Bytes of one read."""
MAX_BUFFERED: Final = 4_000_000
"""Maximum buffered bytes of one direction; beyond it nothing is read. It is several times the largest result."""


def run(environment: Mapping[str, str]) -> int | None:
    """Relay until the client disconnects, and return the exit code; None if the client needs a server of its own."""
    address = find_address(environment) if _is_client() else None
    if address is None or not link.prepare_folder(address.folder):
        return None
    with suppress(KeyboardInterrupt):
        return StdioRelay(address).run()
    return 130


def _is_client() -> bool:
    """Return whether stdin and stdout may be a client's, and not a terminal or closed."""
    try:
        return sys.platform != "win32" and not os.isatty(STDIN) and all(map(os.fstat, (STDIN, STDOUT)))
    except OSError:
        return False


class StdioRelay:
    """One client's connection, and the server that answers it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._state = ConnectionState(load_replies())
        self._watchdog = Watchdog(address)
        self._server: socket.socket | None = None
        self._private = 0  # the process id of a private server
        self._is_alone = False  # the client gets a private server
        self._starting = -1  # the pipe of a starting server
        self._attempt_until = 0.0  # 0: there is no attempt to get a server
        self._last_start = 0.0
        self._silence = 0.0  # seconds in which a server that has to answer said nothing
        self._has_started = False  # the server has said something
        self._is_wanted = True  # a server is started at once, so that it is ready for the first call
        self._is_open = True  # the client may send more
        self._lines: deque[bytes] = deque()  # of the client, not yet taken
        self._from_client, self._from_server = bytearray(), bytearray()  # incomplete lines
        self._to_client, self._to_server = bytearray(), bytearray()

    def run(self) -> int:
        """Relay until the client or its private server ends. Return the exit code."""
        try:
            while not self._is_done():
                if self._server is None and self._wants_server():
                    self._connect()
                self._step()
                self._watch()
        except BrokenPipeError:  # the client ended
            if self._private:
                os.kill(self._private, signal.SIGTERM)
            return 0
        return os.waitstatus_to_exitcode(os.waitpid(self._private, 0)[1]) if self._private else 0

    def _is_done(self) -> bool:
        """Return whether the client has closed its stream and has got everything."""
        has_all = not self._lines and not self._to_client and not self._state.is_waiting
        return not self._is_open and has_all and self._server is None

    def _wants_server(self) -> bool:
        return self._is_wanted or self._state.is_waiting

    def _connect(self) -> None:
        """Ask the shared server to serve the client, start it if there is none, and start a private one if it fails."""
        now = time.monotonic()
        self._attempt_until = self._attempt_until or now + START_SECONDS
        if self._is_alone or now > self._attempt_until:
            server, self._private = link.start_private()
            self._begin(server)
        elif not self._watchdog.is_asking:
            try:
                self._watchdog.greet()
            except (FileNotFoundError, ConnectionError):
                self._start_shared(now)
            except OSError:
                self._is_alone = True

    def _start_shared(self, now: float) -> None:
        """Start the shared server, unless it is starting."""
        if self._starting < 0 and now - self._last_start > RESTART_SECONDS:
            try:
                self._starting, self._last_start = link.start_server(self._address), now
            except OSError:
                self._is_alone = True

    def _begin(self, server: socket.socket) -> None:
        self._close_start()
        server.settimeout(None)
        self._server, self._is_wanted, self._silence, self._has_started = server, False, 0.0, False
        self._from_server.clear()
        self._to_server[:] = self._state.open_again()

    def _close_start(self) -> None:
        if self._starting >= 0:
            os.close(self._starting)
            self._starting = -1

    def _step(self) -> None:
        """Wait until a stream is ready, and read or write once on each that is."""
        poll = select.poll()
        for stream, events in self._interests().items():
            poll.register(stream, events)
        ready = dict(poll.poll(self._patience()))
        if self._starting in ready:
            self._read_start()
        if self._watchdog.descriptor in ready:
            self._read_answer()
        if STDIN in ready:
            self._read_client()
        if events := ready.get(STDOUT, 0):
            self._write_client(events)
        if self._server is not None and (events := ready.get(self._server.fileno(), 0)):
            self._exchange(self._server, events)
        self._take_lines()

    def _interests(self) -> dict[int, int]:
        interests = {}
        if self._is_open and not self._lines:
            interests[STDIN] = select.POLLIN
        interests[STDOUT] = select.POLLOUT if self._to_client else 0  # 0: only its end
        for asked in (self._starting, self._watchdog.descriptor):
            if asked >= 0:
                interests[asked] = select.POLLIN
        if self._server is not None:
            reads = select.POLLIN if len(self._to_client) < MAX_BUFFERED else 0
            interests[self._server.fileno()] = reads | (select.POLLOUT if self._to_server else 0)
        return interests

    def _patience(self) -> float | None:
        """Return the milliseconds after which to look at the time again, None if nothing depends on it."""
        if self._watchdog.is_asking or (self._server is not None and self._has_to_answer()):
            return TICK_SECONDS * 1_000
        return RETRY_SECONDS * 1_000 if self._server is None and self._wants_server() else None

    def _read_start(self) -> None:
        """Read the socket of the started server. If it failed, the client gets a private one, which says why."""
        path = os.fsdecode(os.read(self._starting, CHUNK)).removesuffix("\n")
        self._close_start()
        if path == self._address.socket:
            self._last_start = 0.0
        elif path != BUSY:
            self._is_alone = True

    def _read_answer(self) -> None:
        """Read the shared server's answer: it serves the client, refuses it, or runs."""
        if (found := self._watchdog.read()) is None:
            return
        question, answer = found
        if self._server is None and self._watchdog.is_welcome(answer):
            self._begin(question.connection)
            return
        question.connection.close()
        if self._server is None:
            self._is_alone = bool(answer) and answer.get("answer") != link.ENDING
        elif not self._private:
            self._silence = 0.0

    def _read_client(self) -> None:
        data = os.read(STDIN, CHUNK)
        if not data:
            self._is_open, self._is_wanted = False, False
            data = b"\n" if self._from_client else b""  # a last line without its break
        self._lines += _complete_lines(self._from_client, data)

    def _take_lines(self) -> None:
        """Process the client's lines while the buffers have room."""
        while self._lines and self._state.has_room(self._lines[0]):
            if max(len(self._to_client), len(self._to_server)) >= MAX_BUFFERED:
                break
            line = self._lines.popleft()
            to_server, reply = self._state.take_from_client(line, is_connected=self._server is not None)
            self._to_server += to_server
            self._to_client += reply
        self._end_sending()

    def _end_sending(self) -> None:
        """End the stream to the server after the client's last line was sent."""
        if not self._is_open and not self._lines and self._server is not None and not self._to_server:
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
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                data = server.recv(CHUNK, socket.MSG_DONTWAIT)
                if not data:
                    raise ConnectionError
                self._silence, self._has_started = 0.0, True
                if not self._private:
                    self._watchdog.forget()
                for line in _complete_lines(self._from_server, data):
                    self._to_client += self._state.take_from_server(line)
        except BlockingIOError:
            pass
        except OSError:
            self._lose_server(server)

    def _has_to_answer(self) -> bool:
        """Return whether a message of the server is due: the client waits for a reply, or has ended its stream."""
        is_read = len(self._to_client) < MAX_BUFFERED
        return is_read and (self._state.is_unanswered or not self._is_open)

    def _watch(self) -> None:
        """Look at the time: give up a server that does not accept the client, and end one that does not answer."""
        passed = self._watchdog.look()
        server, before = self._server, self._silence
        self._silence = before + passed if server is not None and self._has_to_answer() else 0.0
        if self._watchdog.is_silent:
            self._watchdog.end_server()
            if server is not None and not self._private:
                self._lose_server(server, is_silent=True)
        elif server is None:
            self._is_alone |= self._watchdog.is_asking and self._watchdog.waited >= GREETING_SECONDS
        elif self._private and self._silence > (link.SILENT_SECONDS if self._has_started else START_SECONDS):
            self._end_private(server)
        elif self._silence > CALM_SECONDS:
            self._ask(server, is_first=before <= CALM_SECONDS)

    def _ask(self, server: socket.socket, *, is_first: bool) -> None:
        """Ask a quiet server whether it runs."""
        if self._private:
            self._to_server += PING if is_first and self._is_open else b""
        elif not self._watchdog.is_asking:
            try:
                self._watchdog.check()
            except OSError:  # it is ending
                self._lose_server(server)

    def _end_private(self, server: socket.socket) -> None:
        os.kill(self._private, signal.SIGKILL)
        os.waitpid(self._private, 0)
        self._private = 0
        self._to_client += self._state.lose_silent_server()
        self._lose_server(server)

    def _lose_server(self, server: socket.socket, *, is_silent: bool = False) -> None:
        """Close the connection. Unanswered requests go to the next server; after a private one, there is none.

        The next server is private if this one was silent: one of the requests may be why.
        """
        is_silent |= self._watchdog.is_asking and not self._private
        server.close()
        self._server, self._attempt_until = None, 0.0
        self._to_server.clear()
        self._to_client += self._state.lose_server()
        if self._private or not self._is_open:
            self._is_open = False
            self._lines.clear()
            self._state.give_up()
        self._is_alone = is_silent and self._state.is_waiting
        if is_silent:
            self._watchdog.forget()


def _complete_lines(buffer: bytearray, data: bytes) -> list[bytes]:
    """Add data to a buffer; remove and return its complete lines."""
    buffer += data
    if b"\n" not in data:
        return []
    complete, _, rest = bytes(buffer).rpartition(b"\n")
    buffer[:] = rest
    return [line + b"\n" for line in complete.split(b"\n")]
