"""Find files near a dead address of a repository: in the tree of its branch, else in that of its default branch.

Sources: docs.github.com/rest/git/trees, docs.gitlab.com/api/repositories, and the API of Gitea (codeberg.org/api).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from keyhole.fetch.permission import Place, place_of
from keyhole.sites.api_address import api_address
from keyhole.sites.dead_links.finder import Reply, State
from keyhole.sites.dead_links.similarity import Candidate, Source
from keyhole.text.parse_json import parse_json

MAX_FILES: Final = 20_000
"""Files of a tree that are compared. GitHub returns at most 100,000."""

_NAME: Final = r"(?P<owner>[^/?#]+)/(?P<repo>[^/?#]+)"
_RAW = re.compile(rf"https?://raw\.githubusercontent\.com/{_NAME}/(?:refs/(?:heads|tags)/)?(?P<ref>[^/?#]+)/")
_GITHUB = re.compile(rf"https?://(?:www\.)?github\.com/{_NAME}/(?P<view>blob|tree|raw|blame|edit)/(?P<ref>[^/?#]+)")
_GITLAB = re.compile(r"\A(?P<site>https?://[^/?#]+)/(?P<project>[^?#]+?)/-/(?P<view>blob|tree|raw)/(?P<ref>[^/?#]+)")
_GITEA = re.compile(
    rf"(?P<site>https?://[^/?#]+)/{_NAME}/(?P<view>src|raw)/(?P<kind>branch|tag|commit)/(?P<ref>[^/?#]+)"
)
_DEFAULT: Final = "HEAD"
"""The name of the default branch in addresses of all these sites but Gitea's."""


@dataclass(frozen=True, slots=True)
class RepositoryFinder:
    """Finds files of one repository."""

    ref: str
    place: Place
    """The place of the repository in the API."""
    tree: Callable[[str], str]
    """Returns the address of the API for the tree of a branch, tag or commit."""
    file: Callable[[str, str], str]
    """Returns the address of a file in the form of the dead one, from its branch and path."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Return the place of the repository in the API."""
        return (self.place,)

    def next_request(self, state: State) -> str:
        """Return the tree of the named branch, then that of the default branch if the named one has no tree."""
        asked = {each.request for each in state.asked}
        trees = (self.tree(self.ref), self.tree(_DEFAULT))
        return (
            "" if any(each.found for each in state.asked) else next((each for each in trees if each not in asked), "")
        )

    def read(self, reply: Reply) -> tuple[Candidate, ...]:
        """Return the files of a tree."""
        is_named = reply.request == self.tree(self.ref)
        ref, source = (self.ref, Source.BRANCH) if is_named else (_DEFAULT, Source.DEFAULT_BRANCH)
        return tuple(Candidate(self.file(ref, quote(path)), "", source) for path in _read_paths(reply.body))


def find_repository(url: str) -> RepositoryFinder | None:
    """Return the finder for an address of a file or folder in a repository, else None."""
    for pattern, make in ((_RAW, _raw), (_GITHUB, _github), (_GITLAB, _gitlab), (_GITEA, _gitea)):
        if match := pattern.match(url):
            with suppress(ValueError):  # parts of the address could lead to another repository
                return make(match)
    return None


def _raw(match: re.Match[str]) -> RepositoryFinder:
    name = f"{match['owner']}/{match['repo']}"
    return _of_github(match, f"https://raw.githubusercontent.com/{name}")


def _github(match: re.Match[str]) -> RepositoryFinder:
    view = "blob" if match["view"] == "tree" else match["view"]
    return _of_github(match, f"https://github.com/{match['owner']}/{match['repo']}/{view}")


def _of_github(match: re.Match[str], base: str) -> RepositoryFinder:
    api = api_address("https://api.github.com/repos", match["owner"], match["repo"])
    return _finder(
        match["ref"], api, 3, lambda ref: api_address(f"{api}/git/trees", ref, recursive=1),
        lambda ref, path: f"{base}/{ref}/{path}",
    )  # fmt: skip


def _gitlab(match: re.Match[str]) -> RepositoryFinder:
    site, project = match["site"], match["project"]
    view = "blob" if match["view"] == "tree" else match["view"]
    api = api_address(f"{site}/api/v4/projects", project)
    return _finder(
        match["ref"], api, 4,
        lambda ref: api_address(f"{api}/repository/tree", recursive="true", per_page=100, ref=unquote(ref)),
        lambda ref, path: f"{site}/{project}/-/{view}/{ref}/{path}",
    )  # fmt: skip


def _gitea(match: re.Match[str]) -> RepositoryFinder:
    site, base = match["site"], f"{match['site']}/{match['owner']}/{match['repo']}/{match['view']}"
    api = api_address(f"{site}/api/v1/repos", match["owner"], match["repo"])
    return _finder(
        match["ref"], api, 5, lambda ref: api_address(f"{api}/git/trees", ref, recursive="true"),
        lambda ref, path: f"{base}/{path}" if ref == _DEFAULT else f"{base}/{match['kind']}/{ref}/{path}",
    )  # fmt: skip


def _finder(
    ref: str, api: str, segments: int, tree: Callable[[str], str], file: Callable[[str, str], str]
) -> RepositoryFinder:
    """Return the finder of a repository. `segments`: of the path of its API. Raises ValueError as `api_address`."""
    tree(ref)
    return RepositoryFinder(ref, place_of(api, segments), tree, file)


def _read_paths(body: bytes) -> Iterator[str]:
    """Yield the paths of the files in the answer of an API: GitLab sends a list, the others an object with one."""
    with suppress(ValueError):
        answer: Any = parse_json(body)
        entries = answer.get("tree") if isinstance(answer, Mapping) else answer
        for entry in entries[:MAX_FILES] if isinstance(entries, list) else ():
            if isinstance(entry, Mapping) and entry.get("type") == "blob" and isinstance(entry.get("path"), str):
                yield entry["path"]
