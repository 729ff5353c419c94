"""Find the secrets among the arguments of a command line, and in text that is piped to a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.secrets.assignments import is_given, is_secret_name
from keyhole.text.secrets.programs import PASSWORD_OPTIONS, TABLE, USER_OPTIONS, WRAPPERS
from keyhole.text.secrets.shapes import Span

# Split a shell command into the words of its simple commands, with their places in the text.

_TOKEN: Final = lazy_pattern(
    r"""(?P<space>(?:[ \t\r]|\\\n)++)"""
    r"""|(?P<redirect>[0-9]?(?:<<<|<<-?|>>|>\||[<>]&|&>|[<>](?!\()))"""
    r"""|(?P<open>[$<>]?\()"""
    r"""|(?P<word>(?:[^\s\\"'`|&;()<>$]|\\.|"(?:[^"\\]|\\.)*+"|'[^']*+'|\$(?!\()|["'])++)"""
    r"""|(?P<sign>\|&?|.)""",
    re.DOTALL,
)
"""A token of a shell. A quotation mark without its partner, as in prose, is a character like others."""


class ShellWord(NamedTuple):
    """A word of a command: its place in the text, and its characters with their quotation marks."""

    start: int
    raw: str

    @property
    def value(self) -> str:
        """The word without quotation marks around all of it."""
        return (
            self.raw[1:-1] if len(self.raw) > 1 and self.raw[0] == self.raw[-1] and self.raw[0] in "\"'" else self.raw
        )


class ShellCommand:
    """A simple command: its words, the here-strings that it reads, and the commands whose output a pipe leads to it."""

    def __init__(self, sources: list[ShellCommand]) -> None:
        self.words: list[ShellWord] = []
        self.here_strings: list[ShellWord] = []
        self.sources = sources


def parse(text: str) -> list[ShellCommand]:
    """Return the simple commands of a text, also those of substitutions. Any text is read as a command."""
    return _Parser(text).commands


class _Parser:
    def __init__(self, text: str) -> None:
        self.commands: list[ShellCommand] = []
        self._left: list[ShellCommand] = []  # the commands of the group that was closed last, on the left of a pipe
        self._open: list[tuple[str, ShellCommand, int]] = []
        self._redirect = ""
        self._begin([])
        for token in _TOKEN.finditer(text):
            self._read(token)

    def _read(self, token: re.Match[str]) -> None:
        kind, raw = token.lastgroup, token[0]
        if kind == "word":
            if self._redirect in ("<<<", ""):
                words = self._current.here_strings if self._redirect else self._current.words
                words.append(ShellWord(token.start(), raw))
            self._redirect = ""
        elif kind == "redirect":
            self._redirect = raw
        elif raw == ")" or (raw == "`" and self._open and self._open[-1][0] == "`"):
            self._close()
        elif kind == "open" or raw == "`":
            self._open.append((raw, self._current, len(self.commands)))
            self._begin([])
        elif kind == "sign":
            self._begin([*self._left, self._current] if raw[0] == "|" else [])

    def _begin(self, sources: list[ShellCommand]) -> None:
        self._current = ShellCommand(sources)
        self.commands.append(self._current)
        self._left, self._redirect = [], ""

    def _close(self) -> None:
        """Go on with the command before `$(`. A group `(…)` is the left side of a pipe as a whole."""
        if self._open:
            sign, self._current, start = self._open.pop()
            self._left = self.commands[start:] if sign == "(" else []


# Find the secrets among the arguments of a command line, and in what a pipe leads to a program.

MAX_DEPTH: Final = 4
"""Maximum depth of quoted commands that are read, as in `ssh host "sh -c '…'"`."""
MAX_WRAPPERS: Final = 8
"""Maximum of nested programs such as `sudo` and `env` that are read in one command."""
MAX_SOURCES: Final = 8
"""Commands on the left of a pipe that are looked at."""
_QUOTED: Final = lazy_pattern(r"""\\.|"(?:[^"\\]|\\.)*+"|'[^']*+'""", re.DOTALL)
_FORMAT: Final = lazy_pattern(r"%[sb](?:\\n)?$|-[neE]{1,3}$")
_MARKS: Final = ("'", '"')
_COMMON: Final = lazy_pattern(r"[a-z]+(?:=|$)|[/\\]")
_PORT_OR_PATH: Final = lazy_pattern(r"[0-9:.,/-]+(?:[a-z]{3})?$|\S*[/=]|\S+\.[a-z]{1,4}$|no:")
_ASSIGNMENT: Final = lazy_pattern(r"\w+\+?=")


class Argument(NamedTuple):
    """An argument that is a secret, or an option before it, as the table names it."""

    name: str
    divider: str
    mode: str


class SecretRule(NamedTuple):
    """The secrets among the arguments of a program: a line of the table."""

    words: tuple[str, ...]
    arguments: tuple[Argument, ...]


OTHER_PROGRAM: Final = SecretRule((), tuple(Argument(option, "", "!") for option in sorted(PASSWORD_OPTIONS)))
"""The rule for a program that is not in the table, and whose arguments name a user."""


def find_arguments(text: str) -> Iterator[Span]:
    """Yield the places of the secrets among the arguments of the commands in a text."""
    named = (rule for name, rules in _rules().items() if name in text for rule in rules)
    if any(_may_apply(rule, text) for rule in [*named, OTHER_PROGRAM]):
        yield from _read_script(text, 0, MAX_DEPTH)


@cache
def _rules() -> dict[str, list[SecretRule]]:
    rules: dict[str, list[SecretRule]] = {}
    for line in TABLE.strip().splitlines():
        head, _, arguments = line.partition(": ")
        programs, _, words = head.partition(" | ")
        rule = SecretRule(tuple(words.split()), tuple(map(_read_argument, arguments.split())))
        for program in programs.split():
            rules.setdefault(program, []).append(rule)
    return rules


def _read_argument(written: str) -> Argument:
    mode = written[-1] if written[-1] in "~_?" else ""
    name, _, divider = written.removesuffix(mode).partition("[")
    return Argument(name, divider[:1], mode)


def _may_apply(rule: SecretRule, text: str) -> bool:
    """Return False if a rule certainly finds nothing, so that the text need not be read as a command."""
    if not all(any(each in text for each in word.split("/")) for word in rule.words):
        return False
    return any(
        each.name[0] not in "-@" or (each.mode != "_" and each.name.lstrip("-@") in text) for each in rule.arguments
    )


def _read_script(script: str, offset: int, depth: int) -> Iterator[Span]:
    for command in parse(script):
        runs_others = False
        for program, words in _find_programs(command.words):
            runs_others = runs_others or program in WRAPPERS
            others = () if program in WRAPPERS or not _names_user(words) else (OTHER_PROGRAM,)
            for rule in _rules().get(program, others):
                for start, end in _apply(rule, words, command):
                    yield offset + start, offset + end
        for word in command.words if depth else ():
            for quoted in _QUOTED.finditer(word.raw):
                inner = quoted[0][1:-1]
                if (runs_others and " " in inner) or "$(" in inner or "`" in inner:
                    yield from _read_script(inner, offset + word.start + quoted.start() + 1, depth - 1)


def _find_programs(words: list[ShellWord]) -> Iterator[tuple[str, list[ShellWord]]]:
    """Yield the program of a command and its arguments. The arguments of a wrapper contain another program."""
    wrappers = 0
    for place, word in enumerate(words):
        program = word.value.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        if program in WRAPPERS:
            yield program, words[place + 1 :]
            wrappers += 1
        elif program in _rules() or not (wrappers or _ASSIGNMENT.match(word.raw)):
            yield program, words[place + 1 :]
            return
        if wrappers == MAX_WRAPPERS:
            return


def _names_user(words: list[ShellWord]) -> bool:
    return any(
        option.value in USER_OPTIONS and "." not in value.raw and value.raw[0] != "-"
        for option, value in pairwise(words)
    )


def _apply(rule: SecretRule, words: list[ShellWord], command: ShellCommand) -> Iterator[Span]:
    """Yield the places of the secrets that a rule finds among the arguments of its program."""
    start = _match_words(rule.words, words)
    if start is None:
        return
    skipped = {each.name for each in rule.arguments if each.mode == "_"}
    plain = _plain_arguments(words[start:], skipped)
    for each in rule.arguments:
        if each.mode != "_":
            spans = (_secret_span(word, place, each) for word, place in _find_words(each, words, plain, command))
            yield from filter(None, spans)


def _find_words(
    argument: Argument, words: list[ShellWord], plain: list[ShellWord], command: ShellCommand
) -> Iterator[tuple[ShellWord, int]]:
    """Yield the words that an entry of the table means, and the place in each where the secret can begin.

    `plain`: the arguments that are no options, after the words of the rule.
    """
    name = argument.name
    if name[0] in "-/":
        yield from _option_values(argument, words)
    elif name == "<":
        yield from ((word, 0) for word in _input_words(command))
    elif name == "=":
        yield from ((word, word.raw.index("=") + 1) for word in plain if "=" in word.raw)
    elif name[0] == "#":
        yield from ((word, 0) for word in _numbered(name[1:], plain))
    else:
        yield from ((after, 0) for word, after in pairwise(words) if _announces(name, word))


def _match_words(wanted: tuple[str, ...], words: list[ShellWord]) -> int | None:
    """Return the place after the words of a command in this order, None if a word is missing."""
    place = 0
    for each in wanted:
        forms = each.split("/")
        while place < len(words) and not any(_is_word(words[place].value, form) for form in forms):
            place += 1
        place += 1
    return place if place <= len(words) else None


def _is_word(value: str, form: str) -> bool:
    if len(form) == 2 and form[0] == "-":
        return value[:1] == "-" and value[1:2] != "-" and form[1] in value
    return value == form or value.startswith(f"{form}.")


def _plain_arguments(words: list[ShellWord], skipped: set[str]) -> list[ShellWord]:
    """Return the arguments that are neither options nor values of the options `skipped`."""
    return [
        word
        for place, word in enumerate(words)
        if not word.value.startswith("-") and not (place and words[place - 1].value in skipped)
    ]


def _numbered(number: str, words: list[ShellWord]) -> list[ShellWord]:
    if number == "*":
        return words
    return words[-1:] if number == "last" else words[int(number) - 1 : int(number)]


def _announces(name: str, word: ShellWord) -> bool:
    return "=" not in word.raw and is_secret_name(word.value) if name == "*" else word.value == name[1:]


def _input_words(command: ShellCommand) -> Iterator[ShellWord]:
    """Yield the words that a command reads: its here-strings, and the arguments of an `echo` before its pipe."""
    yield from command.here_strings
    sources = command.sources[-MAX_SOURCES:]
    for source in sources:
        if source.words and source.words[0].value in ("echo", "printf", "yes"):
            yield from (word for word in source.words[1:] if not _FORMAT.match(word.value))
        sources += source.sources if len(sources) < MAX_SOURCES else []


def _option_values(option: Argument, words: list[ShellWord]) -> Iterator[tuple[ShellWord, int]]:
    """Yield each word that contains the value of an option, with the place of the value in the word."""
    name = option.name
    is_short = len(name) == 2 and name[0] == "-"
    for place, word in enumerate(words):
        lead = word.raw[:1] in ("'", '"')
        value = word.raw[lead:]
        if value[:1] != name[0]:
            continue
        if value.startswith((f"{name}=", f"{name}:")):
            yield word, lead + len(name) + 1
        elif option.mode == "!":
            if word.value == name and place + 1 < len(words):
                yield words[place + 1], 0
        elif option.mode == "~" or (is_short and value.startswith(name) and len(word.value) > 2):
            if value.startswith(name) and len(word.value) > len(name):
                yield word, lead + len(name)
        elif place + 1 < len(words) and (word.value == name or (is_short and _ends_cluster(word.value, name[1]))):
            yield words[place + 1], 0


def _ends_cluster(value: str, letter: str) -> bool:
    """Return whether a word combines options of one letter, such as `-sSu`, and ends with this option."""
    return value.endswith(letter) and len(value) <= 6 and value[1:].isalpha()


def _secret_span(word: ShellWord, place: int, argument: Argument) -> Span | None:
    """Return the place of a secret that begins in a word, without the quotation marks around it, or None."""
    raw, end = word.raw, len(word.raw)
    if argument.divider:
        divided = raw.find(argument.divider, place)
        if divided < 0 or raw.startswith("://", divided):
            return None
        place = divided + 1
        if argument.name == "#*" and "@" in raw[place:]:
            end = raw.rindex("@")
    before, ends = raw[:place], raw[end - 1 : end]
    if raw[place : place + 1] in _MARKS and raw[place] == ends and place + 1 < end:
        before, place, end = raw[: place + 1], place + 1, end - 1
    elif before[:1] in _MARKS and before[0] == ends:
        end -= 1
    value = raw[place:end]
    if not is_given(value, quoted=before[-1:] in _MARKS or before[:1] in _MARKS):
        return None
    if (argument.mode == "?" and _COMMON.match(value)) or (argument.mode == "!" and _PORT_OR_PATH.match(value)):
        return None
    return word.start + place, word.start + end
