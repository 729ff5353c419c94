"""The form of a kind of hostile bodies: how bodies are made, where the site serves them, and which call requests them.

Bodies are made for a size in bytes, before the calls begin, and contain `HOST` where the name of their host belongs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

NUMBER: Final = "90000"
"""Stands for the number of an attack in addresses and headers. All numbers have five digits."""
TOKEN: Final = f"h{NUMBER}z"
"""The name of an attack at hosts that all attacks share, also in bodies."""
HOST: Final = f"{TOKEN}.hostile.example"
"""The host of an attack."""
QUERY: Final = "which version 1.0 of the boat has the mark of a harbour"
"""The query of a call. Its words occur in no body but as single letters and digits, so whole texts are ranked."""

Body = Callable[[int], bytes]
"""Returns a body of about as many bytes, never more, unless its smallest form has more."""


@dataclass(frozen=True, slots=True)
class SiteReply:
    """A response of the hostile site."""

    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    pieces: int = 1
    """Into how many pieces the body is divided."""
    pause: float = 0.0
    """Seconds before each piece but the first."""
    is_chunked: bool = False
    """True if each piece is sent as a chunk of its own."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A call, what the site serves for it, and which addresses must be requested for the attack to count.

    `routes`: replies by host and path, without the query of the address.
    """

    tool: str
    arguments: Mapping[str, Any]
    routes: Mapping[str, SiteReply]
    targets: tuple[str, ...]


Lead = Callable[[bytes], Attack]
"""Returns the attack that leads Keyhole to a body."""


@dataclass(frozen=True, slots=True)
class BodyKind:
    """A kind of hostile bodies. `limit`: the size limit that Keyhole has for them, in bytes."""

    name: str
    limit: int
    variants: tuple[tuple[Lead, Body], ...]
    recovery: Attack | None = None
    """A call after each attack, of which there is then one at a time: it ends effects on the next one, such as the rest
    of a search engine after failures."""


def kind(name: str, limit: int, lead: Lead, *bodies: Body) -> BodyKind:
    """Return a kind whose bodies all have the same lead."""
    return BodyKind(name, limit, tuple((lead, body) for body in bodies))


def place(attack: Attack, number: int) -> Attack:
    """Return an attack with its number instead of the placeholder."""

    def replaced(text: str) -> str:
        return text.replace(NUMBER, str(number))

    token = TOKEN.encode(), replaced(TOKEN).encode()
    routes = {
        replaced(where): replace(
            reply,
            body=reply.body.replace(*token),
            headers=tuple((name, replaced(value)) for name, value in reply.headers),
        )
        for where, reply in attack.routes.items()
    }
    arguments = {name: replaced(value) if isinstance(value, str) else value for name, value in attack.arguments.items()}
    return Attack(attack.tool, arguments, routes, tuple(map(replaced, attack.targets)))


def fetch(url: str, routes: Mapping[str, SiteReply], *targets: str) -> Attack:
    """Return an attack by a fetch of `url`."""
    return Attack("web_fetch", {"url": url, "query": QUERY}, routes, targets)


# Bodies.


def between(start: str, unit: str, end: str = "") -> Body:
    """Return a body of repeated units between a start and an end."""
    first, repeated, last = (text.encode("utf-8", "surrogatepass") for text in (start, unit, end))

    def make(size: int) -> bytes:
        return first + repeated * max(1, (size - len(first) - len(last)) // len(repeated)) + last

    return make


def runs(*units: str) -> tuple[Body, ...]:
    """Return a body for each unit, which is repeated."""
    return tuple(between("", unit) for unit in units)


def nested(opening: str, closing: str, *, start: str = "", middle: str = "", end: str = "") -> Body:
    """Return a body of as many openings as closings."""

    def make(size: int) -> bytes:
        depth = max(1, (size - len(start) - len(middle) - len(end)) // (len(opening) + len(closing)))
        return f"{start}{opening * depth}{middle}{closing * depth}{end}".encode()

    return make


def numbered(start: str, unit: str, end: str = "", *, last: str = "", most: int = 10**9) -> Body:
    """Return a body of units in which `{n}` is a number. `last`: the unit after the others. `most`: number of units."""
    # The fixed width lets the number of units be computed.
    width = len(unit.replace("{n}", "00000000"))

    def make(size: int) -> bytes:
        count = min(most, max(1, (size - len(start) - len(end) - len(last)) // width))
        return "".join((start, *(unit.replace("{n}", f"{n:08}") for n in range(count)), last, end)).encode()

    return make


def words(unit: str, letters: str | tuple[str, ...], length: int, start: str = "", end: str = "") -> Body:
    """Return a body of units in which `{word}` is a random word of `length` letters, the same in each run."""

    def make(size: int) -> bytes:
        chosen = random.Random(size)
        width = len(unit.replace("{word}", "")) + length
        count = max(1, (size - len(start) - len(end)) // width)
        each = ("".join(chosen.choices(letters, k=length))[:length] for _ in range(count))
        return f"{start}{''.join(unit.replace('{word}', word) for word in each)}{end}".encode()

    return make


CHARACTERS: Final = tuple("\u00a0\n[#`*>|<9-=_\\. a")
"""The characters of texts that are one long run. Markdown gives most of them a meaning at the start of a line."""

JSON: Final = "application/json"
NESTED: Final = (nested("[", "]"), nested('{"a":', "}", middle="1"), *runs("[", '{"a":', '[{"a":'))
"""JSON that is nested as deep as its size allows, complete and broken off."""


def numbers(start: str = "", end: str = "") -> tuple[Body, ...]:
    """Return JSON with many numbers or a long one, also with those that JSON forbids, between a start and an end."""
    many = (between(f"{start}[", unit, f"1]{end}") for unit in ("1,", "1.5e300,", "NaN,", "-Infinity,"))
    return (*many, *(between(f"{start}{sign}", "9", end) for sign in ("", "-", "1e", "0.")))


def strings(start: str = "", end: str = "") -> tuple[Body, ...]:
    """Return JSON with many strings or a long one between a start and an end."""
    many = between(f"{start}[", '"a",', f'"a"]{end}')
    units = ("a", "\\n", "\\u0041", "\\ud800", "\\udc00")  # the last two are halves of a character
    return (many, *(between(f'{start}"', unit, f'"{end}') for unit in units))


def containers(start: str = "", end: str = "") -> tuple[Body, ...]:
    """Return JSON with a million keys, objects or lists between a start and an end."""
    return (
        numbered(f"{start}{{", '"k{n}":1,', f"}}{end}", last='"k":1'),
        numbered(f"{start}[", '{"k{n}":"v"},', f"1]{end}"),
        between(f"{start}[", "[],", f"1]{end}"),
    )


def dumps(value: object) -> bytes:
    """Return compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()
