"""Which hosts the operator's lists cover."""

from __future__ import annotations

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.domains import check_domain, is_domain_allowed, is_url_allowed

NONE: frozenset[str] = frozenset()


def allowed(host: str, allow: str = "", deny: str = "") -> bool:
    return is_domain_allowed(host, frozenset(allow.split()), frozenset(deny.split()))


def test_without_lists_every_host_is_allowed() -> None:
    assert allowed("example.com")


def test_a_name_covers_that_host_alone() -> None:
    assert allowed("example.com", "example.com")
    for other in ("www.example.com", "example.com.evil.example", "notexample.com", "com", "example.co"):
        assert not allowed(other, "example.com")


def test_a_star_covers_every_host_below_and_not_the_host_itself() -> None:
    for below in ("www.example.com", "a.b.example.com"):
        assert allowed(below, "*.example.com")
    for other in ("example.com", "badexample.com", "example.com.evil.example"):
        assert not allowed(other, "*.example.com")


def test_a_denied_host_is_denied_whatever_allows_it() -> None:
    assert not allowed("a.example.com", "*.example.com a.example.com", "a.example.com")
    assert not allowed("a.b.example.com", "a.b.example.com", "*.example.com")
    assert allowed("example.com", "", "*.example.com")


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8::7"])
def test_an_address_is_covered_by_itself_and_by_no_star(address: str) -> None:
    assert allowed(address, address)
    assert not allowed("203.0.113.7", "*.113.7 *.0.113.7 *.7")


def test_a_refusal_names_the_host_and_the_settings() -> None:
    with pytest.raises(KeyholeError) as caught:
        check_domain("evil.example", NONE, frozenset({"evil.example"}))
    assert caught.value.code is Code.DOMAIN_NOT_ALLOWED
    assert "evil.example" in caught.value.message


def test_a_url_is_judged_by_its_host_as_it_will_be_asked_for() -> None:
    deny = frozenset({"xn--bcher-kva.example"})
    assert not is_url_allowed("https://BÜCHER.example./x", NONE, deny)
    assert not is_url_allowed("https://xn--bcher-kva.example:8443/x", NONE, deny)
    for url in ("no url", "https://b%C3%BCcher.example/", "https://ok.example\\@xn--bcher-kva.example/"):
        assert not is_url_allowed(url, NONE, deny), "a browser may ask what we refuse to"
