"""Read issues, changes and files of GitLab and of Codeberg, whose program is Gitea's.

Sources: docs.gitlab.com/api/issues, /api/merge_requests and /api/notes; codeberg.org/api/swagger. Other hosts of GitLab
are recognised by `/-/` in the path, which no other program uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from keyhole.extensions.site_apis.answer_text import PER_PAGE, URL_END, count_words, get_list, get_text, one_line, post
from keyhole.extensions.site_apis.site_readers import FixedReader, SiteAnswer, SiteRequest
from keyhole.fetch.urls import api_address, segments_of
from keyhole.sites.document import Part, SiteDocument, file_part

_GITLAB = re.compile(rf"(https?://[^/?#]+)/([^?#]+?)/-/(issues|merge_requests|work_items)/(\d+){URL_END}")
_GITLAB_FILE = re.compile(rf"(https?://[^/?#]+)/([^?#]+?)/-/blob/([^?#]+){URL_END}")
_CODEBERG = re.compile(rf"(https?://codeberg\.org)/([\w.-]+/[\w.-]+)/(?:issues|pulls)/(\d+){URL_END}")
_CODEBERG_FILE = re.compile(
    rf"(https?://codeberg\.org)/([\w.-]+/[\w.-]+)/src/(branch|tag|commit)/([^/?#]+)/([^?#]+){URL_END}"
)


def match_forge(url: str) -> FixedReader | None:
    """Return the reader of an issue, change or file, None for any other address."""
    if match := _GITLAB.match(url):
        return _gitlab(*match.groups())
    if match := _CODEBERG.match(url):
        return _codeberg(*match.groups())
    if match := _GITLAB_FILE.match(url):
        site, project, place = match.groups()
        raw = api_address(f"{site}/{project}/-/raw", *segments_of(place))
        return _file("gitlab", raw, place.partition("/")[2], project)
    if match := _CODEBERG_FILE.match(url):
        site, project, kind, ref, path = match.groups()
        raw = api_address(f"{site}/{project}/raw", kind, ref, *segments_of(path))
        return _file("codeberg", raw, path, project)
    return None


def _file(name: str, request: str, path: str, project: str) -> FixedReader:
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        part = file_part(answers[0].text, unquote(path))
        return SiteDocument(f"{unquote(path)} · {project}", (part,), site={"gitlab": "GitLab"}.get(name, "Codeberg"))

    return FixedReader(name, (SiteRequest(request),), compose, file=request)


def _gitlab(site: str, project: str, kind: str, number: str) -> FixedReader:
    kind = "issues" if kind == "work_items" else kind
    api = api_address(f"{site}/api/v4/projects", project, kind, number)
    sign = "!" if kind == "merge_requests" else "#"

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        issue = answers[0].json()
        notes = [each for each in get_list(answers[1].json()) if not each.get("system")] if answers[1].found else []
        entries = [
            (get_text(each, "author", "username"), get_text(each, "created_at"), get_text(each, "body"))
            for each in notes
        ]
        branches = f"{get_text(issue, 'source_branch')} into {get_text(issue, 'target_branch')}" if sign == "!" else ""
        return _discussion(
            issue, entries, f"{issue['title']} · {project}{sign}{number}", "GitLab",
            author=get_text(issue, "author", "username"), text=get_text(issue, "description"), branches=branches,
            labels=[str(each) for each in issue.get("labels") or ()], count=int(issue.get("user_notes_count") or 0),
        )  # fmt: skip

    notes = SiteRequest(f"{api}/notes?sort=asc&order_by=created_at&per_page={PER_PAGE}", optional=True)
    return FixedReader("gitlab", (SiteRequest(api), notes), compose)


def _codeberg(site: str, project: str, number: str) -> FixedReader:
    api = f"{site}/api/v1/repos/{project}/issues/{number}"

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        issue, comments = answers[0].json(), get_list(answers[1].json())
        entries = [
            (get_text(each, "user", "login"), get_text(each, "created_at"), get_text(each, "body")) for each in comments
        ]
        return _discussion(
            issue, entries, f"{issue['title']} · {project}#{number}", "Codeberg",
            author=get_text(issue, "user", "login"), text=get_text(issue, "body"), branches="",
            labels=[get_text(each, "name") for each in issue.get("labels") or ()],
            count=int(issue.get("comments") or 0),
        )  # fmt: skip

    return FixedReader("codeberg", (SiteRequest(api), SiteRequest(f"{api}/comments")), compose)


def _discussion(
    issue: Mapping[str, Any],
    entries: Sequence[tuple[str, str, str]],
    title: str,
    site: str,
    *,
    author: str,
    text: str,
    branches: str,
    labels: Sequence[str],
    count: int,
) -> SiteDocument:
    """Compose an issue or change: facts, its text, and its comments in order. `count`: comments as the site counts."""
    facts = [
        f"State: {get_text(issue, 'state')}",
        f"Labels: {', '.join(map(one_line, labels))}" if labels else "",
        f"Milestone: {one_line(get_text(issue, 'milestone', 'title'))}" if issue.get("milestone") else "",
        f"Branches: {one_line(branches)}" if branches else "",
    ]
    missing = count - len(entries)
    parts = [
        Part(" · ".join(fact for fact in facts if fact)),
        *post(author, get_text(issue, "created_at"), text),
        *(part for entry in entries for part in post(*entry)),
        *([Part(f"{count_words(missing, 'further comment')} not read.")] if missing > 0 else []),
    ]
    return SiteDocument(
        title, tuple(parts), author=author, published=get_text(issue, "created_at"),
        modified=get_text(issue, "updated_at"), site=site, cut=missing > 0,
    )  # fmt: skip
