"""List the faults as cases: what a server sends to each request, where it stops, and how the name server answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from benchmarks.fetch.faults.pages import chunked, framings, head, page, sized


class End(StrEnum):
    """What a server does after its bytes."""

    KEEP = "kept"
    """It reads the next request of the connection."""
    FIN = "closed"
    RST = "reset"
    STALL = "stalled"
    """It sends nothing more, and waits for the client to leave."""


CUTS: Final = (End.FIN, End.RST, End.STALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """The bytes sent for one request. `late`: bytes that follow unasked, once the response has been read."""

    data: bytes
    end: End = End.KEEP
    late: bytes = b""


@dataclass(frozen=True, slots=True)
class Lookup:
    """One answer of the name server: addresses, or an error. `seconds`: how late it is."""

    addresses: tuple[str, ...] = ()
    error: Exception | None = None
    seconds: float = 0.0


SITE: Final = "the site"
"""In a lookup, stands for the address of the case's own server."""
FULL: Final = "a full server"
"""In a lookup, stands for an address at which a connection is never accepted."""
NEVER: Final = 3_600.0
"""Seconds of a lookup that does not end within the run."""


@dataclass(frozen=True, slots=True)
class Case:
    """One fault, and the fetches that meet it, one after the other."""

    kind: str
    replies: Mapping[str, Sequence[Reply]] = field(default_factory=dict)
    """The replies to each path, in the order of the requests. The last one is repeated."""
    paths: tuple[str, ...] = ("/page",)
    early: bytes = b""
    """Bytes that the server sends on its first connection before it reads the request."""
    tls_cut: int | None = None
    """With TLS: the bytes of the server's side of the connection until it ends with `tls_end`."""
    tls_end: End = End.FIN
    lookups: Sequence[Lookup] = (Lookup((SITE,)),)
    """The name server's answers, in the order of the questions. The last one is repeated."""
    robots: bool = False
    """True if robots.txt is requested too."""
    must_succeed: tuple[str, ...] = ()
    """The paths whose fetch must give the whole page."""
    is_unnoticeable: bool = False
    """True if the client cannot know that the page is cut: nothing announced its length."""

    @property
    def is_slow(self) -> bool:
        """True if a server or name server never answers, so that a call takes all its time."""
        ends = {self.tls_end, *(reply.end for replies in self.replies.values() for reply in replies)}
        return End.STALL in ends or any(each.seconds == NEVER or FULL in each.addresses for each in self.lookups)


ORCHID: Final = page("/page")
SECOND: Final = (Reply(sized(page("/second"))),)
STRAY: Final = sized(page("/stray"))
RULES: Final = sized(b"User-agent: *\nAllow: /\n" + b"Disallow: /private/notes\n" * 8, "text/plain")


def all_cases(step: int = 1) -> Iterator[Case]:
    """Yield every case. `step`: every how manyth of the cuts; the other faults are all included."""
    yield from page_cuts(step)
    yield from first_response_cuts(step)
    yield from second_response_cuts(step)
    yield from tls_cases(step)
    yield from kept_cases()
    yield from name_cases()


def cut_points(response: bytes, step: int) -> list[int]:
    """Return where to cut: each byte of the head, of the first hundred of the body and of the last ten, 30 between."""
    start = response.index(b"\r\n\r\n", response.rindex(b"HTTP/1.1 ")) + 4
    size = len(response)
    middle = range(start + 100, size - 10, max(1, (size - 110 - start) // 30))
    return sorted({*range(min(start + 100, size)), *middle, *range(max(start, size - 10), size)})[::step]


def page_cuts(step: int) -> Iterator[Case]:
    """Yield pages in every framing and coding that end at each of the cut points."""
    for name, response in framings(ORCHID).items():
        for end in CUTS:
            # A stall costs the whole deadline, and differs from a close only in its end.
            for at in cut_points(response, step * (3 if end is End.STALL else 1)):
                unnoticeable = name == "until close" and end is End.FIN
                yield Case(f"page {end}: {name}", {"/page": [Reply(response[:at], end)]}, is_unnoticeable=unnoticeable)


def first_response_cuts(step: int) -> Iterator[Case]:
    """Yield redirects and robots.txt files that end early, before a page that is sent whole."""
    whole = [Reply(sized(ORCHID))]
    redirect = head("302 Found", Location="/page", Content_Length="0")
    for end in CUTS:
        for at in range(0, len(redirect), step):
            cut = [Reply(redirect[:at], end)]
            yield Case(f"redirect {end}", {"/start": cut, "/page": whole}, ("/start",))
        for at in range(0, len(RULES), 2 * step):
            # Whatever happens to robots.txt, the page itself is sent, and no rule forbids it.
            replies = {"/robots.txt": [Reply(RULES[:at], end)], "/page": whole}
            yield Case(f"robots.txt {end}", replies, robots=True, must_succeed=("/page",))


def second_response_cuts(step: int) -> Iterator[Case]:
    """Yield pages that end early on a connection that sent a whole robots.txt before."""
    first = {"/robots.txt": [Reply(RULES)]}
    for name, response in (("length", sized(ORCHID)), ("chunks", chunked(ORCHID))):
        for end in CUTS:
            for at in cut_points(response, 3 * step):
                replies = {**first, "/page": [Reply(response[:at], end)]}
                yield Case(f"page {end} after robots.txt: {name}", replies, robots=True)


def tls_cases(step: int) -> Iterator[Case]:
    """Yield connections with TLS that end in the handshake, the head and the body."""
    for end in CUTS:
        for at in range(0, 4_600, 30 * step):
            yield Case(f"TLS {end}", {"/page": [Reply(sized(ORCHID))]}, tls_cut=at, tls_end=end)


def kept_cases() -> Iterator[Case]:
    """Yield faults between two responses of a connection that is kept open. None may reach the second page."""
    whole = sized(ORCHID)
    for name, response in (("length", whole), ("chunks", chunked(ORCHID))):
        yield _kept(f"closed while idle, {name}", Reply(response, End.FIN))
        yield _kept(f"reset while idle, {name}", Reply(response, End.RST))
        yield _kept(f"a second response in the same packet, {name}", Reply(response + STRAY))
        yield _kept(f"a part of a second response, {name}", Reply(response + STRAY[:40]))
        yield _kept(f"an interim response in the same packet, {name}", Reply(response + head("103 Early Hints")))
        yield _kept(f"bytes that are not HTTP, {name}", Reply(response + b"\r\nnot HTTP\r\n"))
        yield _kept(f"a response sent while idle, {name}", Reply(response, late=STRAY))
        yield _kept(f"a byte sent while idle, {name}", Reply(response, late=b"H"))
        yield _kept(f"a timeout answer while idle, {name}", Reply(response, late=head("408 Request Timeout")))
    yield _kept("a body longer than its length", Reply(sized(ORCHID) + ORCHID))
    yield _kept("a response before the request", Reply(whole), early=whole)
    for end in (End.FIN, End.RST):
        # The server gave up the connection while the request was on its way; a new connection works.
        yield _kept(f"{end} on the second request", Reply(whole), second=(Reply(b"", end), *SECOND))
    # What a client leaves unread or does not expect must not be read as the next response.
    unread = {"404 Not Found": STRAY, "500 Error": STRAY, "204 No Content": b"", "304 Not Modified": b""}
    for status, body in unread.items():
        reply = Reply(head(status, Content_Length=str(len(body))) + STRAY)
        yield _kept(f"a body of {status}", reply, must_succeed=("/second",))
    redirects = {
        "a body of 302": Reply(head("302 Found", Location="/page", Content_Length=str(len(STRAY))) + STRAY),
        "a body of 302 that never comes": Reply(head("302 Found", Location="/page", Content_Length="9"), End.STALL),
        "a body of 302 that breaks off": Reply(head("302 Found", Location="/page", Content_Length="9"), End.RST),
    }
    for kind, redirect in redirects.items():
        replies = {"/start": [redirect], "/page": [Reply(whole)]}
        yield Case(f"kept: {kind}", replies, ("/start",), must_succeed=("/start",))
    silent = (Reply(b"", End.STALL), *SECOND)
    yield _kept("no answer to the second request", Reply(whole), second=silent, must_succeed=("/page",))


def _kept(
    kind: str,
    first: Reply,
    second: Sequence[Reply] = SECOND,
    early: bytes = b"",
    must_succeed: tuple[str, ...] = ("/page", "/second"),
) -> Case:
    replies = {"/page": [first], "/second": second}
    return Case(f"kept: {kind}", replies, ("/page", "/second"), early=early, must_succeed=must_succeed)


def name_cases() -> Iterator[Case]:
    """Yield faults of the name server. Robots.txt makes each fetch ask at least twice without a cache."""
    good = Lookup((SITE,))
    refused, others = ("93.185.0.1", "93.185.0.2"), tuple(f"93.186.{n // 250}.{n % 250 + 1}" for n in range(1_000))
    not_found, later = socket.gaierror(socket.EAI_NONAME, "unknown"), socket.gaierror(socket.EAI_AGAIN, "later")
    harmless = {
        "late", "refusing addresses before the site", "a silent address before the site", "the site twice",
        "1,000 addresses after the site",
    }  # fmt: skip
    table: dict[str, Sequence[Lookup]] = {
        "late": [Lookup((SITE,), seconds=0.3)],
        "after the deadline": [Lookup((SITE,), seconds=NEVER)],
        "late at the second lookup": [good, Lookup((SITE,), seconds=NEVER)],
        "empty": [Lookup()],
        "empty at the second lookup": [good, Lookup()],
        "unknown": [Lookup(error=not_found)],
        "unknown at the second lookup": [good, Lookup(error=not_found)],
        "try again": [Lookup(error=later)],
        "try again, then an address": [Lookup(error=later), good],
        "an error of the system": [Lookup(error=OSError(5, "input/output error"))],
        "a name that cannot be encoded": [Lookup(error=UnicodeError("label too long"))],
        "another address at the second lookup": [good, Lookup(refused)],
        "refusing addresses before the site": [Lookup((*refused, SITE))],
        "a silent address before the site": [Lookup((FULL, SITE))],
        "silent addresses only": [Lookup((FULL,))],
        "1,000 addresses": [Lookup(others)],
        "1,000 addresses after the site": [Lookup((SITE, *others))],
        "the site twice": [Lookup((SITE, SITE))],
    }
    for number, address in enumerate(
        ("not an address", "", "127.1", "0x7f000001", "999.1.1.1", "93.184.1", "1.2.3.4\0")
    ):
        table[f"malformed: {number}"] = [Lookup((address,))]
    for private in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1%lo", "fd00::1"):
        table[f"private: {private}"] = [Lookup((private,))]
        table[f"private after public: {private}"] = [good, Lookup((private,))]
        table[f"public after private: {private}"] = [Lookup((private,)), good]
        table[f"mixed: {private}"] = [Lookup((SITE, private))]
        table[f"1,000 addresses and {private}"] = [Lookup((SITE, *others, private))]
    replies = {"/robots.txt": [Reply(RULES, End.FIN)], "/page": [Reply(sized(ORCHID), End.FIN)], "/second": SECOND}
    for kind, lookups in table.items():
        name = f"name: {kind.partition(':')[0]}"
        paths = ("/page", "/second")
        yield Case(name, replies, paths, lookups=lookups, robots=True, must_succeed=paths if kind in harmless else ())
