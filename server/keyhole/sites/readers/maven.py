"""Read artifacts of Maven Central from its files (maven.apache.org/repositories/layout.html)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from keyhole.sites.document import Part, SiteDocument
from keyhole.sites.readers.base import Answer, Request, SiteReader
from keyhole.sites.readers.package_parts import URL_END, facts_part, list_part, package_document, versions_part
from keyhole.text.invalid_characters import unescape

_MAVEN = re.compile(
    rf"https?://(?:central\.sonatype\.com/artifact|(?:www\.)?mvnrepository\.com/artifact|search\.maven\.org/artifact)"
    rf"/([\w.-]+)/([\w.-]+)(?:/([\w.+-]+))?{URL_END}"
)
_DEPENDENCY = re.compile(r"<dependency>((?:(?!<dependency>).){0,4000}?)</dependency>", re.DOTALL)
_TAG = re.compile(r"<([\w.-]{1,60})>\s*+([^<]{0,2000}?[^<\s])\s*</\1>")


def match_maven(url: str) -> SiteReader | None:
    """Return the reader of an artifact, None for any other address."""
    match = _MAVEN.match(url)
    return MavenReader(*match.groups()) if match else None


@dataclass(frozen=True, slots=True)
class MavenReader:
    """An artifact of Maven Central: the list of its versions, and the POM of one."""

    group: str
    artifact: str
    version: str | None
    name: str = "maven"

    def next_requests(self, answers: Sequence[Answer]) -> Sequence[Request]:
        """Return the list of versions, then the POM of the chosen one."""
        base = f"https://repo1.maven.org/maven2/{self.group.replace('.', '/')}/{self.artifact}"
        if not answers:
            return (Request(f"{base}/maven-metadata.xml"),)
        version = self._chosen(answers[0])
        return (Request(f"{base}/{version}/{self.artifact}-{version}.pom"),) if len(answers) == 1 else ()

    def _chosen(self, answer: Answer) -> str:
        return self.version or (_tags(answer.text, "release") or _tags(answer.text, "latest"))[0]

    def document(self, answers: Sequence[Answer]) -> SiteDocument:
        """Compose the artifact from the elements of both files, whose form is fixed."""
        versions, pom = _tags(answers[0].text, "version"), answers[1].text
        if not versions:
            raise ValueError("no versions")
        parts = [
            Part((_tags(pom, "description") or [""])[0], "plain"),
            facts_part({
                "Version": self._chosen(answers[0]),
                "Last update": [day[:8] for day in _tags(answers[0].text, "lastUpdated")[:1]],
                "Home page": _tags(pom, "url")[:1],
                "License": _tags(pom.partition("</license>")[0], "name")[-1:],
                "Coordinates": f"{self.group}:{self.artifact}:{self._chosen(answers[0])}",
            }),
            list_part("Dependencies", [_describe_dependency(each) for each in _DEPENDENCY.findall(pom)]),
            versions_part([(each, "", "") for each in reversed(versions)]),
        ]  # fmt: skip
        return package_document(f"{self.group}:{self.artifact} {self._chosen(answers[0])}", parts, "Maven Central")


def _describe_dependency(element: str) -> str:
    names = [value for tag in ("groupId", "artifactId", "version") for value in _tags(element, tag)[:1]]
    scope = _tags(element, "scope")[:1]
    return ":".join(names) + (f" ({scope[0]})" if scope else "")


def _tags(xml: str, name: str) -> list[str]:
    """Return the texts of the elements of this name that contain only text."""
    return [unescape(text) for tag, text in _TAG.findall(xml) if tag == name]
