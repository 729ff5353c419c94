"""The pages of a real server process with a token file: revoked tokens, its log, and its other endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from keyhole.config.config import Config
from keyhole.extensions.hosted.authenticate import OAuthVerifier
from keyhole.extensions.hosted.token_file import Grant, format_grant, hash_token, new_token
from keyhole.extensions.look.hosted.gate import COOKIE
from tests.support.http_server import Server, run_server
from tests.support.issuer import AUDIENCE, issuer, private_key
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.server_process import Post, application_server, tool_call

SECRET_WORD = "zebrafish"
OPERATOR = "kW7-2hQxv9Zr4mTb"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pages(site: Site) -> Responder:
    def talk(call: Call) -> None:
        call.send(response(f"<h1>{SECRET_WORD}</h1><p>The {SECRET_WORD} swims.".encode(), Content_Type="text/html"))

    return talk


def write_tokens(file: Path, **tokens: str) -> None:
    """Write a file with the token of each tenant."""
    file.write_text("".join(f"{format_grant(Grant(hash_token(token), name, NOW))}\n" for name, token in tokens.items()))
    file.chmod(0o600)


@contextmanager
def served(file: Path, **settings: str) -> Iterator[tuple[Server, Site]]:
    with serve(pages) as site:
        environment = {
            "KEYHOLE_TOKENS_FILE": str(file),
            "KEYHOLE_ALLOW_PRIVATE": site.endpoint,
            "KEYHOLE_STATELESS": "on",
            "KEYHOLE_LOOK": "on",
            "KEYHOLE_OPERATOR_TOKEN": OPERATOR,
            **settings,
        }
        with run_server(environment) as server:
            yield server, site


def request(port: int, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, str]:
    """Return the status, the Set-Cookie header and the body of a GET, or of a form that the pages send."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    if form is not None:
        headers |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}"}
    try:
        connection.request("GET" if form is None else "POST", path, urlencode(form) if form else None, headers)
        got = connection.getresponse()
        return got.status, got.headers.get("set-cookie", ""), got.read().decode()
    finally:
        connection.close()


def test_a_person_signs_in_until_the_token_is_revoked_and_nothing_of_it_is_logged(tmp_path: Path) -> None:
    one, two, file = new_token(), new_token(), tmp_path / "tokens"
    write_tokens(file, walrus=one, pelican=two)
    with served(file) as (server, site):
        bearer = {"Authorization": f"Bearer {one}"}
        page = tool_call("web_fetch", url=site.url("/secret"), query=SECRET_WORD)
        assert Post(server.port, page, **bearer).answer()[0] == 200
        status, cookie, _ = request(server.port, "/look/sign-in", {"token": one, "next": "/look/texts"})
        cookie = cookie.partition(";")[0]
        assert (status, cookie) == (303, f"{COOKIE}={one}")
        status, _, body = request(server.port, "/look/texts?words=zebrafish", Cookie=cookie)
        assert status == 200
        assert SECRET_WORD in body
        assert "walrus" in body
        assert SECRET_WORD not in request(server.port, "/look/texts", Cookie=f"{COOKIE}={two}")[2]
        assert request(server.port, "/look/", Cookie=f"{COOKIE}={OPERATOR}")[0] == 200
        assert request(server.port, f"/look/?token={one}")[0] == 401
        assert request(server.port, "/look/sign-in", {"token": f"{one}x"})[0] == 401
        write_tokens(file, pelican=two)
        assert request(server.port, "/look/texts", Cookie=cookie)[0] == 401
        assert request(server.port, "/look/sign-in", {"token": one})[0] == 401
        write_tokens(file, walrus=two)
        assert SECRET_WORD in request(server.port, "/look/texts", Cookie=f"{COOKIE}={two}")[2]
        log = server.log.read_text()
    assert "GET /look" in log
    for private in (one, two, OPERATOR, "walrus", "pelican", SECRET_WORD, "/secret", "texts", site.endpoint):
        assert private not in log, private


def test_the_operator_sees_the_names_of_the_token_file_and_no_text(tmp_path: Path) -> None:
    one, file = new_token(), tmp_path / "tokens"
    write_tokens(file, walrus=one)
    with served(file) as (server, site):
        for path in ("/secret", "/other"):
            Post(server.port, tool_call("web_fetch", url=site.url(path)), Authorization=f"Bearer {one}").answer()
        status, _, body = request(server.port, "/look/", Cookie=f"{COOKIE}={OPERATOR}")
    assert status == 200
    assert "walrus" in body
    assert 'data-label="Artifacts" class="num">2<' in body
    for private in (SECRET_WORD, "/secret", site.endpoint, "web_fetch"):
        assert private not in body


def test_a_server_with_pages_and_without_authentication_does_not_start(tmp_path: Path) -> None:
    try:
        with run_server({"KEYHOLE_LOOK": "on"}):
            raise AssertionError("it started")
    except RuntimeError as error:
        assert "KEYHOLE_LOOK=on needs KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER" in str(error)


def test_access_tokens_of_an_issuer_open_the_pages_of_their_tenant_if_they_have_the_scopes(tmp_path: Path) -> None:
    with issuer() as real:
        config = Config(home=tmp_path, look=True, oauth_issuer=real.url, public_url=AUDIENCE, oauth_scopes=("keyhole",))
        tokens = {
            real.token(): 200,
            real.token(algorithm="ES256", key=private_key("ES256")): 401,
            real.token(exp=1): 401,
            real.token(aud="https://other.example/mcp"): 401,
            real.token(scope="other"): 401,
        }
        with application_server(config, OAuthVerifier(config)) as server:
            for token, expected in tokens.items():
                assert request(server.port, "/look/", Cookie=f"{COOKIE}={token}")[0] == expected
                signed_in = request(server.port, "/look/sign-in", {"token": token})
                assert (signed_in[0] == 303, bool(signed_in[1])) == (expected == 200, expected == 200)
            assert f"{real.url} alice" in request(server.port, "/look/", Cookie=f"{COOKIE}={real.token()}")[2]
