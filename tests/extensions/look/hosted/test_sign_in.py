"""The token is read from one header or one cookie, and a sign-in leads only to the pages."""

from __future__ import annotations

from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look.hosted.gate import (
    COOKIE,
    MAX_TOKEN_CHARS,
    checked_token,
    clear_cookie,
    keep_cookie,
    own_path,
    read_sign_in,
    read_token,
)

TOKEN = "kh_a-b_c.d~e+f/g=="


def read(*headers: tuple[str, str]) -> str:
    return read_token([(name.encode(), value.encode("latin-1")) for name, value in headers])


@pytest.mark.parametrize("cookie", [f"{COOKIE}={TOKEN}", f"a=b; {COOKIE}={TOKEN}; c", f"  {COOKIE}={TOKEN}  "])
def test_the_token_is_read_from_the_cookie(cookie: str) -> None:
    assert read(("cookie", cookie)) == TOKEN


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        COOKIE,
        f"{COOKIE}=",
        f"keyhole={TOKEN}",
        f"__host-keyhole={TOKEN}",
        f"a={COOKIE}={TOKEN}",
        f'{COOKIE}="{TOKEN}"',
        f"{COOKIE}={TOKEN}; {COOKIE}=other",
        f"{COOKIE}={TOKEN}; {COOKIE}={TOKEN}",
        f"{COOKIE}=a b",
        f"{COOKIE}=a\xe9",
        f"{COOKIE}={'a' * (MAX_TOKEN_CHARS + 1)}",
    ],
)
def test_a_cookie_that_is_not_exactly_one_token_is_none(cookie: str) -> None:
    assert read(("cookie", cookie)) == ""


def test_two_cookie_headers_with_a_token_each_are_none() -> None:
    assert read(("cookie", f"{COOKIE}=a"), ("cookie", f"{COOKIE}=b")) == ""
    assert read(("cookie", "c=d"), ("cookie", f"{COOKIE}=b")) == "b"


def test_the_header_is_read_instead_of_the_cookie() -> None:
    cookie = ("cookie", f"{COOKIE}=of-the-cookie")
    for headers in ((cookie, ("authorization", f"bearer {TOKEN}")), (("authorization", f"Bearer  {TOKEN}"), cookie)):
        assert read(*headers) == TOKEN
    for value in ("", "Bearer", "Basic a", TOKEN, "Bearer a b"):
        assert read(cookie, ("authorization", value)) == ""


def test_browsers_keep_the_cookie_from_scripts_other_hosts_and_other_sites() -> None:
    assert keep_cookie("a") == "__Host-keyhole=a; Path=/; Secure; HttpOnly; SameSite=Strict"
    assert clear_cookie() == "__Host-keyhole=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"


def test_a_form_has_a_token_and_a_path() -> None:
    form = read_sign_in(urlencode({"token": f" {TOKEN}\r\n", "next": "/look/calls/a?b=c%20d"}).encode())
    assert (form.token, form.path) == (TOKEN, "/look/calls/a?b=c%20d")
    assert TOKEN not in repr(form)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"token=",
        b"token=a b",
        b"token=a%0d%0aSet-Cookie:+b",
        b"\xff",
        b"token=%ff",
        b"token",
        b"a=b&" * 20 + b"token=a",
    ],
)
def test_a_form_without_a_valid_token_has_none(body: bytes) -> None:
    assert read_sign_in(body).token == ""
    assert read_sign_in(body).path == "/look/"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/mcp",
        "/look",
        "look/",
        "//evil.example/look/",
        "https://evil.example/look/",
        "/look/\r\nSet-Cookie: a=b",
        "/look/\\evil.example",
        "/look/../mcp",
        "/look/%2e%2E/mcp",
        "/look/%",
        "/look/#a",
        "/look/é",
        "/look/" + "a" * 2_000,
        "javascript:/look/",
    ],
)
def test_a_sign_in_leads_to_no_other_place(path: str) -> None:
    assert own_path(path) == "/look/"


@given(st.text() | st.text("/look\\:?#@.\r\n%2e ").map("/look/".__add__))
def test_whatever_a_form_names_the_browser_stays_on_the_pages(path: str) -> None:
    kept = own_path(path)
    target = urlsplit(urljoin("https://mcp.example/look/sign-in", kept))
    assert (target.scheme, target.netloc) == ("https", "mcp.example")
    assert target.path.startswith("/look/")
    assert kept.isascii()
    assert kept.isprintable()


@given(
    st.from_regex(r"[A-Za-z0-9._~+/-]{1,200}={0,2}", fullmatch=True),
    st.lists(st.sampled_from(["a=b", "", "c", " d=e"])),
)
def test_a_kept_token_is_read_again_among_other_cookies(token: str, others: list[str]) -> None:
    cookie = keep_cookie(token).partition(";")[0]
    assert read(("cookie", "; ".join([*others, cookie, *others]))) == token


@given(st.binary(), st.binary())
def test_headers_of_any_bytes_have_a_valid_token_or_none(cookie: bytes, authorization: bytes) -> None:
    for headers in (
        [(b"cookie", cookie)],
        [(b"cookie", COOKIE.encode() + b"=" + cookie)],
        [(b"authorization", authorization)],
    ):
        assert checked_token(read_token(headers)) == read_token(headers)
    read_sign_in(cookie)
