"""A shared server has the settings that its address was computed from, whenever their file changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.setup import SERVER
from tests.support.loopback import response, serve
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs relays and shared servers")

CHANGE = """
import sys
if "server" in sys.argv:
    from pathlib import Path
    from keyhole.serve.shared import address
    find_address = address.find_address

    def find_and_change(environment):
        if {is_before}:
            Path({file!r}).write_text({text!r})
        found = find_address(environment)
        Path({file!r}).write_text({text!r})
        return found

    address.find_address = find_and_change
"""
"""A sitecustomize.py that changes the settings file of a starting server, before or after its address is computed."""
PAGE = response(b"<title>Roads</title><p>This page of a private host tells of roads.</p>", Content_Type="text/html")
STRICT = "# no private addresses\n"


@pytest.fixture
def home() -> Iterator[Path]:
    with shared_home() as folder:
        yield folder


@pytest.mark.parametrize("is_before", [True, False])
def test_a_strict_client_is_never_served_by_a_loose_server(home: Path, is_before: bool) -> None:
    with serve({"/roads": PAGE, "/robots.txt": response()}) as site:
        loose, file = f'allow_private = ["{site.endpoint}"]\n', home / "config.toml"
        first, then = (loose, STRICT) if is_before else (STRICT, loose)
        change = CHANGE.format(is_before=is_before, file=str(file), text=then)
        (home / "sitecustomize.py").write_text(change)
        file.write_text(first)
        settings = reader_settings(home, KEYHOLE_CONFIG=str(file), PYTHONPATH=f"{home}:{SERVER}")
        with Client(settings, "one") as one:
            texts = [one.call("web_fetch", url=site.url("/roads"))]
            file.write_text(STRICT)
            with Client(settings, "two") as two:
                texts.append(two.call("web_fetch", url=site.url("/roads")))
                assert len(servers_of(home)) == 1
    assert all("blocked_address" in text for text in texts)
