"""Where settings are read from: the environment, and one file below it. What they mean is decided elsewhere."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from keyhole.config.config import Config, examined
from keyhole.config.schema import FILE_VARIABLE, SETTINGS
from keyhole.errors import Code, KeyholeError

log = logging.getLogger(__name__)

NAME: Final = "config.toml"
OFF: Final = "off"
"""What FILE_VARIABLE says where no file is to be read."""
MAX_BYTES: Final = 100_000
"""Of a file of settings: the whole template takes less than a tenth."""


def configured(environment: Mapping[str, str]) -> Config:
    """The settings in force. Raises KeyholeError (invalid_argument) for the first that is wrong."""
    config, faults = looked_at(environment)
    if faults:
        raise KeyholeError(Code.INVALID_ARGUMENT, faults[0])
    return config


def looked_at(environment: Mapping[str, str]) -> tuple[Config, list[str]]:
    """The settings that are right, and what is wrong with each of the others."""
    path = path_of(environment)
    try:
        text = _text(path, named=bool(_named(environment))) if path else None
    except KeyholeError as error:
        return examined(environment)[0], [error.message]
    if path is None or text is None:
        return examined(environment)
    from keyhole.config.toml_file import settings_of

    given, wrong = settings_of(text, str(path))
    config, faults = examined(environment, given)
    return config, [*wrong, *faults]


def path_of(environment: Mapping[str, str]) -> Path | None:
    """The file of settings, whether it is there or not; None where none is to be read."""
    named = _named(environment)
    if named.lower() == OFF:
        return None
    if named:
        return Path(os.path.expanduser(named))  # noqa: PTH111 - Path's own raises for an unknown user
    from platformdirs import user_config_path

    return user_config_path("keyhole", appauthor=False) / NAME


def warn(config: Config) -> None:
    """Log where a file with keys in it is open to others."""
    for line in exposed(config):
        log.warning("%s", line)


def exposed(config: Config) -> list[str]:
    """A line for each file that a secret is from and that others than its owner may read."""
    variables = {setting.variable for setting in SETTINGS}
    secret = {config.origins[each.field] for each in SETTINGS if each.secret and each.field in config.origins}
    paths = sorted({Path(origin.rpartition(":")[0]) for origin in secret - variables})
    return [
        f"{path} holds a key and others can read it; chmod 600 would close it"
        for path in paths
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o044
    ]


def _named(environment: Mapping[str, str]) -> str:
    return environment.get(FILE_VARIABLE, "").strip()


def _text(path: Path, *, named: bool) -> str | None:
    """What is in the file; None for the usual one that is not there."""
    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is larger than a file of settings ever is")
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"{path} is not UTF-8 (at byte {error.start})") from error
    except FileNotFoundError as error:
        if not named:
            return None
        message = f"the file of settings that {FILE_VARIABLE} names is not there: {path}"
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
    except OSError as error:
        message = f"the file of settings cannot be read: {path}: {error.strerror}"
        raise KeyholeError(Code.INVALID_ARGUMENT, message) from error
