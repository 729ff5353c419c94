"""Read an issue or pull request of GitHub: text, comments, reviews and diff (docs.github.com/rest/issues, /pulls)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from keyhole.sites.document import Part, SiteDocument, code_part
from keyhole.sites.readers.base import (
    MAX_REQUESTS,
    PER_PAGE,
    Answer,
    Request,
    count_words,
    get_list,
    get_text,
    one_line,
    post,
)

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

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Request the object first; then all pages of its comments, and reviews and diff of a pull request."""
        if not answers:
            return [Request(f"{self.api}/issues/{self.number}")]
        if len(answers) > 1:
            return []
        pull, page = f"{self.api}/pulls/{self.number}", f"per_page={PER_PAGE}"
        requests = [
            Request(pull),
            Request(f"{pull}/reviews?{page}", optional=True, label="the reviews"),
            Request(f"{pull}/comments?{page}", optional=True, label="the comments on lines"),
            Request(f"{self.page}/pull/{self.number}.diff", optional=True, label="the diff"),
        ]
        pages = -(-_number(answers[0].json(), "comments") // PER_PAGE)
        comments = f"{self.api}/issues/{self.number}/comments?per_page={PER_PAGE}&page="
        first = requests if self.is_pull else []
        return [*first, *(Request(f"{comments}{page}") for page in range(1, pages + 1))][: MAX_REQUESTS - 1]

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
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


def _is_full(answer: Answer) -> bool:
    """Return True if an answer has as many entries as one may have, so that more may follow."""
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
