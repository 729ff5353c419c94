"""The permission of a call: which addresses its requests may reach, how many, until when, and with which credential.

It is made when a call begins. The request for the address that the caller named is made under it. Whoever makes a
further request narrows it first: to places that belong to the same owner, and to a number of requests. Nothing widens
it, and the client checks it on every hop of every request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.bounded_dict import BoundedDict

# Owners: the part of the web that belongs to the owner of an address, a host or a folder of a shared host.
#
# On a forge, a package registry or a host of users' pages, the pages of one owner say nothing about those of another.

_SHARED_HOSTS: Final = {
    "github.com": 1, "raw.githubusercontent.com": 1, "gist.github.com": 1, "gist.githubusercontent.com": 1,
    "gitlab.com": 1, "codeberg.org": 1, "bitbucket.org": 1, "gitee.com": 1, "git.sr.ht": 1, "launchpad.net": 1,
    "sourceforge.net": 2, "api.github.com": 3, "huggingface.co": 1, "kaggle.com": 2, "npmjs.com": 2, "unpkg.com": 1,
    "cdn.jsdelivr.net": 2, "pypi.org": 2, "crates.io": 2, "docs.rs": 1, "rubygems.org": 2, "packagist.org": 2,
    "pkg.go.dev": 2, "hub.docker.com": 2, "medium.com": 1, "dev.to": 1, "reddit.com": 2, "old.reddit.com": 2,
    "sites.google.com": 2, "docs.google.com": 3, "drive.google.com": 3, "storage.googleapis.com": 1,
    "s3.amazonaws.com": 1, "archive.org": 2, "codepen.io": 1, "hackmd.io": 1,
}  # fmt: skip
"""How many segments of a path name the owner, by host without `www.`: github.com/ANN, pypi.org/project/NAME."""
_SCOPED_PACKAGES: Final = frozenset({"npmjs.com", "unpkg.com", "cdn.jsdelivr.net"})
"""Hosts of npm's packages. The name of a package with a scope, `@scope/name`, has two segments."""
_PERSONAL: Final = ("~", "@")
"""How the first segment of a user's pages begins on hosts of any program, as in /~ann/ and /@ann/."""
_GITLAB: Final = "-"
"""The segment after the project in addresses of GitLab on any host, whose first segment names a user or a group."""
_APIS: Final[dict[tuple[str, ...], int]] = {("api", "v4", "projects"): 4, ("api", "v1", "repos"): 5}
"""How many segments name a project in the API of GitLab, and a repository in that of Gitea, on any host."""
_DEFAULT_PORT = re.compile(r":(?:80|443)$")
_MAX_DECODINGS: Final = 3
"""Times that an address is decoded to find hidden segments. Servers decode once, and proxies before them once more."""


@dataclass(frozen=True, slots=True)
class WebPlace:
    """A folder of a site and all that is in it. `site`: host and port, without `www.` and the usual ports."""

    site: str
    folder: tuple[str, ...] = ()
    """The segments of the path in lower case; empty for the whole site."""

    def contains(self, url: str) -> bool:
        """Return True if an absolute address, under http or https, is in this place."""
        return self.includes(WebPlace(*_split(url))) and not hides_segments(url)

    def includes(self, other: WebPlace) -> bool:
        """Return True if another place is this one or a folder in it."""
        return other.site == self.site and other.folder[: len(self.folder)] == self.folder


def place_of(url: str, segments: int = 0) -> WebPlace:
    """Return the place of the first `segments` segments of an absolute address."""
    site, folder = _split(url)
    return WebPlace(site, folder[:segments])


def owner_of(url: str) -> WebPlace:
    """Return the place that belongs to the owner of an absolute address."""
    site, folder = _split(url)
    segments = _APIS.get(folder[:3], 0) or _SHARED_HOSTS.get(site, 0)
    if not segments and (_GITLAB in folder[1:] or any(each.startswith(_PERSONAL) for each in folder[:1])):
        segments = 1
    if site in _SCOPED_PACKAGES and any(each.startswith("@") for each in folder[segments - 1 : segments]):
        segments += 1
    return WebPlace(site, folder[:segments])


def hides_segments(url: str) -> bool:
    """Return True if a server that decodes the path of an address would find dot segments in it."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    for _ in range(_MAX_DECODINGS):
        path, decoded = unquote(path), path
        if not {".", ".."}.isdisjoint(re.split(r"[/\\]", path)):
            return True
        if path == decoded:
            return False
    return "%" in path


def _split(url: str) -> tuple[str, tuple[str, ...]]:
    """Return site and segments of an absolute address, in lower case."""
    authority, _, path = url.partition("://")[2].partition("?")[0].partition("#")[0].lower().partition("/")
    return _DEFAULT_PORT.sub("", authority).removeprefix("www."), tuple(each for each in path.split("/") if each)


# Permissions: the addresses that the requests of a call may reach, and how many requests it may make.

MAX_FURTHER: Final = 20
"""Further requests for one page: eight of a site reader, five for a dead address, their redirects, and Markdown."""
MAX_LISTS_AN_HOUR: Final = 30
"""Requests in an hour to one host for lists that may name the new address of a dead one: enough for six dead
addresses."""
MAX_API_AN_HOUR: Final = 600
"""Requests in an hour to one host with an API. Most set lower limits, which Keyhole obeys once it meets them."""
HOUR: Final = 3_600.0
MAX_HOSTS: Final = 1_000
"""Hosts whose requests are counted; of more, those without a request for the longest time are forgotten."""


class HourlyRequests:
    """Counts the further requests to each host, in hours that begin with a request. `now` returns seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._counts: BoundedDict[str, tuple[float, int]] = BoundedDict(MAX_HOSTS)

    def spend(self, host: str, permission: Permission) -> None:
        """Count a further request, or a hop of it.

        Raises KeyholeError (rate_limited) if the call, or the host in this hour, has reached its limit.
        """
        if not permission.is_further:
            return
        if not permission.allowance.take():
            raise KeyholeError(Code.RATE_LIMITED, "the call has made as many further requests as it may")
        now = self._now()
        began, count = self._counts.get(host, (now, 0))
        if now - began >= HOUR:
            began, count = now, 0
        self._counts[host] = began, count + 1
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
    place: WebPlace

    def applies_to(self, url: str) -> bool:
        """Return True if an address gets the credential: an https address in its place."""
        return url.startswith("https://") and self.place.contains(url)


@dataclass(frozen=True, slots=True)
class Permission:
    """The addresses that the requests of one call, or of one part of a call, may reach."""

    deadline: float = 0.0
    """The time of the event loop's clock at which the requests end, or 0 for the operator's timeout."""
    accepts: Callable[[str], bool] = bool  # bool accepts every URL, since no URL is empty
    """Returns True if the call accepts an address: the sites that the caller named."""
    places: tuple[WebPlace, ...] = ()
    """The places that further requests may reach. None for a request of the address that the caller named."""
    credential: Credential | None = None
    allowance: Allowance = field(default_factory=Allowance, compare=False)
    most_an_hour: int = 0
    """Further requests in an hour to one host, of all calls together."""

    def permits(self, url: str) -> bool:
        """Return True if a request, or a hop of it, may reach an address."""
        return self.accepts(url) and (not self.places or any(place.contains(url) for place in self.places))

    def narrow(self, *places: WebPlace, most_an_hour: int = MAX_LISTS_AN_HOUR) -> Permission:
        """Return the permission for further requests to `places`. A place outside of the current places is left out."""
        allowed = tuple(
            place for place in places if not self.places or any(each.includes(place) for each in self.places)
        )
        if not allowed:
            raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, "the call does not permit requests to this place")
        return replace(self, places=allowed, credential=None, most_an_hour=most_an_hour)

    def with_credential(self, credential: Credential) -> Permission:
        """Return the permission with a credential for a part of its places."""
        return replace(self, credential=credential)

    def for_api(self, *places: WebPlace) -> Permission:
        """Return the permission for the API of a site whose page the call accepts. The API may have another host."""
        return replace(self.narrow(*places, most_an_hour=MAX_API_AN_HOUR), accepts=bool)

    def until(self, deadline: float) -> Permission:
        """Return the permission with an earlier deadline."""
        return replace(self, deadline=min(self.deadline, deadline) if self.deadline else deadline)

    @property
    def is_further(self) -> bool:
        """Return True for further requests, which are counted."""
        return bool(self.places)


ANY: Final = Permission()
"""The permission of a request that the operator or a test makes: any address, within the operator's settings."""
