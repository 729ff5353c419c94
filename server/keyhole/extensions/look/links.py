"""Links between the pages. An exported file has links of its own, within the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote, urlencode


class Links(Protocol):
    """Returns the address of each page, "" if there is no such page."""

    def sessions(self, **filters: str) -> str:
        """Return the address of the list of sessions. `filters`: fields of CallFilters, and `after`."""
        ...

    def session(self, id: str) -> str:
        """Return the address of one session with its calls."""
        ...

    def call(self, id: str) -> str:
        """Return the address of one call."""
        ...

    def text(self, id: str, start: int = 0, call: str = "", query: str = "") -> str:
        """Return the address of a stored text from an offset on.

        `call`: the call whose passages are marked. `query`: words to mark and to rank for instead of the call's.
        """
        ...

    def rendered(self, id: str, start: int = 0, call: str = "") -> str:
        """Return the address of a part of a stored text as rendered Markdown, for a sandboxed frame.

        `call`: the call whose passages are marked.
        """
        ...

    def page(self, name: str, **query: str) -> str:
        """Return the address of another page: `misses`, `figures` or `texts`."""
        ...

    def action(self, name: str) -> str:
        """Return the address to which the form of an action is sent, "" where nothing can be changed."""
        ...

    def asset(self, name: str) -> str:
        """Return the address of a static file."""
        ...


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """The addresses on a server. `base`: the path below which it serves the pages, "" or such as `/look`."""

    base: str = ""

    def sessions(self, **filters: str) -> str:
        return self._address("/", **filters)

    def session(self, id: str) -> str:
        return self._address(f"/sessions/{id}")

    def call(self, id: str) -> str:
        return self._address(f"/calls/{id}")

    def text(self, id: str, start: int = 0, call: str = "", query: str = "") -> str:
        return self._address(f"/texts/{id}", start=str(start or ""), call=call, query=query)

    def rendered(self, id: str, start: int = 0, call: str = "") -> str:
        return self._address(f"/texts/{id}/rendered", start=str(start or ""), call=call)

    def page(self, name: str, **query: str) -> str:
        return self._address(f"/{name}", **query)

    def action(self, name: str) -> str:
        return self._address(f"/actions/{name}")

    def asset(self, name: str) -> str:
        return self._address(f"/static/{name}")

    def _address(self, path: str, **query: str) -> str:
        given = {name: value for name, value in query.items() if value}
        fields = urlencode(given, errors="replace")  # lone surrogates, which a client can send, have no encoding
        return self.base + quote(path, errors="replace") + (f"?{fields}" if fields else "")
