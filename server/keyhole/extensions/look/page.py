"""What all pages share: templates, links, fields of addresses, and the format of numbers and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from keyhole.store.base import Clock, Store
from keyhole.store.calls.base import CallFilters, CallLog, CallPlace

# Pages: a template rendered for the tenant to whom the request belongs.

LOOK: Final = "keyhole.look"
"""The key in a request's scope of the `Look` of its tenant."""

DONE: Final = "done"
"""The field of an address that names the action that was just done."""


@dataclass(frozen=True, slots=True)
class Look:
    """The calls and stored texts of one tenant, which one person may see."""

    calls: CallLog
    store: Store
    clock: Clock
    links: Links
    person: str = ""
    """The name of the tenant that a person signed in as; "" on the person's own machine."""
    ttl: float = 0.0
    """Seconds without a read after which a text expires; 0 if it is unknown."""
    servers: Callable[[], tuple[str, ...]] = tuple
    """Returns a line for each shared server of the person's own machine."""


def look_of(request: Request) -> Look:
    """Return the `Look` of the request's tenant, which the application has put into its scope."""
    look: Look = request.scope[LOOK]
    return look


@cache
def environment() -> Environment:
    """Return the environment of all templates. Every value is escaped, and a missing value is an error."""
    templates = Environment(
        loader=PackageLoader("keyhole.extensions.look"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(FILTERS)
    return templates


def render(look: Look, template: str, **values: Any) -> str:
    """Return a template's HTML. The template has `links`, `now`, `person`, and the values."""
    return environment().get_template(template).render(links=look.links, now=look.clock(), person=look.person, **values)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return the response with a template's HTML for the request's tenant. `done` names an action that was done."""
    done = request.query_params.get(DONE, "")
    return html_response(render(look_of(request), template, done=done, **values), status)


def html_response(html: str, status: int = 200, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return the response with an HTML document. Lone surrogates, which pages can contain, become question marks."""
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers)


# Links between the pages. An exported file has links of its own, within the file.


class Links(Protocol):
    """Returns the address of each page; "" if the page does not exist."""

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
        """Return the address of the form of an action; "" if the pages are read-only."""
        ...

    def asset(self, name: str) -> str:
        """Return the address of a static file."""
        ...


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """The addresses on a server. `base`: the path of the pages, such as `/look`, or ""."""

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


# Fields of addresses: numbers, filters, and places in a list.

MAX_DIGITS: Final = 15
"""Maximum digits of a number: as many as a double holds exactly."""
MAX_FILTER: Final = 200
"""Maximum characters of a filter, which bound the address and the work of a search."""


def read_number(text: str) -> int | None:
    """Return the number in a text of ASCII digits, None for any other text or more than `MAX_DIGITS` digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def read_filters(query: Mapping[str, str]) -> CallFilters:
    """Return the filters of an address; unknown fields are ignored."""

    def given(name: str) -> str:
        return query.get(name, "").strip()[:MAX_FILTER]

    return CallFilters(
        client=given("client"),
        tool=given("tool"),
        site=given("site"),
        outcome=given("outcome"),
        words=given("words"),
        misses_only=given("misses_only") == "1",
    )


def write_filters(filters: CallFilters) -> dict[str, str]:
    """Return the fields of an address that `read_filters` reads as these filters."""
    fields = asdict(filters) | {"misses_only": "1" if filters.misses_only else ""}
    return {name: value for name, value in fields.items() if value and name != "session"}


def read_place(text: str) -> CallPlace | None:
    """Return the place after which a list continues, None for its beginning or a malformed place."""
    at, _, id = text.partition("~")
    try:
        return float(at), id
    except ValueError:
        return None


def write_place(place: CallPlace) -> str:
    """Return a place in the form that `read_place` reads."""
    return f"{place[0]!r}~{place[1]}"


# Formats of numbers, sizes, durations and times for a person; the filters of the templates.

_SIZES: Final = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_AGES: Final = ((365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"))

_MISSES: Final = MappingProxyType(
    {
        "weak": "not answered",
        "same_page": "page asked again",
        "read_on": "read on right after",
        "searched_again": "searched again",
        "error": "failed",
    }
)


def format_number(count: float) -> str:
    """Return a number as an integer with thousands separators."""
    return f"{count:,.0f}"


def format_size(count: float) -> str:
    """Return a number of bytes in decimal units, such as "1.2 MB"."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count:,.0f} byte{'' if count == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """Return a duration with at most three digits, such as "340 ms", "1.25 s" or "12 min"."""
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7_200 else f"{seconds / 3_600:,.1f} h"


def format_exact_time(seconds: float) -> str:
    """Return a time with date and seconds in UTC, or "?" for an invalid time."""
    return _format(seconds, "%Y-%m-%d %H:%M:%S UTC")


def format_iso_time(seconds: float) -> str:
    """Return a time for the attribute `datetime` of the HTML element `time`."""
    return _format(seconds, "%Y-%m-%dT%H:%M:%SZ")


def format_day(seconds: float) -> str:
    """Return the day of a time in UTC, such as "23 Nov"."""
    return _format(seconds, "%d %b").lstrip("0")


def format_clock(seconds: float) -> str:
    """Return the time of day in UTC, such as "13:05"."""
    return _format(seconds, "%H:%M")


def format_ago(seconds: float, now: float) -> str:
    """Return the distance of a time from now, such as "3 minutes ago" or "in 2 days"."""
    distance = abs(now - seconds)
    for unit, name in _AGES:
        if distance >= unit:
            count = int(distance // unit)
            words = f"{count} {name}{'' if count == 1 else 's'}"
            return f"in {words}" if seconds > now else f"{words} ago"
    return "in less than a minute" if seconds > now else "just now"


def format_percent(part: float, whole: float) -> str:
    """Return a share such as "12 %", and a dash for a share of nothing."""
    if not whole:
        return "–"
    share = 100 * part / whole
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def _format(seconds: float, pattern: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(pattern)
    except (ValueError, OverflowError, OSError):  # a damaged or tampered record
        return "?"


def format_miss(kind: str) -> str:
    """Return the kind of a miss in words, "" for no miss."""
    return _MISSES.get(kind, kind)


def format_folder(path: str) -> str:
    """Return the name of a project's folder; "" for no folder, the root or a home folder."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    is_home = len(parts) <= 3 and any(each in {"home", "Users", "root"} for each in parts[-2:])
    return "" if is_home else parts[-1]


FILTERS: Final = MappingProxyType(
    {
        "number": format_number,
        "size": format_size,
        "duration": format_duration,
        "exact_time": format_exact_time,
        "iso_time": format_iso_time,
        "ago": format_ago,
        "percent": format_percent,
        "miss": format_miss,
        "folder": format_folder,
    }
)
