"""Write the texts that stand for what a conversation leaves out: stubs of tool results, and the notice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Final, NamedTuple

from keyhole.outputs.output import Output, ends_of
from keyhole.outputs.read import read_output
from keyhole.store.ids import ID_FORM
from keyhole.text.escape import quote_line
from keyhole.text.output_facts import KIND_NAMES

STUB_LINES: Final = 2
MAX_LINE: Final = 90
"""Bytes of a line in a stub. Failing assertions and error messages have about 80."""
EXAMINED_CHARS: Final = 400
"""Characters of the beginning and of the end of a result that are examined for its lines, in a third of a
millisecond: the summary and the first error are mostly there, and a long conversation has hundreds of stubs."""

_NUMBER: Final = "([0-9]{1,3}(?:,[0-9]{3}){0,5})"
_CALL: Final = rf"read_artifact\(id=\"({ID_FORM})\", offset=0\)"
_NOTICE: Final = (
    rf"\[Keyhole left out {_NUMBER} messages? with {_NUMBER} tool calls? here: {_NUMBER} characters, about "
    rf"{_NUMBER} tokens\. (?:{_CALL}|They are not stored\.)\]"
)
_ANY_NOTICE = re.compile(_NOTICE)
_LAST_NOTICE = re.compile(rf"(?:^|\n\n)({_NOTICE})\Z")
_ORIGINAL: Final = rf"Original: ({ID_FORM})\."
_NOT_STORED: Final = "It is not stored."
_STORED: Final = rf"(?:{_CALL} reads {{}}(?: {_ORIGINAL})?|{_ORIGINAL}|{re.escape(_NOT_STORED)})\]\Z"
_STUB = re.compile(
    r"\A\[Keyhole left out this result: [^\n]*?" + _STORED.replace("{}", r"it; so does query= instead of offset=\.")
)
_SHORTENED = re.compile(
    r"\n\[Keyhole shortened this result(?:, without its [^\n.]+)?\. " + _STORED.replace("{}", r"all of it\.")
)


@dataclass(frozen=True, slots=True)
class Amount:
    """Counts what a conversation leaves out."""

    messages: int = 0
    calls: int = 0
    characters: int = 0
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


NOTHING: Final = Amount()


class Stored(NamedTuple):
    """The ids under which a tool result is stored; "" for none."""

    text: str = ""
    """The text, as a terminal shows it."""
    original: str = ""
    """The exact content, if it differs from that text."""


def read_excerpt(result: str) -> Output:
    """Read the beginning and the end of a tool result as an output."""
    return read_output(ends_of(result, EXAMINED_CHARS))


def stub(excerpt: Output, size: int, media: int, stored: Stored) -> str:
    """Return the text that stands for a tool result: its kind, its characters and its two most important lines.

    `media`: the number of images and files in it.
    """
    kind = f"{KIND_NAMES.get(excerpt.kind, excerpt.kind)}, {size:,} characters" if size else ""
    images = _count_media(media) if media else ""
    lines = ", ".join(islice(_quoted_lines(excerpt), STUB_LINES))
    sentences = [
        f"Keyhole left out this result: {', '.join(filter(None, (images, kind))) or 'empty'}.",
        lines and f"Lines: {lines}.",
        _place(stored, "it; so does query= instead of offset="),
    ]
    return f"[{' '.join(sentence for sentence in sentences if sentence)}]"


def shortened_line(stored: Stored, media: int = 0) -> str:
    """Return the line below a shortened result: its left-out images and files, and the id of the whole result."""
    without = f", without its {_count_media(media)}" if media else ""
    return f"\n[Keyhole shortened this result{without}. {_place(stored, 'all of it')}]"


def _count_media(count: int) -> str:
    return f"{count} image{'s' * (count > 1)} or file{'s' * (count > 1)}"


def _call(id: str) -> str:
    return f'read_artifact(id="{id}", offset=0)'


def _place(stored: Stored, what: str) -> str:
    """Return the sentences that name the stored result, for `keyhole.restore`. `what`: the object of the call."""
    call = f"{_call(stored.text)} reads {what}." if stored.text else ""
    original = f"Original: {stored.original}." if stored.original else ""
    return " ".join(filter(None, (call, original))) or _NOT_STORED


def read_stored(text: str) -> Stored | None:
    """Return the ids that a stub or a shortened result names, None if a text is neither."""
    found = _STUB.match(text) or _SHORTENED.search(text)
    return Stored(found[1] or "", found[2] or found[3] or "") if found else None


def _quoted_lines(excerpt: Output) -> Iterator[str]:
    """Yield different lines, the most important first, as quotations."""
    seen = {""}
    for start, end, _ in sorted(excerpt.marks, key=lambda mark: (-mark[2], mark[0])):
        line = quote_line(excerpt.text[start:end].strip(), MAX_LINE)
        if line not in seen:
            seen.add(line)
            yield line


def notice(amount: Amount, id: str) -> str:
    """Return the notice for left out messages. `id`: of the transcript, "" if it is not stored."""
    messages, calls = f"{amount.messages:,} message", f"{amount.calls:,} tool call"
    place = _call(id) if id else "They are not stored."
    return (
        f"[Keyhole left out {messages}{'s' * (amount.messages != 1)} with {calls}{'s' * (amount.calls != 1)} here: "
        f"{amount.characters:,} characters, about {amount.tokens:,} tokens. {place}]"
    )


class Notice(NamedTuple):
    """A notice at the end of a text."""

    before: str
    """The text before it."""
    text: str = ""
    amount: Amount = NOTHING
    id: str = ""


NO_NOTICE: Final = Notice("")


def split_notice(text: str) -> Notice:
    """Return a text without the notice at its end, and the notice."""
    found = _LAST_NOTICE.search(text)
    if not found:
        return Notice(text)
    amount = Amount(*(int(number.replace(",", "")) for number in found.groups()[1:5]))
    return Notice(text[: found.start()], found[1], amount, found[6] or "")


def find_notices(text: str) -> Iterator[str]:
    """Yield the ids of the transcripts that the notices in a text name; "" for a notice without a transcript."""
    return (found[5] or "" for found in _ANY_NOTICE.finditer(text))


def is_notice(content: object) -> bool:
    """Return True for the content of a message that is only a notice: a text, or a list with one part."""
    if isinstance(content, list) and len(content) == 1:
        content = content[0].get("text") if isinstance(content[0], dict) else content[0]
    return isinstance(content, str) and bool(content) and split_notice(content).before == ""
