"""Connect a relay to the shared server, start the server or a private one, and notice that it does not answer."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from keyhole.config.folders import working_folder
from keyhole.serve.shared.address import Address, find_process, is_own_user
from keyhole.store.private_files import make_private_folder

ASK_SECONDS: Final = 2.0
"""Seconds to wait for a server's answer to a question. A busy server takes tenths of a second."""
MAX_ANSWER: Final = 16_000_000
"""Bytes of an answer: the identity of a server, which contains the files of its settings, or a few hundred clients."""
CHUNK: Final = 65_536
"""Bytes of one read."""
MAX_LOG_BYTES: Final = 1_000_000
"""Maximum bytes of a server's log: a larger one is emptied when a server starts."""
WELCOME, REFUSED, ENDING = "welcome", "other settings", "ending"
"""A server's answers to a client."""
MAX_DESCRIPTORS: Final = 1_024
"""Descriptors that are closed in a new server: it outlives its first client, which may wait for the end of a pipe."""
SERVER_WORDS: Final = ("server", "run")
PRIVATE_WORDS: Final = ("serve",)
PROGRAM: Final = """\
import sys
sys.path += [folder for folder in {folders!r} if folder not in sys.path]
from keyhole.__main__ import start
start()
"""
"""Runs Keyhole with the folders of this process: a bundle's are not in the Python path of a new one."""


class ControlRequest:
    """A request to a server, sent as one line on a separate connection. `read` reads its answer.

    Raises FileNotFoundError or ConnectionError if there is no server, and another OSError if one does not answer.
    """

    def __init__(self, path: str, question: Mapping[str, Any], timeout: float = ASK_SECONDS) -> None:
        self.connection = socket.socket(socket.AF_UNIX)
        self._answer = bytearray()
        try:
            self.connection.settimeout(timeout)
            self.connection.connect(path)
            if not is_own_user(self.connection):
                raise PermissionError(path)
            self.process = find_process(self.connection)
            self.connection.sendall(json.dumps(question).encode() + b"\n")
        except OSError:
            self.connection.close()
            raise

    def read(self) -> dict[str, Any] | None:
        """Read once; return the answer, or None until it is complete. Raises OSError or ValueError if there is none."""
        part = self.connection.recv(CHUNK)
        self._answer += part
        if not part or len(self._answer) > MAX_ANSWER:
            raise ConnectionError("the server closed the connection")
        if not part.endswith(b"\n"):  # the server sends nothing unasked, so nothing follows the line
            return None
        answer = json.loads(self._answer)
        return answer if isinstance(answer, dict) else {}


def ask(path: str, question: Mapping[str, Any], timeout: float) -> tuple[socket.socket, dict[str, Any]] | None:
    """Ask a server and return the open connection and its answer; None if there is no server.

    Raises TimeoutError if the server does not answer.
    """
    asked = None
    try:
        asked = ControlRequest(path, question, timeout)
        while (answer := asked.read()) is None:
            pass
    except (OSError, ValueError) as error:
        if asked is not None:
            asked.connection.close()
        if isinstance(error, TimeoutError | BlockingIOError):  # the second: too many connections wait already
            raise TimeoutError from error
        return None
    return asked.connection, answer


def ask_servers(folder: str, action: str) -> dict[str, dict[str, Any] | None]:
    """Ask each server in a folder for its status, or to stop.

    Return the answers by the paths of the sockets, None for a server that does not answer.
    """
    answers: dict[str, dict[str, Any] | None] = {}
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return {}
    for path in (f"{folder}/{name}" for name in names if name.endswith(".sock")):
        try:
            if asked := ask(path, {"ask": action}, ASK_SECONDS):
                asked[0].close()
                answers[path] = asked[1]
        except TimeoutError:
            answers[path] = None
    return answers


def describe_server(server: Mapping[str, Any] | None) -> str:
    """Return the process and the number of clients of a server's status, in words."""
    if server is None:
        return "does not answer"
    count = len(server["clients"])
    return f"process {server['process']} with {count} client{'' if count == 1 else 's'}"


def describe_client() -> dict[str, Any]:
    """Return what `keyhole server status` shows of a client: its process, the relay's and the folder."""
    return {"relay": os.getpid(), "process": os.getppid(), "folder": working_folder()}


def prepare_folder(folder: str) -> bool:
    """Create the folder of the servers' files, and return whether only this user can write to it."""
    try:
        make_private_folder(folder)
        status = os.stat(folder)
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022


def start_server(address: Address) -> int:
    """Start the shared server in the background. Return a pipe with the path of its socket as soon as it is ready.

    The pipe ends without a path if the server cannot serve. Raises OSError.
    """
    ours, theirs = os.pipe()
    try:
        log = _open_log(address.path("log"))
        try:
            _spawn_detached(SERVER_WORDS, theirs, log)
        finally:
            os.close(log)
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    return ours


def _open_log(path: str) -> int:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if os.fstat(log).st_size > MAX_LOG_BYTES:
        os.ftruncate(log, 0)
    return log


def _spawn_detached(words: Sequence[str], output: int, log: int) -> None:
    """Run Keyhole in a new session, as a child of no client: some clients end all their child processes."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            _execute(words, os.open(os.devnull, os.O_RDONLY), output, log)
    finally:
        os._exit(0)


def start_private() -> tuple[socket.socket, int]:
    """Start a server for this client alone; return the connection to it and its process id. Raises OSError."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            _execute(PRIVATE_WORDS, theirs.fileno(), theirs.fileno(), 2)
        finally:
            os._exit(1)
    theirs.close()
    return ours, child


def _execute(words: Sequence[str], *streams: int) -> None:
    """Replace this process by a command of Keyhole, with these descriptors as standard streams and no others."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(len(streams), MAX_DESCRIPTORS)
    program = PROGRAM.format(folders=[folder for folder in sys.path if folder])
    os.execv(sys.executable, [sys.executable, "-P", "-c", program, *words])  # noqa: S606 - the same Python, no shell


# The watchdog: notice that the shared server does not answer, and end it.
#
# A relay asks on a connection of its own, so that nothing its client sends or leaves unread makes a server look dead.
# Time counts only while the relay runs, so that a server gets its seconds also after the machine slept.

SILENT_SECONDS: Final = 5.0
"""Seconds after which a server that leaves a question unanswered is ended. A busy server needs tenths of a second."""
TICK_SECONDS: Final = 0.25
"""The most that counts as passed between two looks at the clock; a relay that waits for a server looks as often."""


class Watchdog:
    """A relay's request to the shared server, and the seconds that it has been unanswered."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._question: ControlRequest | None = None
        self._process = 0  # the server's
        self._last_look = time.monotonic()
        self.is_asking = False
        """True while an answer is missing."""
        self.waited = 0.0
        """Seconds since the question."""

    @property
    def descriptor(self) -> int:
        """Return the descriptor from which the answer is read, -1 without a request."""
        return self._question.connection.fileno() if self._question else -1

    @property
    def is_silent(self) -> bool:
        """Return whether the server has left a question unanswered for too long."""
        return self.is_asking and self.waited > SILENT_SECONDS

    def look(self) -> float:
        """Return the seconds since the last look, and count them."""
        now = time.monotonic()
        passed = min(now - self._last_look, TICK_SECONDS)
        self._last_look = now
        self.waited += passed
        return passed

    def greet(self) -> None:
        """Ask the server to serve the client. Raises what `ControlRequest` raises."""
        self._ask({"identity": self._address.identity, "client": describe_client()})

    def check(self) -> None:
        """Ask the server that serves the client for its status. Raises OSError if it is no longer there."""
        try:
            self._ask({"ask": "status"})
        except (BlockingIOError, TimeoutError):  # it accepts no connection, which counts as silence
            self.is_asking, self.waited = True, 0.0

    def _ask(self, question: dict[str, Any]) -> None:
        self._question = ControlRequest(self._address.socket, question)
        self._process = self._question.process
        self.is_asking, self.waited = True, 0.0

    def read(self) -> tuple[ControlRequest, dict[str, Any]] | None:
        """Read a part of the answer; return question and answer once it is complete, or {} if none will come."""
        if (question := self._question) is None:
            return None
        try:
            answer = question.read()
        except (OSError, ValueError):
            answer = {}
        if answer is None:
            return None
        self._question, self.is_asking = None, False
        return question, answer

    def is_welcome(self, answer: dict[str, Any]) -> bool:
        """Return whether a server serves the client, and was started with the settings of the client."""
        return answer.get("answer") == WELCOME and answer.get("identity") == self._address.identity

    def forget(self) -> None:
        """Stop waiting for an answer."""
        if self._question:
            self._question.connection.close()
        self._question, self.is_asking = None, False

    def end_server(self) -> None:
        """End the silent server, unless another relay has: a successor is another process."""
        from keyhole.serve.shared.lock import end_server  # relays rarely need it

        end_server(self._address.path("lock"), self._process)
        self.forget()
