"""The pages are served on loopback only, on a free port or the one that was asked for."""

from __future__ import annotations

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.server import open_socket


def test_the_socket_listens_on_loopback_only() -> None:
    with open_socket(0) as listener:
        address, port = listener.getsockname()
    assert address == "127.0.0.1" and port > 0


def test_a_port_in_use_is_refused() -> None:
    with open_socket(0) as listener, pytest.raises(KeyholeError, match="Address already in use") as raised:
        open_socket(listener.getsockname()[1])
    assert raised.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(KeyholeError, match="a port is from 0 to 65,535"):
        open_socket(port)
