"""Write the texts that stand for what a conversation leaves out: the stub of a tool result, and the notice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Final

from keyhole.extract.outputs import read_output
from keyhole.text.escape import quote_line
from keyhole.text.output import Output
from keyhole.text.output_facts import KIND_NAMES

STUB_LINES: Final = 2
MAX_LINE: Final = 90
"""Bytes of a line in a stub. Failing assertions and error messages have about 80."""
EXAMINED_CHARS: Final = 400
"""Characters of the beginning and of the end of a result that are examined for its lines, in a third of a
millisecond: the summary and the first error are mostly there, and a long conversation has hundreds of stubs."""

_NOTICE = re.compile(
    r"(?:^|\n\n)(\[Keyhole left out ([\d,]+) messages? with ([\d,]+) tool calls? here: ([\d,]+) characters, about "
    r"([\d,]+) tokens\.[^\n]*\])\Z"
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


def read_excerpt(result: str) -> Output:
    """Read the beginning and the end of a tool result as an output."""
    is_long = len(result) > 2 * EXAMINED_CHARS
    return read_output(f"{result[:EXAMINED_CHARS]}\n{result[-EXAMINED_CHARS:]}" if is_long else result)


def stub(excerpt: Output, size: int, call: str) -> str:
    """Return the text that stands for a tool result: its kind, its characters and its two most important lines.

    `call`: the call that reads the result, "" if it is not stored.
    """
    lines = ", ".join(islice(_quoted_lines(excerpt), STUB_LINES))
    kind = KIND_NAMES.get(excerpt.kind, excerpt.kind)
    sentences = [
        f"Keyhole left out this result: {kind}, {size:,} characters.",
        lines and f"Lines: {lines}.",
        call and f"{call} reads it; so does query= instead of offset=.",
    ]
    return f"[{' '.join(sentence for sentence in sentences if sentence)}]"


def _quoted_lines(excerpt: Output) -> Iterator[str]:
    """Yield different lines, the most important first, as quotations."""
    seen = {""}
    for start, end, _ in sorted(excerpt.marks, key=lambda mark: (-mark[2], mark[0])):
        line = quote_line(excerpt.text[start:end].strip(), MAX_LINE)
        if line not in seen:
            seen.add(line)
            yield line


def notice(amount: Amount, call: str) -> str:
    """Return the notice for left out messages. `call`: the call that reads them, "" if they are not stored."""
    messages, calls = f"{amount.messages:,} message", f"{amount.calls:,} tool call"
    return (
        f"[Keyhole left out {messages}{'s' * (amount.messages != 1)} with {calls}{'s' * (amount.calls != 1)} here: "
        f"{amount.characters:,} characters, about {amount.tokens:,} tokens.{f' {call}' if call else ''}]"
    )


def split_notice(text: str) -> tuple[str, str, Amount]:
    """Return a text without the notice at its end, the notice, and the amount that it states."""
    found = _NOTICE.search(text)
    if not found:
        return text, "", Amount()
    numbers = (int(number.replace(",", "")) for number in found.groups()[1:])
    return text[: found.start()], found[1], Amount(*numbers)
