"""The operator's lists allow and deny hosts."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.domains import check_domain, is_domain_allowed, is_url_allowed
from tests.support.nat64 import embed

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


FORMS = [
    "203.0.113.7",
    "::203.0.113.7",
    "::ffff:203.0.113.7",
    "::ffff:0:203.0.113.7",
    "64:ff9b::203.0.113.7",
    "2002:cb00:7107::1",
    "2001:0:4136:e378:8000:63bf:34ff:8ef8",
    "2620:fe::5efe:203.0.113.7",
    "2620:fe::100:5efe:203.0.113.7",
    "2620:fe:12:34:5678:9abc:203.0.113.7",
    *(embed("64:ff9b:1::", length, "203.0.113.7") for length in (48, 56, 64, 96)),
    *(embed("2620:fe::", length, "203.0.113.7") for length in (32, 40, 48, 56, 64, 96)),
]
"""An IPv4 address as itself, compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP and in layouts of NAT64."""


@pytest.mark.parametrize("form", FORMS)
def test_a_denied_ipv4_address_is_denied_in_every_form(form: str) -> None:
    host = str(ip_address(form))
    assert not is_allowed(host, "", "203.0.113.7 example.com")
    assert not is_allowed(host, host, "203.0.113.7"), "denying takes precedence"
    assert is_allowed(host, "", "203.0.113.8 example.com")


@pytest.mark.parametrize(
    "entry", ["::ffff:203.0.113.7", "64:ff9b::203.0.113.7", "2002:cb00:7107::", "2620::5efe:cb00:7107"]
)
@pytest.mark.parametrize("form", FORMS)
def test_an_entry_that_embeds_an_address_denies_each_form_of_it(entry: str, form: str) -> None:
    assert not is_allowed(str(ip_address(form)), "", str(ip_address(entry)))


def test_a_denied_ipv6_address_denies_no_address_that_its_bits_happen_to_contain() -> None:
    assert is_allowed("0.0.0.254", "", "2620:fe::fe")
    assert is_allowed("2620:fe::9", "", "2620:fe::fe")


def test_an_allowed_address_is_allowed_only_as_it_is_written() -> None:
    assert not is_allowed("::ffff:cb00:7107", "203.0.113.7")


@pytest.mark.parametrize(
    "url",
    [
        "http://203.0.113.7./",
        "http://203.0.113.7:8080/",
        "http://２０３.0.113。7/",
        "http://[::FFFF:203.0.113.7]/",
        "http://[0:0:0:0:0:ffff:cb00:7107]:8080/",
        "https://EXAMPLE.com./",
        "https://ｅｘａｍｐｌｅ.com/",
        "https://www.Example.COM:8443/",
        "https://exam\u00adple.com/",
    ],
)
def test_a_url_is_denied_in_every_spelling_of_its_host(url: str) -> None:
    assert not is_url_allowed(url, NONE, frozenset({"203.0.113.7", "example.com", "*.example.com"}))


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
