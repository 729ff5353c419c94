"""Find the values of the names of secrets: assignments, fields, headers, options and elements of XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.secrets.shapes import NAME_SIGNS, Span

# Names: whether a name is that of a secret, and whether a value can be one.
#
# The name of an option, a variable, a field or a header is read word by word: `dbPassword`, `MYAPP_PW`, `--api-key` and
# `X-Auth-Token` end with the word for a secret, `token_url`, `max_tokens` and `--password-file` do not.

_PARTS: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ENDS: Final = ("password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "secretkey", "accesskey",
                "privatekey", "accountkey", "authkey", "pwd", "pw", "pass")  # fmt: skip
_WHOLE: Final = frozenset({"credential", "credentials", "otp", "psk"})
_NO_SECRETS: Final = frozenset({"bypass", "compass", "trespass", "overpass", "underpass", "surpass", "encompass",
                                "askpass", "multipass"})  # fmt: skip
"""Words that end like the name of a secret."""
_KEYS: Final = frozenset({"api", "auth", "private", "signing", "encryption", "access", "account", "master", "deploy",
                          "session", "service", "secret", "setup", "license", "subscription"})  # fmt: skip
"""Words before `key` in the name of a secret. Other keys are secrets if their value is random."""
_OPEN_KEYS: Final = frozenset({"public", "cache", "primary", "foreign", "sort", "partition", "idempotency", "host"})
_RANDOM_NAMES: Final = frozenset({"auth", "pat", "salt", "sig", "signature"})
"""A name that ends with one of these words is the name of a secret only if the value is random."""
_QUALIFIERS: Final = frozenset({"base", "base64", "hash", "string", "value", "v", "plain", "raw"})
"""Words that can follow the word for a secret, as in `SECRET_KEY_BASE`."""
_VERBS: Final = frozenset({
    "ask", "no", "show", "with", "without", "use", "prompt", "enable", "disable", "generate", "rotate", "reset",
    "create", "delete", "list", "revoke", "require", "allow", "skip", "check", "verify", "read", "save",
})  # fmt: skip
"""First words of options that have no value, such as `--ask-pass`."""

_ORDINARY: Final = frozenset({
    "true", "false", "none", "null", "nil", "yes", "no", "on", "off", "env", "auto", "prompt", "required", "optional",
    "id", "f", "r", "b", "str", "string", "bytes", "int", "bool", "any", "object", "text", "undefined", "include",
    "omit", "same-origin", "pass", "password", "token", "secret", "type", "bearer", "basic", "for", "and", "or", "is",
    "of", "the", "but", "are", "can", "also", "if", "when", "option", "specified", "to", "in", "with", "a", "used",
    "instead", "must",
})  # fmt: skip
"""Values that are no secrets: switches, types, the words of a description."""
_NO_VALUE: Final = lazy_pattern(
    r"\s|\$(?!(?:[0-9][a-z]?|y|argon2\w*)\$)|[<{*•…^]|%(?:\w+%|[sdr(])|\.[*+.]|x+$|\\[$n]|[\W_]{1,3}$"
    r"|[0-9]{1,2}$|[~^v]?[0-9]+(?:\.[0-9x*]+)+\b|\.?/\w{0,2}$|(?:\.{1,2}|~)/|[a-z]+\+?://(?!\S*@)"
    r"|/(?:run|home|etc|tmp|var|usr|opt|root|srv|dev|proc|app|mnt|secrets|Users|path)(?:/|$)"
    r"|(?:env|file|fd|op|vault):|(?:id|src|type|from)="
)
"""A variable, unless it is the hash of a password, a placeholder, a small number, a version, a path, or a source."""
_NO_WORD: Final = lazy_pattern(r"[-=@#%&|;,`()\[\]}]")
"""A sign with which only a value in quotation marks begins. Otherwise it begins an option, a comment or a file."""
_REFERENCE: Final = lazy_pattern(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+$")
_TYPE: Final = lazy_pattern(r"[A-Z][A-Za-z.]*$")
_IDENTIFIER: Final = lazy_pattern(r"[A-Za-z_.]+$")
_RANDOM: Final = lazy_pattern(r"(?=[A-Za-z+_-]{0,60}[0-9])(?=[0-9+_-]{0,60}[A-Za-z])[A-Za-z0-9+_-]+={0,2}$")
MIN_RANDOM: Final = 20
"""Characters of the shortest value that looks random."""
MIN_AUTH: Final = 12
"""`MIN_RANDOM` for a name and a password in base64, as Docker stores them."""


def is_secret_name(name: str, value: str = "") -> bool:
    """Return whether a secret has this name. For some names, only if the `value` looks random."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and (parts[-1] in _QUALIFIERS or parts[-1].isdigit()):
        parts.pop()
    if not parts or "existing" in parts:  # the name of a secret in Helm's charts
        return False
    last = parts[-1]
    if last == "key":
        return not _KEYS.isdisjoint(parts[-2:-1]) or (_OPEN_KEYS.isdisjoint(parts) and is_random(value))
    if last in _RANDOM_NAMES:
        return is_random(value) or (last == "auth" and (parts[0] == "rediscli" or is_random(value, MIN_AUTH)))
    return last in _WHOLE or (last.endswith(_ENDS) and last not in _NO_SECRETS)


def is_secret_option(name: str, value: str) -> bool:
    """Return whether the word after an option of this name is a secret."""
    first = _PARTS.match(name.lstrip("-"))
    return is_secret_name(name, value) and not (first and first[0].lower() in _VERBS)


def is_secret_value(value: str, name: str = "", sign: str = "", *, quoted: bool = False) -> bool:
    """Return whether the value of a name can be a secret.

    `sign`: the text between them, with its spaces. It tells source code, where a value is a type or another name.
    """
    if not is_given(value, quoted=quoted) or value.lower() in _ORDINARY:
        return False
    if (sign == ":" and _TYPE.match(value)) or (sign != ":" and sign and _IDENTIFIER.match(value)):
        return False
    is_reference = _REFERENCE.match(value) or value.isupper() or value == name
    return not (is_reference and value != name.upper() and is_secret_name(value))


def is_given(value: str, *, quoted: bool = False) -> bool:
    """Return whether the value of a secret is in the text, not in a variable or a file."""
    return bool(value) and not _NO_VALUE.match(value) and (quoted or not _NO_WORD.match(value))


def is_random(value: str, shortest: int = MIN_RANDOM) -> bool:
    """Return whether a value looks random: at least `shortest` characters, with letters and digits mixed."""
    return len(value) >= shortest and bool(_RANDOM.match(value))


# Assignments: fields, headers, options and elements of XML whose name is that of a secret.

MAX_WORDS: Final = 200
"""Maximum characters after the first word of a value, if its name and the value are in the same quotation marks."""
_NAME: Final = lazy_pattern(
    r"(?<![\w.-])(?P<option>--?)?(?P<name>[\w.-]++)(?<!\.)(?P<close>\\{0,3}[\"']?\]?)"
    r"(?P<sign>[ \t]{0,20}(?:=>|:=|[:=](?!=))[ \t]{0,20}|(?(option)(?:[ \t]+|,[ \t]*)|(?!)))"
)
"""A name and its separator from the value. After an option, the separator may be a space or a comma."""
_BARE: Final = r"""(?:[^\s\\"'`&;|<>(){}\[\],$]++|\\[^\s"'n])"""
_VALUE: Final = lazy_pattern(
    r"""\\+"(?P<escaped>(?:[^"\n\\]|\\(?!"))++)|"(?P<double>(?:[^"\n\\]|\\.)++)"?"""
    r"""|\\*'(?P<single>[^'\n]++(?:'(?:\\'|"[^"\n]*+")'[^'\n]*+)*+)'?"""
    rf"""|(?P<plain>{_BARE}(?:{_BARE}|,(?![\w-]{{1,60}}=|\s|\Z))*+(?:'(?:\\'|"'")'[^\s'"]*+)*+)(?![(\[])"""
)
_LINE_START: Final = " \t-+>"
_LINE_ENDS: Final = ("", ",", ";")
MAX_EDGE: Final = 200
"""Characters of a line that are examined before a name and after its value. Few lines are indented by a third of it."""
_ELEMENT: Final = lazy_pattern(
    r"<(?P<tag>[\w.-]++)>(?P<content>[^<\n]++)</|\bkey=\"(?P<key>[^\"\n]++)\"\s+value=\"(?P<value>[^\"\n]++)"
)


def find_values(text: str) -> Iterator[Span]:
    """Yield the places of the values of names of secrets."""
    place = 0
    while name := _NAME.search(text, place):
        place = name.end()
        if not _may_be_secret(name) or not (value := _VALUE.match(text, place)):
            continue
        is_secret = _is_secret(text, name, value)
        if is_secret:
            yield value.start(value.lastgroup or 0), _end(text, name, value)
        if is_secret or (value.lastgroup == "plain" and name["sign"].strip()):
            place = value.end()  # no value is read twice, so the time is linear in the text
    if "<" in text:
        for element in _ELEMENT.finditer(text):
            name_group, value_group = ("tag", "content") if element["tag"] else ("key", "value")
            if is_secret_name(element[name_group]) and is_secret_value(element[value_group]):
                yield element.span(value_group)


def _may_be_secret(name: re.Match[str]) -> bool:
    lowered = name["name"].lower()
    return any(sign in lowered for sign in NAME_SIGNS)


def _is_secret(text: str, name: re.Match[str], value: re.Match[str]) -> bool:
    kind, sign = value.lastgroup or "", name["sign"].strip()
    quoted, content = kind != "plain", value[kind]
    if sign in ("", ","):
        is_next = sign == "" or quoted  # a comma divides strings of a list, and words of a sentence
        return is_next and is_secret_option(name["name"], content) and is_secret_value(content, quoted=quoted)
    if not is_secret_name(name["name"], content) or (name[0].startswith("--secret=") and content.islower()):
        return False  # in `--secret=db`, it is the name of a secret
    if quoted and not name["close"] and name.start() and value[0].lstrip("\\")[0] == text[name.start() - 1]:
        return False  # the name is in quotation marks, and so this is the second one: `echo 'Password: '`
    if quoted and _is_in_sentence(text, name):  # such as "unexpected token: 'a'"
        return any(map(str.isdigit, content)) and is_secret_value(content, quoted=True)
    if quoted or name["sign"] == "=":
        return is_secret_value(content, name["name"], quoted=quoted)
    is_field = _is_line(text, name, value) or _is_header(text, name, value)
    return is_field and is_secret_value(content, name["name"], sign)


def _is_in_sentence(text: str, name: re.Match[str]) -> bool:
    """Return whether a name is the last word before the colon of a sentence."""
    before = text[max(0, name.start() - 40) : name.start()].rstrip()
    return name["sign"].startswith(":") and not name["close"] and before[-1:].isalpha()


def _end(text: str, name: re.Match[str], value: re.Match[str]) -> int:
    """Return the end of a value. It may have spaces, as in `"PASSWORD=two words"`."""
    end, mark = value.end(value.lastgroup or 0), text[max(0, name.start() - 1) : name.start()]
    if value.lastgroup == "plain" and mark in ("'", '"') and text[end : end + 1] == " ":
        more = text[end : end + MAX_WORDS].partition(mark)
        return end + len(more[0]) if more[1] and not set(more[0]) & {"=", "\n"} else end
    return end


def _is_line(text: str, name: re.Match[str], value: re.Match[str]) -> bool:
    """Return whether a name and its value fill a line, as in YAML and INI files."""
    before = f"\n{text[: name.start()]}" if name.start() < MAX_EDGE else text[name.start() - MAX_EDGE : name.start()]
    _, is_line, start = before.rpartition("\n")
    end, _, _ = text[value.end() : value.end() + MAX_EDGE].partition("\n")
    is_first = bool(is_line) and name["sign"] != ":" and not start.strip(_LINE_START)
    return is_first and end.strip(" \t\r") in _LINE_ENDS


def _is_header(text: str, name: re.Match[str], value: re.Match[str]) -> bool:
    """Return whether quotation marks are around a name with its value, or a slash is before them, as on Windows."""
    before = text[max(0, name.start() - 2) : name.start()]
    if before[-1:] == "/":
        return name["sign"] == ":" and not before[:-1].strip()
    return before[-1:] in ("'", '"') and text.startswith(before[-1:], value.end())
