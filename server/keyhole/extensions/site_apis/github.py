"""Read issues, pull requests, repositories and gists of GitHub (docs.github.com/rest)."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from keyhole.extensions.site_apis.answer_text import PER_PAGE, URL_END, count_words, get_list, get_text, one_line, post
from keyhole.extensions.site_apis.site_readers import MAX_REQUESTS, FixedReader, SiteAnswer, SiteRequest
from keyhole.fetch.urls import api_address, segments_of
from keyhole.sites.document import Part, SiteDocument, code_part, file_part

# Discussions: issues and pull requests, with comments, reviews and the diff (docs.github.com/rest/issues, /pulls).

MAX_DIFF_CHARS: Final = 200_000
"""Characters of a diff. A longer one is cut, and says so."""

_URL = re.compile(
    r"https?://(?:www\.)?github\.com/([\w.-]+)/([\w.-]+)/(issues|pull)/(\d+)(?:/files|/commits|/?)?(?:[?#].*)?$"
)


@dataclass(frozen=True, slots=True)
class GitHubDiscussion:
    """An issue or a pull request, which GitHub numbers together."""

    api: str
    page: str
    number: str
    is_pull: bool
    name: str = "github"

    def next_requests(self, answers: Sequence[SiteAnswer]) -> Sequence[SiteRequest]:
        """Request the object first; then all pages of its comments, and reviews and diff of a pull request."""
        if not answers:
            return [SiteRequest(f"{self.api}/issues/{self.number}")]
        if len(answers) > 1:
            return []
        pull, page = f"{self.api}/pulls/{self.number}", f"per_page={PER_PAGE}"
        requests = [
            SiteRequest(pull),
            SiteRequest(f"{pull}/reviews?{page}", optional=True, label="the reviews"),
            SiteRequest(f"{pull}/comments?{page}", optional=True, label="the comments on lines"),
            SiteRequest(f"{self.page}/pull/{self.number}.diff", optional=True, label="the diff"),
        ]
        pages = -(-_number(answers[0].json(), "comments") // PER_PAGE)
        comments = f"{self.api}/issues/{self.number}/comments?per_page={PER_PAGE}&page="
        first = requests if self.is_pull else []
        return [*first, *(SiteRequest(f"{comments}{page}") for page in range(1, pages + 1))][: MAX_REQUESTS - 1]

    def document(self, answers: Sequence[SiteAnswer]) -> SiteDocument:
        """Compose the discussion: facts, first text, comments and reviews by date, then the diff."""
        issue = answers[0].json()
        by_kind = {kind: [each for each in answers if f"/{self.number}{kind}" in each.request] for kind in _KINDS}
        pull: Mapping[str, Any] = next(
            (each.json() for each in answers if each.request.endswith(f"/pulls/{self.number}")), {}
        )
        comments = [
            each for answer in by_kind["/comments?"] if "/issues/" in answer.request for each in get_list(answer.json())
        ]
        entries = [
            *(_comment(each) for each in comments),
            *(_review(each) for answer in by_kind["/reviews?"] if answer.found for each in get_list(answer.json())),
            *(_line_comment(each) for answer in by_kind["/comments?"] if "/pulls/" in answer.request and answer.found
              for each in get_list(answer.json())),
        ]  # fmt: skip
        diff = next((answer.text for answer in by_kind[".diff"] if answer.found), "")
        missing = _number(issue, "comments") - len(comments)
        parts = [
            Part(_facts(issue, pull)),
            *post(get_text(issue, "user", "login"), get_text(issue, "created_at"), get_text(issue, "body")),
            *(part for _, parts in sorted((entry for entry in entries if entry[1]), key=_date) for part in parts),
            *([Part(f"{count_words(missing, 'further comment')} not read.")] if missing > 0 else []),
            *(
                Part(f"Further {name} not read.")
                for name, kind in (("reviews", "/reviews?"), ("comments on lines", "/comments?"))
                if any(_is_full(answer) for answer in by_kind[kind] if "/pulls/" in answer.request)
            ),
            *_diff_parts(diff),
        ]
        return SiteDocument(
            f"{get_text(issue, 'title')} · {'Pull request' if self.is_pull else 'Issue'} #{self.number}",
            tuple(parts),
            author=get_text(issue, "user", "login"),
            published=get_text(issue, "created_at"),
            modified=get_text(issue, "updated_at"),
            site="GitHub",
            cut=missing > 0 or len(diff) > MAX_DIFF_CHARS,
        )


_KINDS: Final = ("/comments?", "/reviews?", ".diff")
Entry = tuple[str, tuple[Part, ...]]
"""The date of an entry, by which entries are sorted, and its parts."""


def match_discussion(url: str) -> GitHubDiscussion | None:
    """Return the reader of an issue or pull request, None for any other address."""
    if match := _URL.match(url):
        owner, repo, kind, number = match.groups()
        return GitHubDiscussion(
            f"https://api.github.com/repos/{owner}/{repo}", f"https://github.com/{owner}/{repo}", number, kind == "pull"
        )
    return None


def _number(value: Any, name: str) -> int:
    number = value[name]
    if not isinstance(number, int):
        raise TypeError(f"{name} is not a number")
    return number


def _is_full(answer: SiteAnswer) -> bool:
    """Return True if an answer is a full page of entries, so that more may follow."""
    return answer.found and len(get_list(answer.json())) >= PER_PAGE


def _date(entry: Entry) -> str:
    return entry[0]


def _facts(issue: Mapping[str, Any], pull: Mapping[str, Any]) -> str:
    """Return the line with state, labels, milestone and assignees, and the branches of a pull request."""
    state = "merged" if pull.get("merged_at") else get_text(issue, "state")
    reason = get_text(issue, "state_reason").replace("_", " ")
    labels = ", ".join(one_line(get_text(each, "name")) for each in issue.get("labels") or ())
    assigned = ", ".join(one_line(get_text(each, "login")) for each in issue.get("assignees") or ())
    milestone = one_line(get_text(issue, "milestone", "title"))
    branches = f"{get_text(pull, 'head', 'label')} into {get_text(pull, 'base', 'label')}" if pull else ""
    size = f"{pull.get('changed_files')} files, +{pull.get('additions')} −{pull.get('deletions')}" if pull else ""
    facts = [
        f"State: {state}{f' ({reason})' if reason and state == 'closed' else ''}",
        labels and f"Labels: {labels}",
        milestone and f"Milestone: {milestone}",
        assigned and f"Assigned to: {assigned}",
        branches and f"Branches: {one_line(branches)}",
        size and f"Changes: {size}",
    ]
    return " · ".join(fact for fact in facts if fact)


def _comment(comment: Mapping[str, Any]) -> Entry:
    date = get_text(comment, "created_at")
    return date, post(get_text(comment, "user", "login"), date, get_text(comment, "body"), _role(comment))


def _review(review: Mapping[str, Any]) -> Entry:
    date, body = get_text(review, "submitted_at"), get_text(review, "body")
    state = get_text(review, "state").replace("_", " ").lower()
    if not body and state == "commented":  # the review only holds comments on lines
        return date, ()
    return date, post(get_text(review, "user", "login"), date, body, f"review: {state}")


def _line_comment(comment: Mapping[str, Any]) -> Entry:
    date, line = get_text(comment, "created_at"), comment.get("line") or comment.get("original_line") or ""
    place = f"on {get_text(comment, 'path')}{f':{line}' if line else ''}"
    return date, post(get_text(comment, "user", "login"), date, get_text(comment, "body"), one_line(place))


def _role(comment: Mapping[str, Any]) -> str:
    role = get_text(comment, "author_association").lower()
    return role if role in {"owner", "member", "collaborator"} else ""


def _diff_parts(diff: str) -> Iterator[Part]:
    if diff:
        yield Part("## Diff")
        yield code_part(diff[:MAX_DIFF_CHARS], ".diff")
    if len(diff) > MAX_DIFF_CHARS:
        yield Part(f"The diff has {len(diff):,} characters; the first {MAX_DIFF_CHARS:,} are here.")


# Repositories: files, folders, READMEs, releases, commits and gists (docs.github.com/rest/repos).
#
# A file comes from raw.githubusercontent.com, which has no limit of requests as the API has.

MAX_FILES: Final = 300
"""Files of a commit in one answer."""
_API: Final = "https://api.github.com/repos"
_HOST: Final = r"https?://(?:www\.)?github\.com/([\w.-]+)/([\w.-]+?)"
_REPOSITORY = re.compile(rf"{_HOST}(?:\.git)?{URL_END}")
_FILE = re.compile(rf"{_HOST}/blob/([^?#]+){URL_END}")
_FOLDER = re.compile(rf"{_HOST}/tree/([^/?#]+)/?([^?#]*){URL_END}")
_RELEASE = re.compile(rf"{_HOST}/releases(?:/tag/([^?#]+)|/(latest))?{URL_END}")
_COMMIT = re.compile(rf"{_HOST}/commit/([0-9a-f]{{7,40}}){URL_END}")
_WIKI = re.compile(rf"{_HOST}/wiki(?:/([^/?#]+))?{URL_END}")
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

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
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

    return FixedReader("github", (SiteRequest(api), SiteRequest(f"{api}/readme", optional=True)), compose)


def _readme_text(answer: SiteAnswer) -> str:
    return base64.b64decode(get_text(answer.json(), "content")).decode("utf-8", "replace")


def _file(owner: str, repo: str, place: str) -> FixedReader:
    path = unquote(place.partition("/")[2])

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        return SiteDocument(f"{path} · {owner}/{repo}", (file_part(answers[0].text, path),), site="GitHub")

    raw = api_address("https://raw.githubusercontent.com", owner, repo, *segments_of(place))
    return FixedReader("github", (SiteRequest(raw),), compose, file=raw)


def _folder(owner: str, repo: str, ref: str, path: str) -> FixedReader:
    segments, path = segments_of(path), unquote(path.strip("/"))

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        entries = get_list(answers[0].json())
        entries.sort(key=lambda each: (each.get("type") != "dir", get_text(each, "name")))
        lines = []
        for each in entries:
            mark, size = ("/", "") if each.get("type") == "dir" else ("", f" {each['size']:,} bytes")
            lines.append(f"- [{one_line(get_text(each, 'name'))}{mark}]({get_text(each, 'html_url')}){size}")
        title = f"{path or 'Files'} · {owner}/{repo} at {ref}"
        return SiteDocument(title, (Part("\n".join(lines)),), site="GitHub")

    contents = api_address(f"{_API}/{owner}/{repo}/contents", *segments, ref=unquote(ref))
    return FixedReader("github", (SiteRequest(contents),), compose)


def _release(owner: str, repo: str, tag: str | None, latest: str | None) -> FixedReader:
    api = f"{_API}/{owner}/{repo}/releases"
    request = f"{api}/latest" if latest else f"{api}?per_page=30"
    if tag:
        request = api_address(f"{api}/tags", *segments_of(tag))

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
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

    return FixedReader("github", (SiteRequest(request),), compose)


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
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
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

    return FixedReader("github", (SiteRequest(f"{_API}/{owner}/{repo}/commits/{sha}"),), compose)


def _wiki(owner: str, repo: str, page: str | None) -> FixedReader:
    page = page or "Home"

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        title = f"{unquote(page).replace('-', ' ')} · wiki of {owner}/{repo}"
        return SiteDocument(title, (Part(answers[0].text, "markdown", 1),), site="GitHub")

    raw = api_address("https://raw.githubusercontent.com/wiki", owner, repo, f"{page}.md")
    return FixedReader("github", (SiteRequest(raw),), compose)


def _gist(id: str) -> FixedReader:
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
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
        (SiteRequest(api), SiteRequest(f"{api}/comments?per_page={PER_PAGE}", optional=True, label="the comments")),
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
