"""Read files, folders, READMEs, releases, commits and gists of GitHub (docs.github.com/rest/repos).

A file comes from raw.githubusercontent.com, which has no limit of requests as the API has.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from keyhole.sites.api_address import api_address, segments_of
from keyhole.sites.document import Part, SiteDocument, code_part, file_part
from keyhole.sites.readers.base import PER_PAGE, Answer, FixedReader, Request, get_list, get_text, one_line, post

MAX_FILES: Final = 300
"""Files of a commit in one answer."""
_API: Final = "https://api.github.com/repos"
_HOST: Final = r"https?://(?:www\.)?github\.com/([\w.-]+)/([\w.-]+?)"
_END: Final = r"/?(?:[?#].*)?$"
_REPOSITORY = re.compile(rf"{_HOST}(?:\.git)?{_END}")
_FILE = re.compile(rf"{_HOST}/blob/([^?#]+){_END}")
_FOLDER = re.compile(rf"{_HOST}/tree/([^/?#]+)/?([^?#]*){_END}")
_RELEASE = re.compile(rf"{_HOST}/releases(?:/tag/([^?#]+)|/(latest))?{_END}")
_COMMIT = re.compile(rf"{_HOST}/commit/([0-9a-f]{{7,40}}){_END}")
_WIKI = re.compile(rf"{_HOST}/wiki(?:/([^/?#]+))?{_END}")
_GIST = re.compile(r"https?://gist\.github\.com/(?:[\w.-]+/)?([0-9a-f]{5,40})/?(?:[?#].*)?$")
_RESERVED: Final = frozenset({
    "about", "apps", "blog", "collections", "contact", "customer-stories", "enterprise", "events", "explore",
    "features", "issues", "join", "login", "marketplace", "mobile", "new", "notifications", "orgs",
    "organizations", "pricing", "pulls", "readme", "search", "security", "settings", "signup", "sponsors",
    "stars", "team", "topics", "trending", "users",
})  # fmt: skip
"""First segments of addresses of GitHub that are no owner."""


def match_repository(url: str) -> FixedReader | None:
    """Return the reader of an object of a repository, None for any other address."""
    for pattern, make in _MAKERS:
        if (match := pattern.match(url)) and match[1].lower() not in _RESERVED:
            return make(*match.groups())
    return None


def _repository(owner: str, repo: str) -> FixedReader:
    api = f"{_API}/{owner}/{repo}"

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        about, readme = answers[0].json(), answers[1]
        facts = [
            get_text(about, "description"),
            " · ".join(part for part in (
                get_text(about, "homepage"), f"{about['stargazers_count']:,} stars", get_text(about, "language"),
                get_text(about, "license", "spdx_id"), f"default branch {get_text(about, 'default_branch')}",
                "archived" if about.get("archived") else "",
            ) if part),
        ]  # fmt: skip
        body = (
            [Part(_readme_text(readme), "markdown", 1)]
            if readme.found
            else [Part("No README was read: the API has none, or refused.")]
        )
        return SiteDocument(
            get_text(about, "full_name"), (*(Part(one_line(fact), "plain") for fact in facts if fact), *body),
            published=get_text(about, "created_at"), modified=get_text(about, "pushed_at"), site="GitHub",
        )  # fmt: skip

    return FixedReader("github", (Request(api), Request(f"{api}/readme", optional=True)), compose)


def _readme_text(answer: Answer) -> str:
    return base64.b64decode(get_text(answer.json(), "content")).decode("utf-8", "replace")


def _file(owner: str, repo: str, place: str) -> FixedReader:
    path = unquote(place.partition("/")[2])

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        return SiteDocument(f"{path} · {owner}/{repo}", (file_part(answers[0].text, path),), site="GitHub")

    raw = api_address("https://raw.githubusercontent.com", owner, repo, *segments_of(place))
    return FixedReader("github", (Request(raw),), compose, file=raw)


def _folder(owner: str, repo: str, ref: str, path: str) -> FixedReader:
    segments, path = segments_of(path), unquote(path.strip("/"))

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        entries = get_list(answers[0].json())
        entries.sort(key=lambda each: (each.get("type") != "dir", get_text(each, "name")))
        lines = []
        for each in entries:
            mark, size = ("/", "") if each.get("type") == "dir" else ("", f" {each['size']:,} bytes")
            lines.append(f"- [{one_line(get_text(each, 'name'))}{mark}]({get_text(each, 'html_url')}){size}")
        title = f"{path or 'Files'} · {owner}/{repo} at {ref}"
        return SiteDocument(title, (Part("\n".join(lines)),), site="GitHub")

    contents = api_address(f"{_API}/{owner}/{repo}/contents", *segments, ref=unquote(ref))
    return FixedReader("github", (Request(contents),), compose)


def _release(owner: str, repo: str, tag: str | None, latest: str | None) -> FixedReader:
    api = f"{_API}/{owner}/{repo}/releases"
    request = f"{api}/latest" if latest else f"{api}?per_page=30"
    if tag:
        request = api_address(f"{api}/tags", *segments_of(tag))

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        value = answers[0].json()
        releases = [value] if tag or latest else get_list(value)
        parts = [part for each in releases for part in _release_parts(each)]
        title = (
            f"{get_text(value, 'name') or tag or 'Latest release'} · {owner}/{repo}"
            if tag or latest
            else f"Releases · {owner}/{repo}"
        )
        published = get_text(releases[0], "published_at") if releases else ""
        return SiteDocument(title, tuple(parts), published=published, site="GitHub", cut=len(releases) == 30)

    return FixedReader("github", (Request(request),), compose)


def _release_parts(release: Mapping[str, Any]) -> list[Part]:
    tag, name = get_text(release, "tag_name"), get_text(release, "name")
    kind = "draft" if release.get("draft") else "pre-release" if release.get("prerelease") else ""
    files = []
    for each in release.get("assets") or ():
        address = get_text(each, "browser_download_url")
        files.append(f"- [{one_line(get_text(each, 'name'))}]({address}) {each.get('size', 0):,} bytes")
    return [
        Part(f"## {one_line(name or tag)}"),
        *post(get_text(release, "author", "login"), get_text(release, "published_at"), get_text(release, "body"),
              f"tag {one_line(tag)}", kind),
        *([Part("\n".join(files))] if files else []),
    ]  # fmt: skip


def _commit(owner: str, repo: str, sha: str) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
        commit = answers[0].json()
        subject, _, message = get_text(commit, "commit", "message").partition("\n")
        date = get_text(commit, "commit", "author", "date")
        parts = [*post(get_text(commit, "commit", "author", "name"), date, message, f"commit {commit['sha'][:12]}")]
        for file in get_list(commit["files"]):
            changes = f"{get_text(file, 'status')}, +{file['additions']} −{file['deletions']}"
            head, patch = f"## {one_line(get_text(file, 'filename'))} ({changes})", get_text(file, "patch")
            parts += [Part(head), code_part(patch, ".diff") if patch else Part("The API sends no diff of this file.")]
        author = get_text(commit, "commit", "author", "name")
        is_cut = len(commit["files"]) >= MAX_FILES
        return SiteDocument(f"{subject} · {owner}/{repo}", tuple(parts), author, date, site="GitHub", cut=is_cut)

    return FixedReader("github", (Request(f"{_API}/{owner}/{repo}/commits/{sha}"),), compose)


def _wiki(owner: str, repo: str, page: str | None) -> FixedReader:
    page = page or "Home"

    def compose(answers: Sequence[Answer]) -> SiteDocument:
        title = f"{unquote(page).replace('-', ' ')} · wiki of {owner}/{repo}"
        return SiteDocument(title, (Part(answers[0].text, "markdown", 1),), site="GitHub")

    raw = api_address("https://raw.githubusercontent.com/wiki", owner, repo, f"{page}.md")
    return FixedReader("github", (Request(raw),), compose)


def _gist(id: str) -> FixedReader:
    def compose(answers: Sequence[Answer]) -> SiteDocument:
        gist = answers[0].json()
        comments = get_list(answers[1].json()) if answers[1].found else []
        parts = []
        for file in gist["files"].values():
            name, content = get_text(file, "filename"), get_text(file, "content")
            parts += [Part(f"## {one_line(name)}"), file_part(content, name, 2)]
        for each in comments:
            parts += post(get_text(each, "user", "login"), get_text(each, "created_at"), get_text(each, "body"))
        title = get_text(gist, "description") or next(iter(gist["files"]), "Gist")
        return SiteDocument(
            title, tuple(parts), author=get_text(gist, "owner", "login"), published=get_text(gist, "created_at"),
            modified=get_text(gist, "updated_at"), site="GitHub",
            cut=any(file.get("truncated") for file in gist["files"].values()),
        )  # fmt: skip

    api = f"https://api.github.com/gists/{id}"
    return FixedReader(
        "github",
        (Request(api), Request(f"{api}/comments?per_page={PER_PAGE}", optional=True, label="the comments")),
        compose,
    )


_MAKERS: Final[tuple[tuple[re.Pattern[str], Callable[..., FixedReader]], ...]] = (
    (_RELEASE, _release), (_FILE, _file), (_FOLDER, _folder), (_COMMIT, _commit), (_WIKI, _wiki),
    (_REPOSITORY, _repository),
)  # fmt: skip


def match_gist(url: str) -> FixedReader | None:
    """Return the reader of a gist, None for any other address."""
    match = _GIST.match(url)
    return _gist(match[1]) if match else None
