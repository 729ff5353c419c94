"""Which part of the web belongs to the owner of an address."""

from __future__ import annotations

import pytest

from keyhole.fetch.owners import Place, hides_segments, owner_of, place_of


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("https://docs.example/en/a.html", Place("docs.example")),
        ("https://www.docs.example:443/a", Place("docs.example")),
        ("http://docs.example:8080/a", Place("docs.example:8080")),
        ("https://github.com/Ann/tool/blob/main/a", Place("github.com", ("ann",))),
        ("https://github.com/", Place("github.com")),
        ("https://api.github.com/repos/o/r/issues/7", Place("api.github.com", ("repos", "o", "r"))),
        ("https://forge.example/g/sub/r/-/issues/1", Place("forge.example", ("g",))),
        ("https://forge.example/api/v4/projects/7/issues/1", Place("forge.example", ("api", "v4", "projects", "7"))),
        ("https://forge.example/api/v1/repos/o/r/issues/1", Place("forge.example", ("api", "v1", "repos", "o", "r"))),
        ("https://www.npmjs.com/package/valve/v/1.0.0", Place("npmjs.com", ("package", "valve"))),
        ("https://www.npmjs.com/package/@a/b/v/1.0.0", Place("npmjs.com", ("package", "@a", "b"))),
        ("https://unpkg.com/@a/b@1/index.js", Place("unpkg.com", ("@a", "b@1"))),
        ("https://people.example/~ann/notes/", Place("people.example", ("~ann",))),
        ("https://social.example/@ann/7", Place("social.example", ("@ann",))),
        ("https://ann.github.io/tool/", Place("ann.github.io")),
    ],
)  # fmt: skip
def test_an_address_belongs_to_its_host_or_to_a_folder_of_a_shared_host(url: str, owner: Place) -> None:
    assert owner_of(url) == owner
    assert owner.contains(url)


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://github.com/ann/other", True),
        ("http://www.github.com/ANN/other?x=1#y", True),
        ("https://github.com/annie/other", False),
        ("https://github.com/", False),
        ("https://github.com.evil.example/ann/tool", False),
        ("https://github.com:8443/ann/tool", False),
        ("https://github.com/ann/..%2fvictim", False),
        ("https://github.com/ann/%252e%252e/victim", False),
        ("https://github.com/ann/a%5c..%5cvictim", False),
        ("https://github.com/ann/" + "%2525252e" * 3, False),
        ("https://github.com/ann/a%2Fb..c", True),
    ],
)
def test_a_place_contains_its_folder_alone(url: str, inside: bool) -> None:
    assert owner_of("https://github.com/ann/tool").contains(url) is inside


def test_a_query_hides_no_segments() -> None:
    assert not hides_segments("https://x.example/a?next=../b")


def test_a_place_has_as_many_segments_as_are_asked_for() -> None:
    assert place_of("https://x.example/a/b/c", 2) == Place("x.example", ("a", "b"))
