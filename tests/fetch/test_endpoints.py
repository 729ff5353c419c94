"""Names and ports are checked before the lookup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.parsers import WEB_PORTS
from keyhole.fetch.endpoints import is_private, name_refusal, port_refusal


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("localhost", "RFC 6761"),
        ("app.localhost", "RFC 6761"),
        ("a.b.localhost", "RFC 6761"),
        ("printer.local", "RFC 6762"),
        ("api.default.svc.cluster.local", "RFC 6762"),
        ("abcdef.onion", "RFC 7686"),
        ("name.gns.alt", "RFC 9476"),
        ("nas.home.arpa", "RFC 8375"),
        ("metadata.google.internal", "metadata of Google"),
        ("metadata.goog", "metadata of Google"),
        ("metadata.packet.net", "metadata of Packet"),
        ("metadata.platformequinix.com", "metadata of Equinix"),
        ("metadata.tencentyun.com", "metadata of Tencent"),
        ("api.metadata.cloud.ibm.com", "metadata of IBM"),
        ("metadata.exoscale.com", "metadata of Exoscale"),
        ("instance-data.ec2.internal", "metadata of AWS"),
        ("x.metadata.packet.net", "metadata of Packet"),
        ("host.docker.internal", "ICANN"),
        ("wiki.corp", "RFC 6762"),
        ("nas.home", "RFC 6762"),
        ("db.intranet", "RFC 6762"),
        ("router.lan", "RFC 6762"),
        ("x.private", "RFC 6762"),
        ("metadata", "RFC 1535"),
        ("ip6-loopback", "RFC 1535"),
        ("redis", "RFC 1535"),
    ],
)
def test_a_private_name_is_refused_with_its_source(name: str, source: str) -> None:
    assert source in str(name_refusal(name))


@pytest.mark.parametrize(
    "name",
    [
        "example.org", "metadata.example.com", "packet.net", "cloud.ibm.com", "deploy.platformequinix.com",
        "metadata.packet.net.example.org", "mymetadata.goog",
        "localhost.example.org", "localhost-docs.example.org", "notlocalhost.org", "mylocal.org",
        "internal.example.org", "corp.example.org", "home.example", "arpa.example", "4.4.8.8.in-addr.arpa", "site.test",
        "nowhere.invalid", "xn--mnchen-3ya.de", "sub_domain.example.org", "9.9.9.9", "127.0.0.1", "::1", "2620:fe::fe",
    ],
)  # fmt: skip
def test_other_names_and_literal_addresses_are_accepted(name: str) -> None:
    assert name_refusal(name) is None


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8008, 8080, 8443, 8888, 2053, 8880])
def test_the_ports_of_public_sites_are_open(port: int) -> None:
    assert port_refusal(port, WEB_PORTS) is None


@pytest.mark.parametrize(
    "port", [22, 25, 53, 110, 143, 445, 993, 2375, 2379, 3306, 5432, 6379, 9000, 9200, 10080, 10250, 11211, 27017]
)
def test_the_ports_of_other_services_are_refused(port: int) -> None:
    assert "KEYHOLE_PORTS" in str(port_refusal(port, WEB_PORTS))


@pytest.mark.parametrize("host", ["localhost", "nas", "printer.local", "intranet.corp", "192.168.0.1", "::1"])
def test_a_private_name_or_address_is_private(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize("host", ["example.org", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_a_public_name_or_address_is_not_private(host: str) -> None:
    assert not is_private(host)


@given(st.text(max_size=30))
def test_any_name_is_checked_without_an_exception(name: str) -> None:
    reason = name_refusal(name)
    assert reason is None or reason
