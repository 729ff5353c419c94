"""A sign-in reaches no private address, whoever names it. The proxy runs in a network of the test's servers only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from tests.extensions.proxy.test_http_app import ACCEPT, http_proxy
from tests.extensions.proxy.test_oauth_proxy import INITIALIZE
from tests.support.certificates import self_signed
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.routed_network import RoutedNetwork

SERVER, ISSUER, OTHER = "93.184.216.34:80", "93.184.216.35:443", "93.184.216.36:443"
PUBLIC = {SERVER, ISSUER, OTHER}
NAMES = {
    "mcp.example": [["93.184.216.34"]],
    "auth.example": [["93.184.216.35"]],
    "other.example": [["93.184.216.36"]],
    "private.example": [["10.0.0.1"]],
    "mixed.example": [["93.184.216.36", "10.0.0.1"]],
    "rebound.example": [["93.184.216.37"], ["10.0.0.1"]],
    "six.example": [["93.184.216.36", "fd00::1"]],
    "localhost": [["127.0.0.1"]],
}
FORBIDDEN = [
    "https://127.0.0.1:9/x", "http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x", "https://10.0.0.1/x",
    "https://169.254.169.254/x", "https://[::ffff:10.0.0.1]/x", "https://0.0.0.0/x", "https://private.example/x",
    "https://mixed.example/x", "https://six.example/x", "https://metadata.google.internal/x", "https://router.local/x",
    "https://auth.example:22/x", "https://user@10.0.0.1/x",
]  # fmt: skip
ENDPOINTS = ("authorization", "token", "registration", "introspection", "revocation")
FORM = {"grant_type": "authorization_code", "code": "c0de", "code_verifier": "ver1fier"}


@dataclass
class World:
    """A public server and a public authorization server, as the test wants them."""

    metadata_url: str = ""
    authorization_server: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    redirect: str = ""
    server_redirect: str = ""
    count: int = 0
    url: str = ""
    network: RoutedNetwork | None = None
    issuer: Site | None = None
    other: Site | None = None
    client: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=20))

    def answer_as_server(self, _: Site) -> Responder:
        def talk(call: Call) -> None:
            if self.server_redirect:
                call.send(response(b"", "307 Temporary Redirect", Location=self.server_redirect))
                return
            headers = {"WWW_Authenticate": f'Bearer resource_metadata="{self.metadata_url}"'}
            call.send(response(b"", "401 Unauthorized", **headers))

        return talk

    def answer_as_issuer(self, _: Site) -> Responder:
        def talk(call: Call) -> None:
            issuer = f"https://auth.example/{self.count}"
            if call.path.startswith("/token"):
                call.send(response(b'{"access_token":"t"}', Content_Type="application/json"))
            elif self.redirect:
                call.send(response(b"", "302 Found", Location=self.redirect))
            elif call.path.startswith("/resource"):
                servers = [self.authorization_server or issuer]
                call.send(document(resource="http://mcp.example/mcp", authorization_servers=servers))
            else:
                endpoints = {f"{name}_endpoint": f"https://auth.example/{name}" for name in ENDPOINTS}
                call.send(document(issuer=issuer, **{**endpoints, **self.changes}))

        return talk

    def challenge(
        self, metadata_url: str = "", redirect: str = "", authorization_server: str = "", **changes: str
    ) -> None:
        """Let the server refuse a client, and name this address of metadata."""
        self.count += 1
        self.redirect, self.changes, self.authorization_server = redirect, changes, authorization_server
        self.metadata_url = metadata_url or f"https://auth.example/resource/{self.count}"
        assert self.client.post(self.url, content=INITIALIZE, headers=ACCEPT).status_code == 401

    def get(self, path: str) -> httpx2.Response:
        return self.client.get(self.url.removesuffix("/mcp") + path)

    def post_code(self, authorization: str = "Basic cGFzc3dvcmQ=") -> httpx2.Response:
        headers = {"Authorization": authorization}
        return self.client.post(f"{self.url.removesuffix('/mcp')}/oauth/token", data=FORM, headers=headers)

    def connects(self) -> set[str]:
        assert self.network
        return self.network.connects()


def document(**fields: Any) -> bytes:
    return response(json.dumps(fields).encode(), Content_Type="application/json")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world, folder = World(), tmp_path_factory.mktemp("network")
    tls, _ = self_signed(folder, "auth.example", "other.example")
    with (
        serve(world.answer_as_server) as server,
        serve(world.answer_as_issuer, tls) as world.issuer,
        serve({}, tls) as world.other,
    ):
        routes = {SERVER: server.port, ISSUER: world.issuer.port, OTHER: world.other.port}
        world.network = RoutedNetwork(folder, NAMES, routes, folder / "certificate.pem")
        home = tmp_path_factory.mktemp("home")
        with http_proxy(home, "--url", "http://mcp.example/mcp", variables=world.network.environment) as world.url:
            yield world
    world.client.close()


@pytest.fixture(autouse=True)
def connects_are_public(world: World) -> Iterator[None]:
    yield
    assert world.connects() <= PUBLIC | {"93.184.216.37:443"}


def test_a_code_and_a_password_reach_the_authorization_server(world: World) -> None:
    world.challenge()
    metadata = world.get("/.well-known/oauth-authorization-server").json()
    assert metadata["registration_endpoint"] == "https://auth.example/registration"
    assert world.post_code().json() == {"access_token": "t"}
    assert world.issuer
    call = world.issuer.calls[-1]
    assert (call.path, call.headers["authorization"]) == ("/token", "Basic cGFzc3dvcmQ=")
    assert b"code=c0de" in call.body


def test_a_bearer_token_is_not_sent_to_the_authorization_server(world: World) -> None:
    world.challenge()
    assert world.post_code("Bearer s3cret").status_code == 200
    assert world.issuer
    assert "authorization" not in world.issuer.calls[-1].headers


@pytest.mark.parametrize("url", [*FORBIDDEN, "https://rebound.example/x"])
def test_metadata_at_a_private_address_is_not_asked_for(world: World, url: str) -> None:
    world.challenge(url)
    response = world.get("/.well-known/oauth-protected-resource/mcp")
    assert (response.status_code, response.json()["error"]) == (502, "sign_in_failed")


@pytest.mark.parametrize("url", FORBIDDEN[::3])
def test_an_authorization_server_at_a_private_address_is_not_asked(world: World, url: str) -> None:
    world.challenge(authorization_server=url)
    assert world.get("/.well-known/oauth-authorization-server").status_code == 502


@pytest.mark.parametrize(
    ("url", "name"),
    [*zip(FORBIDDEN, ENDPOINTS * 3, strict=True), *(("https://private.example/x", name) for name in ENDPOINTS)],
)
def test_metadata_that_names_a_private_address_fails_the_sign_in(world: World, url: str, name: str) -> None:
    world.challenge(**{f"{name}_endpoint": url})
    assert world.get("/.well-known/oauth-authorization-server").status_code == 502
    assert world.post_code().status_code == 502
    assert world.get("/oauth/authorize?client_id=a").status_code == 502


@pytest.mark.parametrize("url", ["https://10.0.0.1/x", "http://127.0.0.1:9/x", "https://private.example/x"])
def test_a_redirect_of_metadata_is_not_followed(world: World, url: str) -> None:
    world.challenge(redirect=url)
    assert world.get("/.well-known/oauth-protected-resource/mcp").status_code == 404


@pytest.mark.parametrize("name", ENDPOINTS)
def test_a_code_never_passes_the_proxy_to_another_origin(world: World, name: str) -> None:
    world.challenge(**{f"{name}_endpoint": "https://other.example/x"})
    assert world.post_code().status_code == 404
    assert world.get("/oauth/authorize?client_id=a").status_code == 404
    metadata = world.get("/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["authorization_servers"] == [f"https://auth.example/{world.count}"]
    assert world.other
    assert not world.other.calls


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/mcp", "https://other.example/mcp", "http://private.example/mcp"])
def test_a_bearer_token_follows_no_redirect_to_another_origin(world: World, url: str) -> None:
    world.server_redirect = url
    headers = {**ACCEPT, "Authorization": "Bearer s3cret"}
    assert "HTTP status 307" in world.client.post(world.url, content=INITIALIZE, headers=headers).text
    world.server_redirect = ""
    assert world.other
    assert not world.other.calls
