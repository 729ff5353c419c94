"""The operator's own engines, read from the file that a setting names. What the file means is decided elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError

if TYPE_CHECKING:
    from keyhole.websearch.engines_file import Spec


def own_engines(config: Config) -> tuple[Spec, ...]:
    """The engines of the file, none without one. Raises KeyholeError (invalid_argument) for what is wrong in it."""
    if config.engines_file is None:
        return ()
    from keyhole.websearch.engines_file import parse

    try:
        text = config.engines_file.expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, "the file that KEYHOLE_ENGINES_FILE names cannot be read") from error
    return parse(text, os.environ)
