"""A connection to a checked address uses the URL's name for SNI, certificate and Host."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from keyhole.errors import Code
from tests.fetch.test_client import failure, fetch
from tests.fetch.test_tunnel import relay
from tests.support.loopback import response, serve

NAME = "site.example"
OTHER = "other.example"


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Create a server's TLS context for NAME, signed by a CA that the client trusts."""
    authority, authority_key = _certificate("Test CA", None, None)
    certificate, key = _certificate(NAME, authority, authority_key)
    trusted, chain = tmp_path / "ca.pem", tmp_path / "site.pem"
    trusted.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    monkeypatch.setattr("certifi.where", lambda: str(trusted))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context


def _certificate(
    name: str, issuer: x509.Certificate | None, issuer_key: ec.EllipticCurvePrivateKey | None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    signer = issuer_key or key
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(issuer.subject if issuer else subject, subject, key.public_key(), 1 + (issuer is None))
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(signer, hashes.SHA256()), key


@pytest.mark.parametrize("through_proxy", [False, True], ids=["direct", "through a proxy"])
def test_sni_host_header_and_certificate_have_the_name_of_the_url(tls: ssl.SSLContext, through_proxy: bool) -> None:
    named: list[str | None] = []
    tls.sni_callback = lambda _socket, name, _context: named.append(name)
    with serve({"/": response(b"proved")}, tls=tls) as site, serve(relay(site.port)) as proxy:
        if through_proxy:
            url, answers = f"https://{NAME}/", "93.184.216.34"
            page = fetch(url, proxy=f"http://{proxy.endpoint}", resolver={NAME: [answers]})
        else:
            url, answers = f"https://{NAME}:{site.port}/", "127.0.0.1"
            page = fetch(url, allow=(f"{NAME}:{site.port}",), resolver={NAME: [answers]})
        assert page.body == b"proved"
        assert page.url == url
        assert named == [NAME]
        assert site.calls[0].headers["host"] == url.removeprefix("https://").removesuffix("/")
        assert proxy.connections == int(through_proxy)


def test_a_certificate_of_another_name_is_refused_even_from_a_trusted_authority(tls: ssl.SSLContext) -> None:
    with serve({"/": response(b"x")}, tls=tls) as site:
        endpoint = f"{OTHER}:{site.port}"
        error = failure(f"https://{endpoint}/", allow=(endpoint,), resolver={OTHER: ["127.0.0.1"]})
        assert error.code is Code.TLS_FAILURE
        assert "Hostname mismatch" in error.message
        assert site.calls == []


def test_a_redirect_from_https_to_http_is_followed_and_the_page_has_its_final_url(tls: ssl.SSLContext) -> None:
    with serve({"/": response(b"plain")}) as plain:
        moved = {"/": response(status="302 Found", Location=plain.url(), Set_Cookie="a=b")}
        with serve(moved, tls=tls) as site:
            endpoint = f"{NAME}:{site.port}"
            names = {NAME: ["127.0.0.1"], "127.0.0.1": ["127.0.0.1"]}
            page = fetch(f"https://{endpoint}/", allow=(endpoint, plain.endpoint), resolver=names)
        assert (page.url, page.body) == (plain.url(), b"plain")
        assert not {"cookie", "authorization", "referer", "proxy-authorization"} & set(plain.calls[0].headers)
