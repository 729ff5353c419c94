"""Read the servers of a configuration file in the formats of MCP clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import URL_PREFIX, header_variable

SECTIONS: Final = ("mcpServers", "servers", "mcp", "context_servers")
"""The keys under which clients have their servers."""
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]{0,1000}+))?\}")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server of a configuration file: a command or a URL."""

    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    folder: str | None = None
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()


def read_entries(settings: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, ServerEntry]:
    """Return the servers by name, without those that are disabled. `env`: the variables that values may name.

    Raises KeyholeError (invalid_argument), which names the faulty entry.
    """
    section = next((settings[name] for name in SECTIONS if isinstance(settings.get(name), dict)), None)
    if section is None:
        raise _invalid(f"the file has none of the keys {', '.join(SECTIONS)}")
    entries = {
        str(name): _read(str(name), value, env)
        for name, value in section.items()
        if not (isinstance(value, dict) and (value.get("disabled") is True or value.get("enabled") is False))
    }
    if not entries:
        raise _invalid("the file names no server")
    return entries


def _read(name: str, value: Any, env: Mapping[str, str]) -> ServerEntry:
    if not isinstance(value, dict):
        raise _invalid(f"the entry {name!r} is no object")
    url = value.get("url") or value.get("serverUrl") or value.get("httpUrl")
    if isinstance(url, str):
        return ServerEntry(url=expand(url, env), headers=_strings(name, value.get("headers"), env))
    command = value.get("command")
    words = [*(command if isinstance(command, list) else [command]), *(value.get("args") or [])]
    if not words or not all(isinstance(word, str) and word for word in words):
        raise _invalid(f"the entry {name!r} has neither a command nor a URL")
    folder = value.get("cwd")
    return ServerEntry(
        tuple(expand(word, env) for word in words),
        _strings(name, value.get("env") or value.get("environment"), env),
        expand(folder, env) if isinstance(folder, str) else None,
    )


def _strings(name: str, value: Any, env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise _invalid(f"the entry {name!r} has variables or headers that are no object")
    return tuple((str(key), expand(str(each), env)) for key, each in value.items())


def expand(text: str, env: Mapping[str, str]) -> str:
    """Return a value with `${NAME}`, `${env:NAME}` and `${NAME:-default}` replaced, as clients do.

    A variable that is not set and has no default stays as it is written.
    """
    return _VARIABLE.sub(lambda match: env.get(match[1], match[0] if match[2] is None else match[2]), text)


def read_header(text: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the name and value of a header. `Name: value` has both; for `Name` alone, a variable has the value.

    Raises KeyholeError, which does not repeat the value.
    """
    name, colon, value = text.partition(":")
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
        raise _invalid("--header takes 'Name: value'")
    if not colon:
        variable = header_variable(name.strip())
        if variable not in env:
            raise _invalid(f"--header takes 'Name: value', or a name alone with its value in the variable {variable}")
        value = env[variable]
    return name.strip(), expand(value.strip(), env)


def read_url(text: str, env: Mapping[str, str]) -> str:
    """Return a URL, or the URL in the variable after `env:`. Raises KeyholeError, which does not repeat the URL."""
    url = env.get(text.removeprefix(URL_PREFIX), "") if text.startswith(URL_PREFIX) else text
    if not url.startswith(("http://", "https://")):
        raise _invalid("--url takes an http or https address, or env:NAME for that of a variable")
    return url


def _invalid(message: str) -> KeyholeError:
    return KeyholeError(Code.INVALID_ARGUMENT, message)
