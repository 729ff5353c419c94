"""The names that `keyhole install --wrap` writes into a client's configuration and that the proxy reads there."""

from __future__ import annotations

import re
from typing import Final

URL_PREFIX: Final = "env:"
"""Prefix of a `--url` that names an environment variable with the URL."""


def header_variable(name: str) -> str:
    """Return the name of the variable with the value of a header that is given as a name alone."""
    return f"HEADER_{re.sub('[^0-9A-Za-z]', '_', name).upper()}"
