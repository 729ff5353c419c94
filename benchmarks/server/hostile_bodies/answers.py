"""Answers of the APIs of sites: of forges, of package registries, and of the lists behind dead links of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.server.hostile_bodies.attack import (
    CHARACTERS,
    HOST,
    JSON,
    NESTED,
    NUMBER,
    TOKEN,
    Attack,
    Body,
    BodyKind,
    Lead,
    SiteReply,
    between,
    containers,
    dumps,
    fetch,
    kind,
    nested,
    numbered,
    numbers,
    runs,
    strings,
    words,
)
from keyhole.config.config import Config

LIMIT: Final = Config().max_bytes
XML: Final = "application/xml"
TEXT: Final = "text/plain; charset=utf-8"
_PROJECT: Final = f"{HOST}/api/v4/projects/g%2Fp"
_ISSUE: Final = dumps({"title": "t", "description": "words", "body": "words", "user_notes_count": 1, "comments": 1})
_HEADING: Final = '{"title":"t","user_notes_count":0,"comments":0,'


def answer(url: str, target: str, content_type: str = JSON, earlier: Mapping[str, bytes] | None = None) -> Lead:
    """Return the lead to the answer at `target` by a fetch of `url`. `earlier`: the answers before it."""
    routes = {where: SiteReply(body, JSON) for where, body in (earlier or {}).items()}

    def lead(body: bytes) -> Attack:
        return fetch(url, {**routes, target: SiteReply(body, content_type)}, target)

    return lead


GITLAB: Final = answer(
    f"http://{HOST}/g/p/-/issues/1", f"{_PROJECT}/issues/1", earlier={f"{_PROJECT}/issues/1/notes": b"[]"}
)
GITLAB_NOTES: Final = answer(
    f"http://{HOST}/g/p/-/issues/1", f"{_PROJECT}/issues/1/notes", earlier={f"{_PROJECT}/issues/1": _ISSUE}
)
_ALIKE: Final = "ab" * 120
"""The name of a dead file whose list has names that are spelt nearly like it."""
GITLAB_TREE: Final = answer(f"http://{HOST}/g/p/-/blob/main/x/{_ALIKE}.md", f"{_PROJECT}/repository/tree")
_REPO: Final = f"api.github.com/repos/{TOKEN}/tool"
GITHUB: Final = answer(f"https://github.com/{TOKEN}/tool/issues/1", f"{_REPO}/issues/1")
GITHUB_COMMENTS: Final = answer(
    f"https://github.com/{TOKEN}/tool/issues/1", f"{_REPO}/issues/1/comments", earlier={f"{_REPO}/issues/1": _ISSUE}
)
GITHUB_README: Final = answer(
    f"https://github.com/{TOKEN}/tool", f"{_REPO}/readme",
    earlier={_REPO: dumps({"full_name": "t", "stargazers_count": 1})},
)  # fmt: skip
GITHUB_TREE: Final = answer(f"https://github.com/{TOKEN}/tool/blob/main/x/readme.md", f"{_REPO}/git/trees/main")
GITHUB_DIFF: Final = answer(
    f"https://github.com/{TOKEN}/tool/pull/1", f"github.com/{TOKEN}/tool/pull/1.diff", TEXT,
    {f"{_REPO}/issues/1": _ISSUE, f"{_REPO}/pulls/1": _ISSUE, f"{_REPO}/issues/1/comments": b"[]"},
)  # fmt: skip
PYPI: Final = answer(f"https://pypi.org/project/{TOKEN}/", f"pypi.org/pypi/{TOKEN}/json")
PYPI_FEED: Final = answer(f"https://pypi.org/project/{TOKEN}/", f"pypi.org/rss/project/{TOKEN}/releases.xml", XML)
_MANIFEST: Final = dumps({"name": TOKEN, "version": "1"})
_NPM: Final = f"https://www.npmjs.com/package/{TOKEN}"
NPM: Final = answer(_NPM, f"registry.npmjs.org/{TOKEN}/latest")
NPM_VERSIONS: Final = answer(
    _NPM, f"registry.npmjs.org/{TOKEN}", earlier={f"registry.npmjs.org/{TOKEN}/latest": _MANIFEST}
)
_CRATE: Final = f"crates.io/api/v1/crates/{TOKEN}"
CRATES: Final = answer(f"https://crates.io/crates/{TOKEN}", _CRATE)
CRATES_README: Final = answer(
    f"https://crates.io/crates/{TOKEN}", f"{_CRATE}/1/readme", "text/html",
    {_CRATE: dumps({"crate": {"name": "c", "newest_version": "1"}, "versions": [{"num": "1"}]})},
)  # fmt: skip
_MAVEN: Final = f"repo1.maven.org/maven2/g/{TOKEN}"
MAVEN: Final = answer(
    f"https://central.sonatype.com/artifact/g/{TOKEN}/1", f"{_MAVEN}/maven-metadata.xml", XML,
    {f"{_MAVEN}/1/{TOKEN}-1.pom": b"<project/>"},
)  # fmt: skip
MAVEN_POM: Final = answer(
    f"https://central.sonatype.com/artifact/g/{TOKEN}/1", f"{_MAVEN}/1/{TOKEN}-1.pom", XML,
    {f"{_MAVEN}/maven-metadata.xml": b"<version>1</version>"},
)  # fmt: skip
GEMS: Final = answer(f"https://rubygems.org/gems/{TOKEN}", f"rubygems.org/api/v1/gems/{TOKEN}.json")
_QUESTION: Final = f"api.stackexchange.com/2.3/questions/{NUMBER}"
QUESTION: Final = answer(
    f"https://stackoverflow.com/questions/{NUMBER}/q", _QUESTION, earlier={f"{_QUESTION}/answers": b'{"items":[]}'}
)
STORY: Final = answer(f"https://news.ycombinator.com/item?id={NUMBER}", f"hn.algolia.com/api/v1/items/{NUMBER}")
LOBSTERS: Final = answer(f"https://lobste.rs/s/{TOKEN}", f"lobste.rs/s/{TOKEN}.json")
ARXIV: Final = answer(f"https://arxiv.org/abs/2001.{NUMBER}", f"export.arxiv.org/api/query 2001.{NUMBER}", XML)
_RFC: Final = f"www.rfc-editor.org/rfc/rfc{NUMBER}"
RFC: Final = answer(f"https://{_RFC}", f"{_RFC}.json", earlier={f"{_RFC}.txt": b"words"})
TOPIC: Final = answer(f"http://forum.{HOST}/t/topic/1", f"forum.{HOST}/t/1.json")
UNPKG: Final = answer(f"https://unpkg.com/{TOKEN}@1/dead.js", f"unpkg.com/{TOKEN}@1/")
JSDELIVR: Final = answer(
    f"https://cdn.jsdelivr.net/npm/{TOKEN}@1/{_ALIKE}.js", f"data.jsdelivr.com/v1/packages/npm/{TOKEN}@1"
)
NPM_TAGS: Final = answer(f"{_NPM}/v/9", f"registry.npmjs.org/-/package/{TOKEN}/dist-tags")
PYPI_RELEASES: Final = answer(f"https://pypi.org/project/{TOKEN}/9/", f"pypi.org/rss/project/{TOKEN}/releases.xml", XML)
ARCHIVE: Final = answer(f"http://{HOST}/dead", f"archive.org/wayback/available {TOKEN}")
REGISTRIES: Final = (
    CRATES, UNPKG, STORY, GITHUB, GITHUB_COMMENTS, GITHUB_README, GITHUB_TREE, GITLAB_TREE, PYPI, NPM, NPM_VERSIONS,
    GEMS, QUESTION, LOBSTERS, TOPIC, RFC, JSDELIVR, NPM_TAGS, ARCHIVE,
)  # fmt: skip
HOSTS: Final = (
    "github.com", "api.github.com", "raw.githubusercontent.com", "pypi.org", "www.npmjs.com", "registry.npmjs.org",
    "crates.io",
    "central.sonatype.com", "repo1.maven.org", "rubygems.org", "stackoverflow.com", "api.stackexchange.com",
    "news.ycombinator.com", "hn.algolia.com", "lobste.rs", "arxiv.org", "export.arxiv.org", "www.rfc-editor.org",
    "unpkg.com", "cdn.jsdelivr.net", "data.jsdelivr.com", "archive.org",
)  # fmt: skip
"""The hosts that attacks share."""


def _comments(unit: str, name: str = "body") -> Body:
    """Return a list of one comment whose text is a run of `unit`."""
    return between(f'[{{"{name}":"', dumps(unit).decode().strip('"'), '"}]')


_PYPI_TEXT: Final = '{"info":{"name":"p","version":"1","description_content_type":"text/markdown","description":"'
_STORY: Final = '{"title":"t","author":"a","children":'
KINDS: Final = (
    kind("api-nested", LIMIT, GITLAB, *NESTED, nested('{"title":', "}", middle='"t"')),
    kind("api-values", LIMIT, GITLAB, *containers('{"title":"t","labels":', "}"),
         *numbers('{"title":"t","user_notes_count":', "}"), *strings('{"title":"t","description":', "}")),
    kind("api-notes", LIMIT, GITLAB_NOTES, numbered("[", '{"body":"n {n}","author":{"username":"a"}},', "{}]"),
         numbered("[", '{"system":true,"n":"{n}"},', "{}]")),
    kind("issue-heading", LIMIT, GITLAB, *(
        between(f'{_HEADING}"{name}":"{start}', "\u00a0", '1.0\\n\\nThe mark ends."}')
        for name, start in (("description", "words\\n\\n## "), ("title", "t"), ("state", "s")))),
    kind("issue-github", LIMIT, GITHUB,
         between(f'{_HEADING}"body":"words\\n\\n## ', "\u00a0", '1.0\\n\\nThe mark ends."}'),
         between(f'{_HEADING}"labels":[', '{"name":"l"},', "{}]}")),
    kind("issue-comments", LIMIT, GITHUB_COMMENTS, *map(_comments, CHARACTERS)),
    kind("issue-diff", LIMIT, GITHUB_DIFF, *runs("+", "- \n", "@@ -1 +1 @@\n", "diff --git a/a b/b\n", "`")),
    BodyKind("registry-nested", LIMIT, tuple((lead, NESTED[number % 2]) for number, lead in enumerate(REGISTRIES))),
    BodyKind("registry-versions", LIMIT, (
        (PYPI, numbered('{"info":{"name":"p","version":"1"},"releases":{', '"{n}":[{"yanked":false}],', '"1":[]}}')),
        (NPM_VERSIONS, numbered('{"versions":{', '"{n}":{"deprecated":"d"},', '"1":{}}}')),
        (NPM_TAGS, numbered("{", '"t{n}":"1.{n}.0",', '"latest":"1"}')),
        (CRATES, numbered('{"crate":{"name":"c","newest_version":"1"},"versions":[', '{"num":"{n}"},',
                          '{"num":"1"}]}')),
        (GEMS, numbered('{"name":"g","version":"1","dependencies":{"runtime":[', '{"name":"{n}","requirements":"1"},',
                        '{"name":"g","requirements":"1"}]}}')),
    )),
    BodyKind("registry-texts", LIMIT, (
        (PYPI, between(_PYPI_TEXT, "\u00a0", '"}}')), (NPM_VERSIONS, between('{"readme":"## ', "\u00a0", '1.0"}')),
        (CRATES_README, nested("<div>", "</div>")), (GITHUB_README, between('{"content":"', "Iw==", '"}')),
        (PYPI, between(_PYPI_TEXT, "[", '"}}')), (PYPI, between(_PYPI_TEXT, "`", '"}}')),
        (PYPI, between('{"info":{"name":"p","version":"1","project_urls":{"u":"', "\u00a0", '"}}}')),
    )),
    BodyKind("registry-xml", LIMIT, (
        (MAVEN_POM, between("", "<dependency> ")), (PYPI_FEED, between("<item><title>", "a")),
        (PYPI_RELEASES, between("<link>", " ")), *((MAVEN, each) for each in runs("<version>", "<version>a </", " ")),
        (MAVEN_POM, between("<url>", " ", "</url>")), *((MAVEN_POM, each) for each in runs("<dependency>", "<url>")),
        *((PYPI_FEED, each) for each in runs("<item>", "<title>", "<item><title>t</title>")),
        *((PYPI_RELEASES, each) for each in runs("<link>", "<link>\n")),
        *((ARXIV, between("<entry>", unit)) for unit in ("<title>", "<category ")),
        (ARXIV, between("<entry><title ", "a")),
    )),
    BodyKind("story-comments", LIMIT, (
        (STORY, nested(f'[{_STORY}', "}]", start=_STORY, middle="[]", end="}")),
        (STORY, numbered(f"{_STORY}[", '{"author":"a","text":"{n}"},', "{}]}")),
        (QUESTION, between('{"items":[{"question_id":1,"score":1,"creation_date":1,"title":"t","body":"', "<b>",
                           '"}]}')),
    )),
    BodyKind("tree-files", LIMIT, (
        (GITHUB_TREE, numbered('{"tree":[', '{"type":"blob","path":"x/read{n}me.md"},', "{}]}")),
        (GITLAB_TREE, words('{"type":"blob","path":"x/a{word}.md"},', ("bba", "ab", "aa", "bb"), 239, "[", "{}]")),
    )),
    BodyKind("package-files", LIMIT, (
        (UNPKG, numbered('{"files":[', '{"path":"/d{n}ead.js"},', '{"path":"/"}]}')),
        (JSDELIVR, words('{"name":"/a{word}.js"},', ("bba", "ab", "aa", "bb"), 239, '{"files":[', '{"name":"/"}]}')),
    )),
)  # fmt: skip
