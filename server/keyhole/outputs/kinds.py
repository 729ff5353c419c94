"""Recognise the kind of an output from its command, its name and its content. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, get_args

from keyhole.outputs.fields import is_table, read_stanzas
from keyhole.outputs.output import Envelope, ends_of, take
from keyhole.outputs.records import is_json, is_xml
from keyhole.outputs.sections import is_failed_run
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.parse_json import parse_json

Kind = Literal[
    "test", "compiler", "trace", "log", "diff", "grep", "listing", "source", "json", "jsonl", "yaml", "xml", "csv",
    "page", "markdown", "opaque", "text",
]  # fmt: skip
"""The kinds of output. "log" is a command's output or a log file, "page" is HTML, "opaque" has no lines to read."""

KINDS: Final[tuple[str, ...]] = get_args(Kind)

SAMPLE_CHARS: Final = 12_000
"""Characters of the beginning and of the end that are examined."""
OPAQUE_LINE_CHARS: Final = 2_000
"""Mean length of lines above which a text is opaque, unless it is JSON or a page: minified code, or an encoding."""
GREP_SHARE: Final = 0.9
"""Share of the sample's lines that must have the form `path:line:`."""
DIFF_SHARE: Final = 0.75
"""Share of the sample's lines that must be lines of a diff. The log of a build may print one among its own lines."""
CODE_SHARE: Final = 0.03
"""Source has at least this share of lines that define or import something, and at least `MIN_CODE_LINES` of them."""
MIN_CODE_LINES: Final = 4
MIN_HEADINGS: Final = 3
"""Headings that Markdown has at least."""
CSV_LINES: Final = 10
"""Lines that must have the same number of separators."""

MIN_LOG_LINES: Final = 5
LOG_SHARE: Final = 0.1
"""Lines with a time or a level that a log has at least, and their share of the lines."""
NAMED: Final = 9.0
PROVEN: Final = 7.0
FAILED: Final = 6.0
FORM: Final = 5.0
COMMAND: Final = 4.0
LIKELY: Final = 2.0
DEFAULT: Final = 1.0
"""How much speaks for a kind: the name of a file; a content that parses or that no other program prints; a sign that a
step failed; the form of nearly all lines; the command; the form of some lines; nothing. The order is what matters."""

MIN_YAML_LINES: Final = 10
YAML_SHARE: Final = 0.6
"""Lines that YAML has at least, and the share of them with a key."""

_COMMANDS: Final[tuple[tuple[Kind, str], ...]] = (
    (
        "test",
        "pytest, py.test, tox, nox, jest, vitest, mocha, ava, tap, ctest, rspec, phpunit, prove, cargo test,"
        " cargo nextest, go test, npm test, npm run test, yarn test, pnpm test, node --test, python -m pytest,"
        " python -m unittest, python -m doctest, mvn test, gradle test, deno test, bun test, dotnet test, swift test,"
        " mix test, rails test",
    ),
    (
        "compiler",
        "gcc, g++, cc, c++, clang, clang++, clang-tidy, nvcc, rustc, javac, kotlinc, tsc, mypy, ruff, eslint, flake8,"
        " pylint, pyright, shellcheck, cppcheck, golangci-lint, make, cmake, ninja, cargo build, cargo check,"
        " cargo clippy, go build, go vet, mvn, gradle, dotnet build, swift build, python -m mypy, python -m ruff,"
        " python -m flake8, python -m pylint",
    ),
    ("diff", "diff, git diff, git show, git log -p, git format-patch"),
    ("grep", "grep, egrep, fgrep, zgrep, rg, ag, ack, git grep"),
    (
        "listing",
        "ls, find, glob, tree, du, fd, dpkg -l, dpkg -L, pip list, pip freeze, git ls-files, git status, npm ls,"
        " apt list, unzip -l, tar t, tar tf, tar tvf, tar tzf, tar tzvf, tar -t, tar -tf, tar -tvf, tar -tzf,"
        " tar -tzvf",
    ),
)
"""The first words of commands by the kind of their output. Tables, because compiling patterns takes milliseconds."""
_PREFIXES: Final = frozenset({
    "sudo", "env", "time", "nice", "npx", "bunx", "uv", "poetry", "run", "bundle", "exec", "timeout", "nohup", "stdbuf",
})  # fmt: skip
_MANUALS: Final = frozenset({"man", "help"})
_PRINTERS: Final = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "sed"})
_VERBS: Final = frozenset({
    "test", "build", "run", "install", "diff", "log", "show", "HEAD", "status", "list", "ls", "check", "grep", "main",
    "master", "add", "get", "all", "view", "python", "python3", "pytest", "unittest", "cat",
})  # fmt: skip
"""Arguments that name what a program does. Its output repeats them everywhere or nowhere."""
_BY_COMMAND: Final[dict[str, Kind]] = {line: kind for kind, lines in _COMMANDS for line in lines.split(", ")}
_MAX_COMMAND_WORDS: Final = 3
"""Words of the longest of these commands."""
_BY_SUFFIX: Final[dict[str, Kind]] = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".yaml": "yaml", ".yml": "yaml", ".xml": "xml", ".plist": "xml", ".csv": "csv", ".tsv": "csv", ".html": "page",
    ".htm": "page", ".xhtml": "page", ".md": "markdown", ".markdown": "markdown", ".ipynb": "json",
    ".diff": "diff", ".patch": "diff", ".log": "log",
    ".py": "source", ".pyi": "source", ".js": "source", ".ts": "source", ".tsx": "source", ".jsx": "source",
    ".c": "source", ".h": "source", ".cc": "source", ".cpp": "source", ".hpp": "source", ".rs": "source",
    ".go": "source", ".java": "source", ".rb": "source", ".php": "source", ".sh": "source", ".bash": "source",
    ".mjs": "source", ".cjs": "source", ".cxx": "source", ".cu": "source", ".cs": "source", ".kt": "source",
    ".swift": "source", ".scala": "source", ".lua": "source", ".pl": "source", ".pm": "source", ".sql": "source",
}  # fmt: skip

_MISTAKEN: Final = frozenset({("opaque", "grep"), ("csv", "listing")})
"""Kind by content and kind by command, where the command is right: its results have long lines, or columns."""

_PROVEN: Final = frozenset({"json", "jsonl", "xml", "page", "opaque", "test", "compiler", "grep"})
"""Kinds by content that hold although a runner says in the text that a step failed."""

_TEST = lazy_pattern(
    r"^(?:=+ test session starts =+|Ran \d+ tests? in|test result: |Tests: +\d|[#ℹ] tests \d|TAP version \d"
    r"|Tests run: \d|There (?:was|were) \d+ failures?:|\d+ examples?, \d+ failures?|Result: (?:FAIL|PASS)$"
    r"|running \d+ tests?$|--- (?:FAIL|PASS): | *\d+ passing\b"
    r"|(?>(?:=+ .*?)?(?<!\d)\d++ (?:failed|passed)).* in [\d.]++s"
    r"| *Test Files +\d|(?:ok  |FAIL)\t\S+\t[\d.]+s|\d+% tests passed, |\d+ passed and \d+ failed\.$)",
    re.MULTILINE,
)
_COMPILER = lazy_pattern(
    r"^(?:[ \t]*\S+?:\d+(?::\d+)?:?(?: -)? (?:fatal )?(?:error|warning)\b|error(?:\[E\d+\])?: "
    r"|\S+\(\d+(?:,\d+)?\): (?:error|warning)\b|\S+:\d+:\d+: [A-Z]+\d+:? |(?:[A-Z]+\d+ .*\n)? +--> \S+:\d+:\d+$"
    r"|✖ \d+ problems? \(|\w*make(?:\[\d+\])?: \*\*\* |collect2: error|\[INFO\] BUILD (?:FAILURE|SUCCESS)"
    r"|In \S+ line \d+:$)",
    re.MULTILINE,
)
_TRACE = lazy_pattern(
    r"^(?:Traceback \(most recent call last\):|Exception in thread |panic: |thread '.*' panicked"
    r"|[ \t]++at \S[^\s(]*+ ?\(.*\)$)",
    re.MULTILINE,
)
_DIFF = lazy_pattern(r"^(?:diff --git \S+ \S|@@ -\d+(?:,\d+)? \+\d|--- \S.*\n\+\+\+ )", re.MULTILINE)
_DIFF_LINE = lazy_pattern(
    r"\A(?:[-+ @\\]|diff |index |(?:new|deleted|old) |rename |similarity |commit |Author|Date|Binary |Only in )"
)
_DIFF_WORDS: Final = ("diff --git ", "@@ -", "\n+++ ")
_TRACE_WORDS: Final = ("Traceback ", "Exception in thread ", "panic: ", "panicked", " at ", "\tat ")
_MANUAL_WORDS: Final = ("SYNOPSIS", "sage: ")
"""Words of which a text contains at least one if the pattern of the same name matches it."""
_LOG_LINE = lazy_pattern(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\d\d:\d\d:\d\d|(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL)[\]: ])",
    re.MULTILINE,
)
"""A line that begins with a time or a level."""
_REVISION = lazy_pattern(r"\d+|(?=\w*\d)[0-9a-f]{7,40}")
_GREP_LINE = lazy_pattern(r"\A(?:--$|(?=[^\s:]*[/.])[^\s:\d][^\s:]*(?::(?:\d+[:-])?.|-\d+-))")
_LINE_NUMBER = lazy_pattern(r"[:-]\d+[:-]|:")
_LISTING_LINE = lazy_pattern(
    r"\A(?:(?:\s*\d+\s+\d+ )?[-dlbcps][-rwxsStT]{9}|[│ \xa0]*[├└]|[ih]i  \S|[\d.]+[KMGT]?\s+\.{0,2}/\S+$|total \d+$"
    r"|\.{0,2}/[^\s:]*:?$)"
)
_CODE_LINE = lazy_pattern(
    r"\A(?:[ \t]{0,8}(?:(?:export|default|public|private|protected|pub|async|static|abstract|final|unsafe) )*"
    r"(?:(?:def|class|func|fn|function|interface|struct|enum|impl|trait|sub)\b.*[:({;]$|(?:const|let|var) \w+ =)"
    r"|#(?:include|define|ifn?def|endif) ?|import (?:[\w.]+(?: as \w+)?;?$|.* from [\"'])"
    r"|from \S+ import |package \w+;?$)"
)
_YAML_LINE = lazy_pattern(r"\A(?: *(?:- +)*(?:[\w./$-]+|\"[^\"]*\"):(?: |$)| *- \S|---$| *#| {2,}\S)")
_YAML_KEY = lazy_pattern(r"\A *(?:- +)*[\w./-]+:(?: \S|$)")
_HEADING = lazy_pattern(r"^#{1,6} \S", re.MULTILINE)
_MARKUP = lazy_pattern(r"\]\(\S|^(?:```|[-*] \S)", re.MULTILINE)
_MANUAL_TEXT = lazy_pattern(r"NAME\n(?:.*\n){1,12}SYNOPSIS$|\A(?:.*\n){0,4}[Uu]sage: ", re.MULTILINE)
_HTML = lazy_pattern(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html[\s>])", re.IGNORECASE)
_SEPARATORS: Final = {",": 2, "\t": 1, ";": 2}
"""The separators of tables, with how many a line has at least: a sentence often has one comma."""


class Evidence(NamedTuple):
    """A kind that an output may have, how much speaks for it, and why."""

    kind: Kind
    score: float
    reason: str


def recognise(text: str, command: str = "", name: str = "", exit_status: int | None = None) -> Kind:
    """Return the kind of an output, for which most speaks. The arguments are those of `weigh_kinds`."""
    return next(weigh_kinds(text, command, name, exit_status)).kind


def weigh_kinds(text: str, command: str = "", name: str = "", exit_status: int | None = None) -> Iterator[Evidence]:
    """Yield the kinds that an output may have, the one for which most speaks first.

    `command`: the command line that printed it; `name`: its file's name; `exit_status`: how the command ended. They are
    weighed one after the other, so that the first one takes little time.
    """
    words = _main_command(command)
    _, dot, suffix = (name or _printed_file(words)).rpartition(".")
    if kind := _BY_SUFFIX.get(dot + suffix.lower()):
        is_opaque = kind == "source" and _is_opaque(text)
        yield Evidence("opaque" if is_opaque else kind, NAMED, f"the file's name ends with {dot}{suffix}")
    if "--help" in words or (len(words) > 1 and words[0] in _MANUALS):
        yield Evidence("text", NAMED, "the command prints a manual")
    told, kind = _kind_of_command(words), _kind_of_content(text)
    is_mistaken = (kind, told) in _MISTAKEN
    if told and is_mistaken:
        yield Evidence(told, PROVEN, "the command prints this kind, which has the form of another")
    elif told is None and kind not in _PROVEN and (sign := _sign_of_log(text, kind, exit_status)):
        yield Evidence("log", FAILED, sign)
    if kind:
        yield Evidence(kind, PROVEN if kind in _PROVEN else FORM, "its lines have the form of this kind")
    if told and not is_mistaken:
        yield Evidence(told, COMMAND, "the command prints this kind")
    if kind := _likely_kind(text):
        yield Evidence(kind, LIKELY, "some of its lines have the form of this kind")
    yield Evidence("log" if "\n" in text else "text", DEFAULT, "nothing else is known")


def _sign_of_log(text: str, kind: Kind | None, exit_status: int | None) -> str:
    """Return why a text is a log although its lines have the form of another kind, or of none; "" if it is not."""
    if is_failed_run(text):
        return "a line says that a step failed"
    if exit_status and kind != "diff":
        return f"the command ended with exit status {exit_status}"
    sample = ends_of(text, SAMPLE_CHARS)
    stamped = len(_LOG_LINE.findall(sample))
    is_log = stamped >= MIN_LOG_LINES and stamped >= LOG_SHARE * sample.count("\n")
    return f"{stamped} lines have a time or a level" if is_log and kind not in ("csv", "diff") else ""


def command_words(command: str) -> str:
    """Return the words of a command line that its output may be about: its arguments, without options and verbs."""
    words = _main_command(command)[1:]
    arguments = [word for word in words if not word.startswith(("-", "$")) and word not in _VERBS]
    named = re.sub(r"[^\w\s]+", " ", " ".join(arguments)).split()
    return " ".join(word for word in named if not _REVISION.fullmatch(word))


def _main_command(command: str) -> list[str]:
    """Return the words of the command that prints the output: the last one of a known kind, else the last one.

    Of a pipe, only the first command counts: those after it choose some of its lines.
    """
    for sign in ("&&", "||", ";"):
        command = command.replace(sign, "\n")
    commands = [_words(part.split(" | ")[0]) for part in command.split("\n") if part.strip()]
    known = [words for words in commands if _kind_of_command(words) or _printed_file(words)]
    return (known or commands or [[]])[-1]


def _printed_file(words: list[str]) -> str:
    """Return the file that a command such as `cat` prints, "" for any other command."""
    return words[-1] if len(words) > 1 and words[0].rpartition("/")[2] in _PRINTERS else ""


def _kind_of_command(words: list[str]) -> Kind | None:
    path, *rest = words or [""]
    program = path.rpartition("/")[2].replace("python3", "python")
    while program == "git" and rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in ("-C", "-c") else 1 :]
    lines = (" ".join([program, *rest[:count]]) for count in reversed(range(_MAX_COMMAND_WORDS)))
    return next((_BY_COMMAND[line] for line in lines if line in _BY_COMMAND), None)


def _words(command: str) -> list[str]:
    """Return the words of a command line, without variables before it, `sudo` and the like."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    is_option = False
    while words and (_is_assignment(words[0]) or words[0] in _PREFIXES or is_option):
        words.pop(0)
        is_option = bool(words) and (words[0].startswith("-") or words[0].rstrip("smh").isdigit())
    return words


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()


def _kind_of_content(text: str) -> Kind | None:
    """Return the kind that the content alone proves, or None."""
    sample = ends_of(text, SAMPLE_CHARS)
    if kind := _structured_kind(text):
        return kind
    if (
        text.lstrip().startswith("<")
        and _HTML.match(text)
        and ("</html" in text[-200:].lower() or "</html" not in text.lower())
    ):
        return "page"
    if text.lstrip().startswith("<") and is_xml(text):
        return "xml"
    if _is_opaque(text):
        return "opaque"
    lines = [line for line in sample.splitlines() if line.strip()]
    if _has_any(sample, _DIFF_WORDS) and _DIFF.search(sample) and _share(lines, _DIFF_LINE) >= DIFF_SHARE:
        return "diff"
    for kind, pattern in (("test", _TEST), ("compiler", _COMPILER)):
        if pattern.search(sample):
            return kind
    if _share(lines, _GREP_LINE) >= GREP_SHARE and ":" in sample and not take_labels(sample)[1]:
        is_counts = all(line.rpartition(":")[2].isdigit() for line in lines)
        return "grep" if is_counts or len({_LINE_NUMBER.split(line, 1)[0] for line in lines}) < len(lines) else None
    if _is_csv(lines) or is_table(lines):
        return "csv"
    return _kind_of_fields(sample, lines)


def _likely_kind(text: str) -> Kind | None:
    """Return the kind that the content suggests. Used if neither the content proves a kind nor the command tells it."""
    sample = ends_of(text, SAMPLE_CHARS)
    if _has_any(sample, _TRACE_WORDS) and _TRACE.search(sample):
        return "trace"
    lines = [line for line in sample.splitlines() if line.strip()]
    if _share(lines, _LISTING_LINE) >= GREP_SHARE:
        return "listing"
    if _has_any(text[:SAMPLE_CHARS], _MANUAL_WORDS) and _MANUAL_TEXT.search(text[:SAMPLE_CHARS]):
        return "text"
    if "\n##" in sample and len(_HEADING.findall(sample)) >= MIN_HEADINGS and _MARKUP.search(sample):
        return "markdown"
    share = _share(lines, _CODE_LINE)
    return "source" if share >= CODE_SHARE and share * len(lines) >= MIN_CODE_LINES else None


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text contains one of the words. Without them, a slow pattern is not compiled."""
    return any(word in text for word in words)


def _share(lines: list[str], pattern: re.Pattern[str]) -> float:
    """Return the share of lines whose beginning matches."""
    return sum(bool(pattern.match(line)) for line in lines) / max(1, len(lines))


def _structured_kind(text: str) -> Kind | None:
    lines = [line for line in text[: 8 * SAMPLE_CHARS].splitlines()[:-1] if line.strip()][:CSV_LINES]
    if len(lines) > 1 and sum(line.startswith('{"') and _is_record(line) for line in lines) > len(lines) / 2:
        return "jsonl"
    return "json" if text.rstrip()[-1:] in ("}", "]") and is_json(text) else None


def _is_record(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict | list)
    except ValueError:
        return False


def _is_opaque(text: str) -> bool:
    return len(text) > OPAQUE_LINE_CHARS * (text.count("\n") + 1) or "\ufffd" * 8 in text[:SAMPLE_CHARS]


def _is_csv(lines: list[str]) -> bool:
    if len(lines) < CSV_LINES:
        return False
    return any(
        len(counts := {line.count(separator) for line in lines[: 2 * CSV_LINES]}) == 1 and min(counts) >= least
        for separator, least in _SEPARATORS.items()
    )


def _kind_of_fields(sample: str, lines: list[str]) -> Kind | None:
    """Return the kind of a text of names with values: YAML, or text if its records are stanzas."""
    return "yaml" if _is_yaml(lines) else "text" if read_stanzas(sample).records else None


def _is_yaml(lines: list[str]) -> bool:
    """Return whether nearly all lines have the form of YAML, and most have keys, of which some are below others."""
    if len(lines) < MIN_YAML_LINES or _share(lines, _YAML_LINE) < GREP_SHARE or _share(lines, _YAML_KEY) < YAML_SHARE:
        return False
    return any(line.endswith(":") for line in lines) and any(line.startswith(("  ", "- ")) for line in lines)


# Find the label before each line of a text that several programs print: the name of a task, a service or a host.

MIN_SHARE: Final = 0.7
"""Minimum share of the lines that have a label."""
MIN_LINES: Final = 20
"""Minimum number of lines with a label."""
LABEL_SAMPLE_CHARS: Final = 20_000
"""Characters examined at the beginning, and at the end, to decide whether lines have labels."""
MIN_LINES_PER_LABEL: Final = 6
"""Minimum mean number of lines per label. In prose, the words before colons all differ."""

_LABEL = lazy_pattern(
    r"\n((?![\w./-]*\.[a-z]{1,5}:)(?!(?:\[?(?i:info|warn|warning|error|err|debug|trace|fatal|notice|critical|note|npm)\b))"
    r"(?:\[[\w@./#-]{1,40}\] |[\w@./#-]{1,60}(?::[\w./-]{1,40})?(?:: | +\| ?|\t| +> ?)))"
)
"""`[api] ` of concurrently, `@town/pump:build: ` of turbo, `web-1  | ` of docker compose, name and tab of parallel."""


def take_labels(text: str) -> tuple[str, Envelope | None]:
    """Return a text without the labels of its lines, and where they were; the text and None if it has none."""
    ends = ends_of(text, LABEL_SAMPLE_CHARS)
    if not _are_labels(ends, [match[0] for match in _LABEL.finditer(f"\n{ends}")]):
        return text, None
    return take(text, _LABEL)


def _are_labels(text: str, found: list[str]) -> bool:
    """Return whether `found` are labels: nearly all lines have one, and only a few of them differ."""
    different = len(set(found))
    filled = sum(1 for line in text.split("\n") if line.strip())
    is_enough = len(found) >= max(MIN_LINES, MIN_SHARE * filled)
    return is_enough and 2 <= different <= len(found) / MIN_LINES_PER_LABEL


# Name what text without lines to read is: minified code, an encoding, bytes of a known format.

OPAQUE_SAMPLE_CHARS: Final = 4_000
"""Characters of the beginning that are examined."""

_MAGIC: Final = (
    # The first characters of a format, as a terminal shows them, without control characters, or in base64.
    ("ELF program", ("f0VMR",)),
    ("PNG image", ("\\x89PNG", "iVBORw0KGgo")),
    ("JPEG image", ("\\xff\\xd8\\xff", "/9j/")),
    ("GIF image", ("GIF8", "R0lGOD")),
    ("PDF document", ("%PDF-", "JVBERi0")),
    ("ZIP archive", ("PK", "UEsDB")),
    ("gzip archive", ("H4sI",)),
    ("xz archive", ("\\xfd7zXZ", "/Td6WFo")),
    ("zstd archive", ("(\\xb5/\\xfd", "KLUv/")),
    ("SQLite database", ("SQLite format 3", "U1FMaXRlIGZvcm1hdCAz")),
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_\n-]{200,}+=*+\s*+")
_HEX = re.compile(r"[0-9A-Fa-f\s]{200,}")
_BYTES = re.compile(r"\\x[0-9a-f]{2}|[\x00-\x08\x0e-\x1f\ufffd]")
_SCRIPT = re.compile(r"\bfunction\b|=>|\bvar |\bconst ")
_STYLE = re.compile(r"[^{}]\{[^{}:]*+:[^{}]*+\}")


def name_opaque(text: str) -> str:
    """Return what a text is, such as "base64 of a gzip archive; longest line 122,340 characters"."""
    longest = max(map(len, text.split("\n")))
    return f"{_format(text[:OPAQUE_SAMPLE_CHARS])}; longest line {longest:,} characters"


def _format(sample: str) -> str:
    start = sample.lstrip()
    encoding = "hexadecimal" if _HEX.fullmatch(sample) else "base64" if _BASE64.fullmatch(sample) else ""
    for name, beginnings in _MAGIC:
        if start.startswith(beginnings):
            return f"{encoding} of a {name}" if encoding else name
    if encoding:
        return encoding
    if len(_BYTES.findall(sample)) > len(sample) / 40:
        return "binary data"
    if start.startswith("<"):
        return "markup"
    return "minified script" if _SCRIPT.search(sample) else "minified style sheet" if _STYLE.search(sample) else "text"
