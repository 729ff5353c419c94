"""A permission only becomes narrower, and counts the further requests of a call and of an hour."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.permission import (
    ANY,
    HOUR,
    MAX_FURTHER,
    MAX_HOSTS,
    Allowance,
    Credential,
    HourlyRequests,
    Permission,
    WebPlace,
    hides_segments,
    owner_of,
    place_of,
)
from tests.support.fakes import Clock

FORGE = "https://github.com/ann/tool"
PLACES = st.builds(
    WebPlace, st.sampled_from(["a.example", "b.example"]), st.lists(st.sampled_from("xy"), max_size=3).map(tuple)
)
URLS = st.builds(
    lambda site, path: f"https://{site}/{'/'.join(path)}",
    st.sampled_from(["a.example", "b.example", "c.example"]),
    st.lists(st.sampled_from("xyz"), max_size=4),
)


def refusal(requests: HourlyRequests, permission: Permission, host: str = "a.example") -> KeyholeError | None:
    try:
        requests.spend(host, permission)
    except KeyholeError as error:
        return error
    return None


@given(st.lists(PLACES, min_size=1, max_size=3), st.lists(PLACES, min_size=1, max_size=3), URLS)
def test_a_narrowed_permission_permits_nothing_that_the_wider_one_does_not(
    wide: list[WebPlace], narrow: list[WebPlace], url: str
) -> None:
    permission = Permission(accepts=lambda url: "z" not in url).narrow(*wide)
    try:
        narrowed = permission.narrow(*narrow)
    except KeyholeError as error:
        assert error.code is Code.DOMAIN_NOT_ALLOWED
        return
    assert permission.permits(url) or not narrowed.permits(url)


def test_an_api_is_permitted_by_the_page_whose_object_it_has() -> None:
    page_only = Permission(accepts=lambda url: url.startswith(FORGE))
    api = owner_of("https://api.github.com/repos/ann/tool")
    assert page_only.for_api(api).permits("https://api.github.com/repos/ann/tool/issues/7")
    assert not page_only.for_api(api).permits("https://api.github.com/repos/bob/tool/issues/7")
    assert not page_only.narrow(api).permits("https://api.github.com/repos/ann/tool/issues/7")


def test_a_credential_is_no_part_of_a_narrowed_permission() -> None:
    place = owner_of(FORGE)
    permission = ANY.for_api(place).with_credential(Credential("Bearer x", place))
    assert permission.narrow(place).credential is None
    assert "Bearer" not in repr(permission)


def test_a_deadline_only_becomes_earlier() -> None:
    assert ANY.until(7.0).deadline == 7.0
    assert Permission(5.0).until(7.0).deadline == 5.0
    assert Permission(9.0).until(7.0).deadline == 7.0


def test_the_request_that_the_caller_named_is_not_counted() -> None:
    requests, permission = HourlyRequests(Clock()), Permission()
    assert all(refusal(requests, permission) is None for _ in range(10 * MAX_FURTHER))


def test_all_further_requests_of_a_call_share_one_number() -> None:
    requests, call = HourlyRequests(Clock()), Permission()
    parts = [call.narrow(place_of(f"https://{name}.example/")) for name in "ab"]
    taken = [refusal(requests, parts[number % 2], f"{number}.example") for number in range(MAX_FURTHER + 1)]
    assert taken[:-1] == [None] * MAX_FURTHER
    assert taken[-1]
    assert taken[-1].code is Code.RATE_LIMITED


def test_a_host_has_a_number_of_further_requests_in_an_hour_from_all_calls() -> None:
    clock = Clock()
    requests, place = HourlyRequests(clock), place_of("https://a.example/")

    def ask() -> KeyholeError | None:
        return refusal(requests, replace(Permission().narrow(place, most_an_hour=3), allowance=Allowance()))

    assert [ask() for _ in range(3)] == [None] * 3
    assert ask()
    assert refusal(requests, Permission().narrow(place, most_an_hour=3), "b.example") is None
    clock.now += HOUR
    assert ask() is None


def test_only_some_hosts_are_counted() -> None:
    requests, place = HourlyRequests(Clock()), place_of("https://a.example/")
    for number in range(MAX_HOSTS + 2):
        requests.spend(f"{number}.example", Permission().narrow(place))
    assert len(requests._counts) == MAX_HOSTS


@pytest.mark.parametrize(
    "url", ["http://github.com/ann/tool", "https://github.com/bob/tool", "https://github.com/ann/%2e%2e/bob"]
)
def test_a_credential_is_for_https_addresses_of_its_place(url: str) -> None:
    credential = Credential("Bearer x", owner_of(FORGE))
    assert credential.applies_to(f"{FORGE}/issues")
    assert not credential.applies_to(url)


# Owners


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("https://docs.example/en/a.html", WebPlace("docs.example")),
        ("https://www.docs.example:443/a", WebPlace("docs.example")),
        ("http://docs.example:8080/a", WebPlace("docs.example:8080")),
        ("https://github.com/Ann/tool/blob/main/a", WebPlace("github.com", ("ann",))),
        ("https://github.com/", WebPlace("github.com")),
        ("https://api.github.com/repos/o/r/issues/7", WebPlace("api.github.com", ("repos", "o", "r"))),
        ("https://forge.example/g/sub/r/-/issues/1", WebPlace("forge.example", ("g",))),
        ("https://forge.example/api/v4/projects/7/issues/1", WebPlace("forge.example", ("api", "v4", "projects", "7"))),
        ("https://forge.example/api/v1/repos/o/r/pulls/1", WebPlace("forge.example", ("api", "v1", "repos", "o", "r"))),
        ("https://www.npmjs.com/package/valve/v/1.0.0", WebPlace("npmjs.com", ("package", "valve"))),
        ("https://www.npmjs.com/package/@a/b/v/1.0.0", WebPlace("npmjs.com", ("package", "@a", "b"))),
        ("https://unpkg.com/@a/b@1/index.js", WebPlace("unpkg.com", ("@a", "b@1"))),
        ("https://people.example/~ann/notes/", WebPlace("people.example", ("~ann",))),
        ("https://social.example/@ann/7", WebPlace("social.example", ("@ann",))),
        ("https://ann.github.io/tool/", WebPlace("ann.github.io")),
    ],
)  # fmt: skip
def test_an_address_belongs_to_its_host_or_to_a_folder_of_a_shared_host(url: str, owner: WebPlace) -> None:
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
    assert place_of("https://x.example/a/b/c", 2) == WebPlace("x.example", ("a", "b"))
