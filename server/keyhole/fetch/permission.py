"""The permission of a call: which addresses its requests may reach, how many, until when, and with which credential.

It is made when a call begins. The request for the address that the caller named is made under it. Whoever makes a
further request narrows it first: to places that belong to the same owner, and to a number of requests. Nothing widens
it, and the client checks it on every hop of every request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.owners import Place

MAX_FURTHER: Final = 20
"""Further requests for one page: eight of a site reader, five for a dead address, their redirects, and Markdown."""
MAX_LISTS_AN_HOUR: Final = 30
"""Requests in an hour to one host for lists that lead to the right address of a dead one: those of six addresses."""
MAX_API_AN_HOUR: Final = 600
"""Requests in an hour to one host with an API. Most set lower limits, which Keyhole obeys once it meets them."""
HOUR: Final = 3_600.0
MAX_HOSTS: Final = 1_000
"""Hosts whose requests are counted; of more, those without a request for the longest time are forgotten."""


class HourlyRequests:
    """Counts the further requests to each host, in hours that begin with a request. `now` returns seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def spend(self, host: str, permission: Permission) -> None:
        """Count a request, or a hop of it, if it is a further one.

        Raises KeyholeError (rate_limited) if the call, or in this hour the host, has had as many as it may.
        """
        if not permission.is_further:
            return
        if not permission.allowance.take():
            raise KeyholeError(Code.RATE_LIMITED, "the call has made as many further requests as it may")
        now = self._now()
        began, count = self._counts.pop(host, (now, 0))
        if now - began >= HOUR:
            began, count = now, 0
        self._counts[host] = began, count + 1
        while len(self._counts) > MAX_HOSTS:
            self._counts.popitem(last=False)
        if count >= permission.most_an_hour:
            raise KeyholeError(Code.RATE_LIMITED, f"{host} has had as many further requests in this hour as it may")


@dataclass(slots=True)
class Allowance:
    """The further requests that a call may still make, shared by all who make them."""

    left: int = MAX_FURTHER

    def take(self) -> bool:
        """Take one request; return False if none is left."""
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Credential:
    """The value of an Authorization header, and the place whose addresses get it."""

    authorization: str = field(repr=False)
    place: Place

    def applies_to(self, url: str) -> bool:
        """Return True if an address gets the credential: an https address in its place."""
        return url.startswith("https://") and self.place.contains(url)


@dataclass(frozen=True, slots=True)
class Permission:
    """What the requests of one call, or of one part of a call, may reach."""

    deadline: float = 0.0
    """The time of the event loop's clock at which the requests end, or 0 for the operator's timeout."""
    accepts: Callable[[str], bool] = bool  # bool accepts every URL, since no URL is empty
    """Returns True if the call accepts an address: the sites that the caller named."""
    places: tuple[Place, ...] = ()
    """The places that further requests may reach. None for a request of the address that the caller named."""
    credential: Credential | None = None
    allowance: Allowance = field(default_factory=Allowance, compare=False)
    most_an_hour: int = 0
    """Further requests in an hour to one host, of all calls together."""

    def permits(self, url: str) -> bool:
        """Return True if a request, or a hop of it, may reach an address."""
        return self.accepts(url) and (not self.places or any(place.contains(url) for place in self.places))

    def narrow(self, *places: Place, most_an_hour: int = MAX_LISTS_AN_HOUR) -> Permission:
        """Return the permission for further requests to places, of which none may be outside of the narrowed ones."""
        allowed = tuple(
            place for place in places if not self.places or any(each.includes(place) for each in self.places)
        )
        if not allowed:
            raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, "the call does not permit requests to this place")
        return replace(self, places=allowed, credential=None, most_an_hour=most_an_hour)

    def with_credential(self, credential: Credential) -> Permission:
        """Return the permission with a credential for a part of its places."""
        return replace(self, credential=credential)

    def for_api(self, *places: Place) -> Permission:
        """Return the permission for the API of a site whose page the call accepts. The API may have another host."""
        return replace(self.narrow(*places, most_an_hour=MAX_API_AN_HOUR), accepts=bool)

    def until(self, deadline: float) -> Permission:
        """Return the permission with an earlier deadline."""
        return replace(self, deadline=min(self.deadline, deadline) if self.deadline else deadline)

    @property
    def is_further(self) -> bool:
        """Return True if the requests are further ones, which are counted."""
        return bool(self.places)


ANY: Final = Permission()
"""The permission of a request that the operator or a test makes: any address, within the operator's settings."""
