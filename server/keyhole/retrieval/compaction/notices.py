"""Write the texts that stand for what a conversation leaves out: the stub of a tool result, and the notice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Final

from keyhole.extract.outputs import Output, read_output
from keyhole.render.outputs import KIND_NAMES
from keyhole.text.escape import plain_line

STUB_LINES: Final = 2
MAX_LINE: Final = 90
"""Bytes of a line in a stub. Failing assertions and error messages have about 80."""
EXAMINED_CHARS: Final = 1_000
"""Characters of the beginning and of the end of a result that are examined for its lines, in half
a millisecond: the summary and the first error are mostly there."""

_NOTICE = re.compile(
    r"(?:^|\n\n)(\[Keyhole left out ([\d,]+) messages? with ([\d,]+) tool calls? here: ([\d,]+) characters, about "
    r"([\d,]+) tokens\.[^\n]*\])\Z"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """How much a conversation leaves out."""

    messages: int = 0
    calls: int = 0
    characters: int = 0
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


NOTHING: Final = Amount()


def stub(text: str, call: str) -> str:
    """Return the text that stands for a tool result: its kind, its size and its two most important lines.

    `call`: the call that reads the result, "" if it is not stored.
    """
    is_long = len(text) > 2 * EXAMINED_CHARS
    output = read_output(f"{text[:EXAMINED_CHARS]}\n{text[-EXAMINED_CHARS:]}" if is_long else text)
    quoted = ", ".join(f'"{line}"' for line in islice(_best_lines(output), STUB_LINES))
    kind = KIND_NAMES.get(output.kind, output.kind)
    sentences = [
        f"Keyhole left out this result: {kind}, {len(text):,} characters.",
        quoted and f"Lines: {quoted}.",
        call,
    ]
    return f"[{' '.join(sentence for sentence in sentences if sentence)}]"


def _best_lines(output: Output) -> Iterator[str]:
    """Yield the lines that every reader looks for, the most important first."""
    seen = {""}
    for start, end, _ in sorted(output.marks, key=lambda mark: (-mark[2], mark[0])):
        line = plain_line(output.text[start:end].strip(), MAX_LINE)
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
