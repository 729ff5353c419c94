"""Bound the output of a command, a file or another tool: classify, store, select and render it."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.outputs.envelope import take_prefixes_for
from keyhole.outputs.keep import keep_in_store, name_text, output_words
from keyhole.outputs.output import Shown
from keyhole.outputs.read import (
    KINDS,
    Output,
    command_words,
    decode_output,
    read_lines,
    read_parts,
    recognise,
    terminal_text,
)
from keyhole.outputs.render import OutputHead, bounded_text
from keyhole.outputs.select import select_output
from keyhole.outputs.terminal import changes_of
from keyhole.passages.gaps import find_gaps
from keyhole.text.output_facts import OutputFacts
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from keyhole.outputs.keep import Keep, OutputStore

BUDGET: Final = 4_000
"""Characters of a bounded output, and the size up to which an output is left as it is: about 1,000 tokens."""
MIN_BUDGET: Final = 400
"""Characters that the lines around the text and a few lines of it need."""
CHARS_PER_TOKEN: Final = 3.5
"""Characters of an output per token, for the estimate in its first line. Logs and code have fewer than prose."""
MARGIN: Final = 24
"""Characters reserved for numbers: they have more digits in the result than in the empty result that is measured."""
WHOLE_CHARS: Final = 64_000
"""Maximum characters of an output that is ranked whole, in 15 ms. Of a larger output, an excerpt is ranked."""
EXCERPT_BUDGETS: Final = 3
"""Minimum size of an excerpt, in budgets, so that there are lines to choose from."""
CHANGES_DIVISOR: Final = 16
"""The names of the changes of the stored text take at most one part in this many of a result."""
WINDOW_CHARS: Final = 8_000
"""Characters of the window that the next call reads."""


class Bounded(NamedTuple):
    """An output within its budget."""

    text: str
    """The text for the model. A small output is unchanged."""
    kind: str
    """One of `keyhole.outputs.read.KINDS`."""
    id: str | None = None
    """The id under which the whole output is stored, None if it is not stored."""
    total: int = 0
    """Characters of the whole output, as a terminal shows it."""
    omitted: tuple[tuple[int, int], ...] = ()
    """The ranges of the stored text that are left out."""
    unchanged: bool = False
    """True if the output fits the budget, so that `text` is the output itself."""


def bound(
    output: str | bytes,
    *,
    query: str | None = None,
    budget: int = BUDGET,
    kind: str | None = None,
    command: str | None = None,
    name: str | None = None,
    exit_status: int | None = None,
    folder: str = "",
    store: OutputStore | None = None,
    secret: bytes = b"",
    now: float = 0.0,
) -> Bounded:
    """Return an output within `budget` characters: unchanged if it fits, otherwise its most important lines.

    These are the lines that answer `query`, and those that every reader looks for, such as failures and the summary.
    Bytes are decoded as `decode_output` in outputs/terminal.py says.

    `kind`: one of `keyhole.outputs.read.KINDS`, None to recognise it. `command`: the command line that printed the
    output. `name`: the name of the file that it was read from. `exit_status`, `folder`: how the command ended and where
    it ran; a status other than 0 is shown. `store`: where the whole output is kept with these facts, at the time `now`
    in seconds since the epoch; without a store nothing is written, and nothing can be read on. `secret`: signs the
    boundary lines and the id; without it, an output could contain its own boundary. Secrets in `command` are masked.

    Raises KeyholeError: invalid_argument for an unknown kind or a budget below `MIN_BUDGET`, store_unavailable.
    """
    check_options(kind, budget)
    changes: set[str] = set()
    text = output if isinstance(output, str) else decode_output(output, changes)
    facts = OutputFacts(command or "", name or "", kind, exit_status, folder, changes=frozenset(changes))
    return bound_text(text, query, budget, facts, keep_in_store(store) if store else None, secret, now)


def bound_text(
    text: str, query: str | None, budget: int, facts: OutputFacts, keep: Keep | None = None, secret: bytes = b"",
    now: float = 0.0,
) -> Bounded:  # fmt: skip
    """Return the text of an output within `budget` characters, as `bound` does. `keep`: keeps the whole output."""
    if len(text) <= budget:
        kind = facts.kind or recognise(terminal_text(text), facts.command, facts.name, facts.exit_status)
        return Bounded(text, kind, None, len(text), unchanged=True)
    return read_and_keep(text, query, budget, facts, keep, secret, now)(budget)


def read_and_keep(
    output: str, query: str | None, budget: int, facts: OutputFacts, keep: Keep | None = None, secret: bytes = b"",
    now: float = 0.0, topic: Sequence[str] = (),
) -> Callable[[int], Bounded]:  # fmt: skip
    """Read and keep an output once, and return the function that bounds it within any number of characters.

    `budget`: the largest of these numbers. `keep`: keeps the whole output. `topic`: words that rank the lines beside
    those of the command, if there is no query. The other arguments are those of `bound`.
    """
    text = terminal_text(output)
    changes = sorted(facts.changes.union(changes_of(output, text)))
    read = read_stored(text, query, budget, facts)._replace(changes=tuple(changes))
    id = ""
    if keep is not None:
        kept = name_text(secret, read.kind, text, facts, now)
        keep(kept, lambda: output_words(facts.title, read, lambda start, end: text[start:end]))
        id = kept.id
    lines = count_lines(text)

    def bound_read(chars: int) -> Bounded:
        if len(output) <= chars:
            return Bounded(output, read.kind, None, len(output), unchanged=True)
        return render_output(read, lines, query, chars, facts, id, secret, topic)

    return bound_read


def count_lines(text: str) -> int:
    """Return the number of lines of a text, whether or not the last one ends with a line feed."""
    return text.count("\n") + (not text.endswith("\n"))


def check_options(kind: str | None, budget: int) -> None:
    """Raise KeyholeError (invalid_argument) for an unknown kind or a budget below `MIN_BUDGET`."""
    if budget >= MIN_BUDGET and kind in (None, *KINDS):
        return
    from keyhole.errors import Code, KeyholeError  # a hook, which runs at each tool call, has no time to import them

    if kind is not None and kind not in KINDS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"kind must be one of: {', '.join(KINDS)}")
    raise KeyholeError(Code.INVALID_ARGUMENT, f"budget must be at least {MIN_BUDGET}")


def read_stored(text: str, query: str | None, budget: int, facts: OutputFacts) -> Output:
    """Read a stored text as the output to rank for `budget` characters, or an excerpt of the text if it is large.

    The excerpt has places with the words of the query, or with those of the command if there is no query. The prefixes
    of lines are removed, unless the query asks for a time.
    """
    bare, envelope = take_prefixes_for(text, query)
    kind = facts.kind or recognise(bare, facts.command, facts.name, facts.exit_status)
    least = EXCERPT_BUDGETS * budget
    if len(bare) <= max(WHOLE_CHARS, least):
        read = read_parts(bare, read_lines(bare, kind), query or "")
    else:
        from keyhole.outputs.excerpt import needles_of, read_by_excerpt

        read = read_by_excerpt(bare, kind, needles_of(query, facts.command), least, query or "")
    return read._replace(envelope=envelope, parts=envelope.parts(len(bare)) or read.parts) if envelope else read


def _name_changes(changes: Sequence[str], limit: int) -> str:
    """Return the changes that fit `limit` characters, and the number of the others."""
    shown = [text for text in accumulate(changes, "{}, {}".format) if len(text) <= limit]
    more = len(changes) - len(shown)
    return ", ".join([*shown[-1:], *([f"{more} more"] if more else [])])


def render_output(
    output: Output, lines: int, query: str | None, budget: int, facts: OutputFacts, id: str, secret: bytes,
    topic: Sequence[str] = (),
) -> Bounded:  # fmt: skip
    """Return the bounded text of an output, or of the larger text of which it is an excerpt.

    `lines`: the lines of the whole text. `topic`: words that rank the lines beside those of the command, if there is no
    query. The other arguments are those of `bound`.
    """
    total = output.total
    changes = _name_changes(output.changes, budget // CHANGES_DIVISOR) if id else ""
    tokens = round(total / CHARS_PER_TOKEN)
    head = OutputHead(output.kind, total, lines, tokens, facts.title, facts.exit_status, changes)
    longest = {"offset": total, "limit": WINDOW_CHARS}
    empty = bounded_text(head, Shown(total), secret, id, longest, names_command=facts.names_command)
    words = " ".join([command_words(mask_secrets(facts.command)), *topic])
    selection = select_output(output, query, budget - len(empty) - MARGIN, command_words=words)
    gaps = tuple(find_gaps(total, selection.spans))
    start, end = max(gaps, key=lambda gap: gap[1] - gap[0], default=(0, 0))
    following = {"offset": start, "limit": min(WINDOW_CHARS, end - start)} if gaps else None
    rendered = bounded_text(head, selection, secret, id, following, names_command=facts.names_command)
    return Bounded(rendered, output.kind, id or None, total, gaps)
