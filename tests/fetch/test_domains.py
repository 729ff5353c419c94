"""The operator's lists allow and deny hosts."""

from __future__ import annotations

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.domains import check_domain, is_domain_allowed, is_url_allowed

NONE: frozenset[str] = frozenset()


def is_allowed(host: str, allow: str = "", deny: str = "") -> bool:
    return is_domain_allowed(host, frozenset(allow.split()), frozenset(deny.split()))


def test_without_lists_every_host_is_allowed() -> None:
    assert is_allowed("example.com")


def test_a_name_matches_only_that_host() -> None:
    assert is_allowed("example.com", "example.com")
    for other in ("www.example.com", "example.com.evil.example", "notexample.com", "com", "example.co"):
        assert not is_allowed(other, "example.com")


def test_a_star_matches_every_subdomain_and_not_the_host_itself() -> None:
    for below in ("www.example.com", "a.b.example.com"):
        assert is_allowed(below, "*.example.com")
    for other in ("example.com", "badexample.com", "example.com.evil.example"):
        assert not is_allowed(other, "*.example.com")


def test_a_deny_entry_takes_precedence_over_an_allow_entry() -> None:
    assert not is_allowed("a.example.com", "*.example.com a.example.com", "a.example.com")
    assert not is_allowed("a.b.example.com", "a.b.example.com", "*.example.com")
    assert is_allowed("example.com", "", "*.example.com")


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8::7"])
def test_an_address_matches_itself_and_no_star(address: str) -> None:
    assert is_allowed(address, address)
    assert not is_allowed("203.0.113.7", "*.113.7 *.0.113.7 *.7")


def test_a_refusal_names_the_host_and_the_settings() -> None:
    with pytest.raises(KeyholeError) as caught:
        check_domain("evil.example", NONE, frozenset({"evil.example"}))
    assert caught.value.code is Code.DOMAIN_NOT_ALLOWED
    assert "evil.example" in caught.value.message


def test_a_url_is_checked_by_its_normalized_host() -> None:
    deny = frozenset({"xn--bcher-kva.example"})
    assert not is_url_allowed("https://BÜCHER.example./x", NONE, deny)
    assert not is_url_allowed("https://xn--bcher-kva.example:8443/x", NONE, deny)
    for url in ("no url", "https://b%C3%BCcher.example/", "https://ok.example\\@xn--bcher-kva.example/"):
        assert not is_url_allowed(url, NONE, deny), "a browser may ask what we refuse to"
