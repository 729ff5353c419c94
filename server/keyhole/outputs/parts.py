"""Find the named parts of an output: the files of a diff or of a search, the definitions of source. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, groupby, pairwise
from typing import Final, NamedTuple

from keyhole.outputs.output import OutputPart
from keyhole.outputs.patterns import LINE_NUMBER
from keyhole.text.lazy_pattern import lazy_pattern

MAX_PARTS: Final = 2_000
LINES_BY_FILE: Final = "lines by file"
"""The title of the parts of a search: the entry of each is a file with the number of its lines."""
MAX_NAME: Final = 80
"""Characters of a name. A longer one is cut: it is repeated in the result."""

_FILE_OF_DIFF = lazy_pattern(
    r"^(?:diff --git (?:a/)?(\S+) .*|diff \S+ (?:\S+ )*(\S+)|Index: (\S+))$|^--- (\S++).*\n\+\+\+ ", re.MULTILINE
)
_CHANGED_LINE = lazy_pattern(r"^([+-])(?!\1\1 )", re.MULTILINE)
_PATH = lazy_pattern(r"[^\s:/]*+/[^\s:]*")
_RECORDS = tuple(lazy_pattern(form, re.MULTILINE) for form in (r"^---$", "^- ", "^ {2}- ", "^ {4}- "))
"""The starts of documents of YAML, and of the items of a list at the three usual indents."""
_NAME = lazy_pattern(r"^([ -]*)(name|id|key|title|path|url|hostname): (\S.*)$", re.MULTILINE)
_LINE_OF_SEARCH = lazy_pattern(r"^(?!\d+[:-])([^\s:]+?)(?:[:-]\d+[:-]|:)", re.MULTILINE)
"""A line with its file. The results of a search in one file have only the number of the line, and so no parts."""
_NODE = lazy_pattern(r"^((?: {2})*)(?:- (?=[^\n]*\[ref=\w)|uid=\w+ )([a-zA-Z]+)(?: (\"[^\"\n]{1,60}\"))?", re.MULTILINE)
"""A node of the tree of roles that browsers' tools print: `- button "Save" [ref=e12]`, `uid=1_2 button "Save"`."""
TREE_START: Final = 4_000
"""Characters of the beginning in which the first node is."""
MAX_ANCESTORS: Final = 3
"""Nodes that name a part of such a tree, the innermost ones with a name."""
_DEFINITION = lazy_pattern(
    rf"^{LINE_NUMBER}"
    r"(?:([ \t]{0,8})(?:(?:export|default|public|private|protected|pub(?:\(\w+\))?|async|static|abstract|final|const"
    r"|declare|unsafe) )*"
    r"((?:class|interface|struct|enum|trait|impl|type|module|namespace|func|fn|def|function\*?)\b"
    r"(?: ?\([^()\n]*\))? *[\w.:<>]*\w)"
    r"|(?:export )?((?:const|var|let|static) \w+))",
    re.MULTILINE,
)


def find_parts(text: str, kind: str) -> tuple[tuple[OutputPart, ...], str]:
    """Return the parts of a text of a kind, and what they are, such as "files"."""
    if kind == "source":
        return tuple(_definitions(text)), "definitions"
    if kind == "diff":
        files = list(_files_of_diff(text))
        changes = (OutputPart(each.start, each.end, f"{_short(each.file)}:{each.line}") for each in find_changes(text))
        return tuple(sorted([*files, *changes])), "files"
    if kind == "grep":
        return tuple(_files_of_search(text)), LINES_BY_FILE
    if kind == "listing":
        return tuple(_folders_of_listing(text)), "paths by folder"
    if kind == "yaml" and (records := tuple(_records_of_yaml(text))):
        return records, "records"
    return tuple(_nodes_of_tree(text)) if _NODE.search(text, 0, TREE_START) else (), ""


def _nodes_of_tree(text: str) -> Iterator[OutputPart]:
    """Yield the nodes with children of a page's tree of roles, each named by its innermost ancestors with a name."""
    above: list[tuple[int, int, str]] = []
    nodes: list[OutputPart] = []
    for match in chain(_NODE.finditer(text), [None]):
        indent, start = (len(match[1]), match.start()) if match else (0, len(text))
        while above and above[-1][0] >= indent:
            _, begin, _ = above[-1]
            path = [name for *_, name in above if name][-MAX_ANCESTORS:]
            if path and text.find("\n", begin) + 1 < start:
                nodes.append(OutputPart(begin, start, _short(" > ".join(path))))
            above.pop()
        if match:
            name = f"{match[2]} {match[3]}" if match[3] else ""
            above.append((indent, start, name))
    yield from sorted(nodes)[:MAX_PARTS]


def _files_of_diff(text: str) -> Iterator[OutputPart]:
    """Yield the files of a diff with the numbers of their added and removed lines."""
    found = [match for match in _FILE_OF_DIFF.finditer(text) if match.lastindex][:MAX_PARTS]
    if any(match[0].startswith("diff ") for match in found):
        found = [match for match in found if not match[4]]
    for place, match in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        signs = [each[1] for each in _CHANGED_LINE.finditer(text, match.end(), end)]
        name = _short(match[match.lastindex or 0])
        yield OutputPart(match.start(), end, name, f"{name} +{signs.count('+')} -{signs.count('-')}")


def _files_of_search(text: str) -> Iterator[OutputPart]:
    """Yield the files of the results of a search with the numbers of their lines, and within them each long line."""
    lines = ((match.start(), match[1]) for match in _LINE_OF_SEARCH.finditer(text))
    files = [(name, list(group)) for name, group in groupby(lines, key=lambda line: line[1])][:MAX_PARTS]
    for place, (name, found) in enumerate(files):
        end = files[place + 1][1][0][0] if place + 1 < len(files) else len(text)
        yield OutputPart(found[0][0], end, _short(name), f"{_short(name)} {len(found)}")


def _folders_of_listing(text: str) -> Iterator[OutputPart]:
    """Yield the folders of a listing of paths, as `find` prints it, with the number of their paths."""
    lines = text.split("\n")
    if not all(map(_PATH.fullmatch, filter(None, lines))):
        return
    position = 0
    for folder, group in groupby(lines, key=lambda line: line.rpartition("/")[0]):
        members = list(group)
        start, position = position, position + sum(len(line) + 1 for line in members)
        count = sum(1 for line in members if line)
        if folder and count:
            yield OutputPart(start, min(position, len(text)), "", f"{_short(folder)}/ {count}")


def _records_of_yaml(text: str) -> Iterator[OutputPart]:
    """Yield the documents of YAML, or the items of its outermost list, each with the name that it has in itself."""
    starts = next((found for form in _RECORDS if len(found := [each.start() for each in form.finditer(text)]) > 1), [])
    for start, end in pairwise([*starts[:MAX_PARTS], starts[MAX_PARTS] if len(starts) > MAX_PARTS else len(text)]):
        names = sorted((len(match[1]), match.start(), match[2], match[3]) for match in _NAME.finditer(text, start, end))
        if names:
            yield OutputPart(start, end, _short(f"{names[0][2]}={names[0][3]}"))


def _definitions(text: str) -> Iterator[OutputPart]:
    """Yield the definitions of source. A definition ends before the next line that is not indented more than it.

    Constants and variables have no entry in the summary: there are too many of them.
    """
    line, counted = 1, 0
    for number, match in enumerate(_DEFINITION.finditer(text)):
        if number >= MAX_PARTS:
            return
        line += text.count("\n", counted, match.start())
        counted = match.start()
        after = _outer_line(len(match[1] or "")).search(text, match.end())
        name = _short(" ".join((match[2] or match[3]).split()))
        yield OutputPart(
            match.start(), after.start() if after else len(text), name, f"{line} {name}" if match[2] else ""
        )


@cache
def _outer_line(indent: int) -> re.Pattern[str]:
    """Return a pattern of the beginning of a line that is indented by at most `indent` and is no closing bracket."""
    return re.compile(rf"^{LINE_NUMBER}[ \t]{{0,{indent}}}[^\s)}}\]]", re.MULTILINE)


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"…{name[1 - MAX_NAME :]}"


# Find the changed lines of a diff, and put them in the order in which they are shown.

MAX_CHANGES: Final = 2_000
"""Maximum number of changes found: a result of the largest size shows some hundreds."""
CHANGE_CHARS: Final = 800
"""Characters of a change. A longer run of changed lines, such as a new file, is several changes."""
FIRST_CHARS: Final = 800
"""Characters of the first changes of each file, which are shown before further ones of any file."""

_HUNK = lazy_pattern(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_FILE = lazy_pattern(r"^(?:--- (?:a/)?(\S++).*\n)?\+\+\+ (?:b/)?(\S+).*$", re.MULTILINE)
_GENERATED = lazy_pattern(
    r"(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|[\w.-]*\.lock|go\.sum|[\w.-]+\.(?:min\.\w+|map|snap|svg|pb\.go)"
    r"|(?:vendor|node_modules|dist)/.*|requirements[\w.-]*\.txt)$"
)
"""Files that programs write. Their changes come last."""

_PROSE = lazy_pattern(r"\.(?:md|markdown|rst|txt|adoc|po|json|csv|jsonl)$|(?:^|/)(?:CHANGELOG|NEWS|ChangeLog)[\w.]*$")
"""Files of prose or data. Their changes come after those of source."""

_COMMIT = lazy_pattern(r"^commit [0-9a-f]{7,64}.*\n(?:[A-Z][\w-]*: .*\n)*\n(    .*\n)", re.MULTILINE)


class Change(NamedTuple):
    """A run of changed lines `text[start:end]` of a file."""

    start: int
    end: int
    file: str
    line: int
    """The number of its first line in the new file."""


def find_changes(text: str) -> list[Change]:
    """Return the changes of a diff in the unified format, in order."""
    changes: list[Change] = []
    names = [(match.start(), _file_of(match)) for match in _FILE.finditer(text)]
    number = -1
    for hunk in _HUNK.finditer(text):
        while number + 1 < len(names) and names[number + 1][0] < hunk.start():
            number += 1
        changes += _changes_of(text, hunk, names[number][1] if number >= 0 else "")
        if len(changes) >= MAX_CHANGES:
            break
    return changes[:MAX_CHANGES]


def _file_of(header: re.Match[str]) -> str:
    """Return the name of the new file, or of the old one if the diff removes it."""
    return (header[1] or header[2]) if header[2] == "/dev/null" else header[2]


def _changes_of(text: str, hunk: re.Match[str], file: str) -> Iterator[Change]:
    """Yield the changes of a hunk. Its header says how many lines it has, so that each sign is a sign of a change."""
    old, new = int(hunk[1] or 1), int(hunk[3] or 1)
    line, position = int(hunk[2]), text.find("\n", hunk.end()) + 1
    start, first = -1, line
    while position and position < len(text) and (old > 0 or new > 0):
        end = text.find("\n", position) + 1 or len(text)
        sign = text[position]
        is_change = sign in "+-"
        if start >= 0 and (not is_change or end - start > CHANGE_CHARS):
            yield Change(start, position, file, first)
            start = -1
        if is_change and start < 0:
            start, first = position, line
        old -= sign != "+"
        new -= sign != "-"
        line += sign != "-"
        position = end
    if start >= 0:
        yield Change(start, position or len(text), file, first)


def order_changes(changes: Sequence[Change]) -> list[Change]:
    """Return the changes in the order in which they are shown: source, then prose and data, then generated files.

    In each of these groups, the first changes of every file come before the further ones.
    """
    chars: dict[str, int] = {}
    ranked: list[tuple[int, bool, int]] = []
    for number, change in enumerate(changes):
        group = 2 if _GENERATED.search(change.file) else 1 if _PROSE.search(change.file) else 0
        size = chars.get(change.file, 0) + change.end - change.start
        is_further = change.file in chars and size > FIRST_CHARS
        chars[change.file] = size
        ranked.append((group, is_further, number))
    return [changes[number] for _, _, number in sorted(ranked)]


def find_commits(text: str) -> list[tuple[int, int, int]]:
    """Return the commits of `git log` or `git show`: the start of each, and the end and start of its subject line."""
    if "commit " not in text:
        return []
    return [(match.start(), match.end(), match.start(1)) for match in _COMMIT.finditer(text)]
