"""Make reading tasks from recorded answers: an address that people use, a question, and a text that answers it.

The questions and answers are taken from the fields of the answers, not through the readers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

_WORD = re.compile(r"[A-Za-z][\w'-]{3,}")
_SENTENCE = re.compile(r"[A-Z][^.!?\n`<>\[\]()*_|#]{40,200}[.!?]")
MIN_COMMENT: Final = 80
_SEED: Final = 7


@dataclass(frozen=True, slots=True)
class SiteTask:
    """One task. `answer`: a text that the result must contain, with white space collapsed."""

    site: str
    url: str
    question: str
    answer: str


def make_tasks(answers: Mapping[str, bytes]) -> list[SiteTask]:
    """Return all tasks in the order of the addresses."""
    chance = random.Random(_SEED)
    tasks: list[SiteTask] = []
    for url, body in sorted(answers.items()):
        host, path = urlsplit(url).hostname, urlsplit(url).path
        if not body.startswith((b"{", b"[")):  # a diff or another form of the same object
            continue
        if host == "pypi.org":
            tasks += _pypi(json.loads(body), chance)
        elif host == "registry.npmjs.org":
            tasks += _npm(unquote(path[1:]), json.loads(body), chance)
        elif match := re.fullmatch(r"/repos/([\w.-]+/[\w.-]+)/issues/(\d+)/comments", path):
            tasks += _issue(f"https://github.com/{match[1]}/issues/{match[2]}", json.loads(body), answers, url, chance)
        elif match := re.fullmatch(r"/repos/([\w.-]+/[\w.-]+)/issues/(\d+)", path):
            sentences = _SENTENCE.findall(json.loads(body).get("body") or "")
            url = f"https://github.com/{match[1]}/issues/{match[2]}"
            is_complete = json.loads(body)["comments"] == 0 or any(f"{path}/comments" in each for each in answers)
            for sentence in chance.sample(sentences, min(2, len(sentences))) if is_complete else ():
                tasks.append(_known_sentence("github", url, sentence))
        elif match := re.fullmatch(r"/repos/([\w.-]+/[\w.-]+)/commits/([0-9a-f]{40})", path):
            tasks += _commit(f"https://github.com/{match[1]}/commit/{match[2]}", json.loads(body), chance)
        elif match := re.fullmatch(r"/gists/([0-9a-f]+)", path):
            tasks += _gist(f"https://gist.github.com/{match[1]}", json.loads(body), chance)
    return tasks


def _pypi(answer: dict[str, Any], chance: random.Random) -> Iterator[SiteTask]:
    info, name = answer["info"], answer["info"]["name"]
    url = f"https://pypi.org/project/{name}/"
    if info.get("requires_python"):
        yield SiteTask("pypi", url, f"Which Python versions does {name} require?", info["requires_python"])
    releases = {version: files for version, files in answer["releases"].items() if files}
    dated = [(version, min(each["upload_time_iso_8601"][:10] for each in files)) for version, files in releases.items()]
    version, day = chance.choice(sorted(dated, key=lambda each: each[1])[-60:])
    yield SiteTask("pypi", url, f"When was version {version} of {name} released?", f"{version} · {day}")
    if sentences := _SENTENCE.findall(info.get("description") or ""):
        yield _known_sentence("pypi", url, chance.choice(sentences[:20]))


def _npm(name: str, answer: dict[str, Any], chance: random.Random) -> Iterator[SiteTask]:
    url, latest = f"https://www.npmjs.com/package/{name}", answer["dist-tags"]["latest"]
    needs = answer["versions"][latest].get("dependencies") or {}
    if needs:
        dependency = chance.choice(sorted(needs))
        yield SiteTask(
            "npm", url, f"Which version of {dependency} does {name} depend on?", f"{dependency} {needs[dependency]}"
        )
    dated = sorted((day, version) for version, day in answer["time"].items() if version in answer["versions"])
    day, version = chance.choice(dated[-60:])
    yield SiteTask("npm", url, f"When was version {version} of {name} published?", f"{version} · {day[:10]}")


def _issue(
    url: str, comments: list[dict[str, Any]], answers: Mapping[str, bytes], key: str, chance: random.Random
) -> Iterator[SiteTask]:
    is_complete = key.partition("/comments")[0] in answers
    bodies = [each["body"] for each in comments if len(each["body"]) >= MIN_COMMENT]
    if is_complete and (sentences := [each for body in bodies for each in _SENTENCE.findall(body)]):
        for sentence in chance.sample(sentences, min(3, len(sentences))):
            yield _known_sentence("github", url, sentence)


def _commit(url: str, commit: dict[str, Any], chance: random.Random) -> Iterator[SiteTask]:
    lines = [
        line for file in commit["files"] for line in (file.get("patch") or "").splitlines() if len(line.strip()) > 30
    ]
    changed = [line for line in lines if line.startswith(("+", "-"))]
    for line in chance.sample(changed, min(4, len(changed))):
        yield SiteTask("github", url, " ".join(_WORD.findall(line)[:6]) or line[1:40], line[1:])


def _gist(url: str, gist: dict[str, Any], chance: random.Random) -> Iterator[SiteTask]:
    text = "\n".join(file.get("content") or "" for file in gist["files"].values())
    lines = [line for line in text.splitlines() if len(_WORD.findall(line)) >= 3]
    for line in chance.sample(lines, min(4, len(lines))):
        yield SiteTask("github", url, " ".join(_WORD.findall(line)[:5]), line)


def _known_sentence(site: str, url: str, sentence: str) -> SiteTask:
    """Ask with every second longer word of a sentence, in their order."""
    words = _WORD.findall(sentence)
    return SiteTask(site, url, " ".join(words[::2]), sentence)
