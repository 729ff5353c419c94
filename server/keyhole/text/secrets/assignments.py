"""Find the values of the names of secrets: assignments, fields, headers, options and elements of XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.secrets.names import is_secret_name, is_secret_option, is_secret_value
from keyhole.text.secrets.shapes import NAME_SIGNS

Span = tuple[int, int]

MAX_WORDS: Final = 200
"""Maximum characters after the first word of a value, if its name and the value are in the same quotation marks."""
_NAME: Final = lazy_pattern(
    r"(?<![\w.-])(?P<option>--?)?(?P<name>[\w.-]++)(?<!\.)(?P<close>\\{0,3}[\"']?\]?)"
    r"(?P<sign>[ \t]{0,20}(?:=>|:=|[:=](?!=))[ \t]{0,20}|(?(option)(?:[ \t]+|,[ \t]*)|(?!)))"
)
"""A name, and what divides it from its value. A space or a comma does so after an option."""
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
