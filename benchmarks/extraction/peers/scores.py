"""Score extracted text against the text that a person marked, by words and by snippets. No I/O.

The Markdown of every system is first reduced to its visible text in the same way, so that syntax does not affect the
score: a link counts as its label, an address or an image as nothing, code as written.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"\w+")
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_DEFINITION: Final = re.compile(r"\s*\[(?!\^)[^\]]+\]:\s+\S")
"""The definition of a link's address, which is not visible. That of a footnote (`[^1]: text`) is."""
_TICKS: Final = re.compile(r"`+")
_DATA: Final = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=%]+")
_BRACKET: Final = re.compile(r"\\.|!\[|\[|\]", re.DOTALL)
_IN_TARGET: Final = re.compile(r"\\.|[()]|\n\s*\n|\s\"(?:\\.|[^\"\\]){0,2000}+\"", re.DOTALL)
_TARGET: Final = re.compile(r"(?:<[^<>]*>|\S*)(?:\s+(?:\".*\"|'.*'))?", re.DOTALL)
_MARKS: Final = re.compile(
    r"""\\(?P<literal>[!-/:-@\[-`{-~])
    | <(?P<address>(?:https?://|mailto:)[^>\s]+)>
    | (?P<tag></?[A-Za-z][^<>]{0,300}>)
    | \*+ | ~~ | \u200b
    | (?<![A-Za-z0-9_])_{1,3}(?=[^\s_]) | (?<=[^\s_])_{1,3}(?![A-Za-z0-9_])
    """,
    re.VERBOSE,
)
_LONGEST_TARGET: Final = 4_000
"""Maximum characters searched for the end of a link's address, so that unclosed links cost little."""
_DEEPEST_TARGET: Final = 32
"""Maximum nested parentheses in an address, as in cmark; CommonMark requires at least three."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a page: agreement of the words, and a flag for each snippet.

    `must`: True for each required snippet that the text contains. `clean`: True for each forbidden snippet that it does
    not contain.
    """

    f1: float
    recall: float
    precision: float
    must: tuple[bool, ...]
    clean: tuple[bool, ...]


def score(markdown: str, truth: str, must: list[str], must_not: list[str]) -> Score:
    """Return the score of a page's Markdown."""
    text = extract_visible_text(markdown)
    flat = _normalize(text)
    return Score(
        *compare_words(text, truth),
        must=tuple(_normalize(snippet) in flat for snippet in must),
        clean=tuple(_normalize(snippet) not in flat for snippet in must_not),
    )


def compare_words(text: str, truth: str) -> tuple[float, float, float]:
    """Return F1, recall and precision of the lower-cased words as multisets; their order is ignored."""
    found, wanted = (Counter(_WORD.findall(side.lower())) for side in (text, truth))
    if not found or not wanted:
        both = float(not found and not wanted)
        return both, both, both
    shared = (found & wanted).total()
    recall, precision = shared / wanted.total(), shared / found.total()
    return 2 * shared / (wanted.total() + found.total()), recall, precision


def _normalize(text: str) -> str:
    return " ".join(text.lower().split())


def extract_visible_text(markdown: str) -> str:
    """Return the visible text of Markdown, with code unchanged."""
    parts: list[str] = []
    prose: list[str] = []
    fence = ""
    for line in markdown.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            else:
                parts.append(line)
        elif mark and "`" not in line[mark.end() :]:
            fence = mark[1]
            parts.append(_extract_prose("".join(prose)))
            prose = []
        elif not _DEFINITION.match(line):
            prose.append(line)
    return "".join([*parts, _extract_prose("".join(prose))])


def _extract_prose(text: str) -> str:
    """Return the visible text of Markdown without fences. Code spans are unchanged, also in the label of a link."""
    spans: list[str] = []
    without_code: list[str] = []
    end = 0
    for start, stop, code in _find_code_spans(text):
        without_code += [text[end:start], f"\x01{len(spans)}\x02"]
        spans.append(code)
        end = stop
    shown = _remove_marks(_replace_links(_DATA.sub("", "".join([*without_code, text[end:]]))))
    return re.sub("\x01([0-9]+)\x02", lambda placeholder: spans[int(placeholder[1])], shown)


def _find_code_spans(text: str) -> list[tuple[int, int, str]]:
    """Return `(start, stop, code)` of each code span of one or two backticks that closes on its line."""
    spans: list[tuple[int, int, str]] = []
    opened: re.Match[str] | None = None
    for ticks in _TICKS.finditer(text):
        escaped = text[ticks.start() - 1 : ticks.start()] == "\\"
        if opened and "\n" in text[opened.end() : ticks.start()]:
            opened = None
        if opened and opened[0] == ticks[0]:
            spans.append((opened.start(), ticks.end(), text[opened.end() : ticks.start()]))
            opened = None
        elif not opened and len(ticks[0]) <= 2 and not escaped:
            opened = ticks
    return spans


def _replace_links(text: str) -> str:
    """Replace links by their labels and remove images, in one pass with a stack of open brackets."""
    out: list[str] = []
    opened: list[tuple[int, bool]] = []
    end = 0
    for bracket in _BRACKET.finditer(text):
        if bracket.start() < end:  # inside the address of a link
            continue
        out.append(text[end : bracket.start()])
        end = bracket.end()
        out.append(bracket[0])
        if bracket[0] in {"[", "!["}:
            opened.append((len(out) - 1, bracket[0] == "!["))
        elif bracket[0] == "]" and opened:
            at, image = opened.pop()
            stop = _find_target_end(text, end)
            if stop:
                end = stop
                if image:
                    out[at:] = [" "]
                else:
                    out[at] = out[-1] = ""
    return "".join([*out, text[end:]])


def _find_target_end(text: str, start: int) -> int:
    """Return the end of `(address "title")` at `start`; 0 if there is none."""
    if text[start : start + 1] != "(":
        return 0
    depth = 0
    for part in _IN_TARGET.finditer(text, start, start + _LONGEST_TARGET):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if part[0].isspace() or depth > _DEEPEST_TARGET:  # a blank line ends the paragraph
            return 0
        if not depth:
            whole = _TARGET.fullmatch(text[start + 1 : part.start()].strip())
            return part.end() if whole else 0
    return 0


def _remove_marks(text: str) -> str:
    """Remove emphasis, tags and backslashes before punctuation."""

    def plain(found: re.Match[str]) -> str:
        if found["tag"]:
            return " "
        return found["literal"] or found["address"] or ""

    return _MARKS.sub(plain, text)
