"""Notice that the shared server does not answer, and end it.

A relay asks on a connection of its own, so that nothing its client sends or leaves unread makes a server look dead.
Time counts only while the relay runs, so that a server gets its seconds also after the machine slept.
"""

from __future__ import annotations

import time
from typing import Any, Final

from keyhole.serve.shared.address import Address
from keyhole.serve.shared.link import WELCOME, Question, describe_client

SILENT_SECONDS: Final = 5.0
"""Seconds after which a server that leaves a question unanswered is ended. A busy server needs tenths of a second."""
TICK_SECONDS: Final = 0.25
"""The most that counts as passed between two looks at the clock; a relay that waits for a server looks as often."""


class Watchdog:
    """A relay's question to the shared server, and how long the server has left it unanswered."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._question: Question | None = None
        self._process = 0  # the server's
        self._last_look = time.monotonic()
        self.is_asking = False
        """True while an answer is missing."""
        self.waited = 0.0
        """Seconds since the question."""

    @property
    def descriptor(self) -> int:
        """Return where the answer comes, -1 without a question."""
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
        """Ask the server to serve the client. Raises what `Question` raises."""
        self._ask({"identity": self._address.identity, "client": describe_client()})

    def check(self) -> None:
        """Ask the server that serves the client for its status. Raises OSError if it is no longer there."""
        try:
            self._ask({"ask": "status"})
        except (BlockingIOError, TimeoutError):  # it accepts no connection, which counts as silence
            self.is_asking, self.waited = True, 0.0

    def _ask(self, question: dict[str, Any]) -> None:
        self._question = Question(self._address.socket, question)
        self._process = self._question.process
        self.is_asking, self.waited = True, 0.0

    def read(self) -> tuple[Question, dict[str, Any]] | None:
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
        """Wait for no answer any more."""
        if self._question:
            self._question.connection.close()
        self._question, self.is_asking = None, False

    def end_server(self) -> None:
        """End the silent server, unless another relay has: a successor is another process."""
        from keyhole.serve.shared.lock import end_server  # relays rarely need it

        end_server(self._address.path("lock"), self._process)
        self.forget()
