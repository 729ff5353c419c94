"""A view as lines for a terminal: bars of the page, its outline, each passage with its score. Pure: decides nothing.

Foreign text stands last on its line, after a word of ours, so that a terminal which turns right-to-left lines around
turns no column with it; widths are counted in cells, of which letters of Chinese take two.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from keyhole.cli.colours import Look
from keyhole.cli.explain.view import PageView, SearchView, Section, Shown, SourceView, Span, Word
from keyhole.cli.table import one_line
from keyhole.passages import WEAK_BELOW
from keyhole.render.answer import NOTICES

LABEL: Final = 7
COUNT: Final = 7
"""Columns before a bar and of the count after it."""
WORD: Final = 20
"""Columns kept after a bar for the word that it is about."""
MOST_WORDS: Final = 12
MOST_SECTIONS: Final = 20
"""Words and headings that are named: more than a screen of them says less."""
OPENING_LINES: Final = 3
SCORE_BAR: Final = 12
LEAST_PART: Final = 0.005
"""An ingredient that would be told as 0.00 is not."""

REMOVED: Final = {
    "scripts": "scripts and styles",
    "hidden": "hidden parts",
    "comments": "comments",
    "boilerplate": "parts around the content, such as menus",
    "invisible": "invisible characters",
}
"""What each kind of what was left out is in words; others go by their own name."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What draws: a cell shown whole, in part, not at all; levels from little to much; a bar's ends; a place."""

    full: str
    part: str
    none: str
    levels: str
    edge: str
    mark: str


BLOCKS: Final = Signs("█", "▒", "·", " ▁▂▃▄▅▆▇█", "│", "▾")
ASCII: Final = Signs("#", "+", ".", " .:=#", "|", "^")


def signs(look: Look) -> Signs:
    """Those that the place shows."""
    return ASCII if look.plain else BLOCKS


def page_lines(view: PageView, look: Look) -> list[Text]:
    """The plot of one text."""
    shown = sum(end - start for start, end in view.spans)
    head = [_foreign("Title: ", view.title, look, "bold")] if view.title else []
    head += [_foreign("From ", view.url, look, "dim")] if view.url else []
    count = len(view.spans)
    stretches = f"{count} stretch{'es' if count != 1 else ''}"
    head += _told(f"Shown: {shown:,} of {view.total:,} characters ({_share(shown, view.total)}) in {stretches}.", look)
    parts = [head, _bars(view, look), _outline(view.sections, look), _passages(view, look)]
    return _parts([*parts, [*_match(view, look), *_left_out(view, look)]])


def search_lines(view: SearchView, look: Look) -> list[Text]:
    """The plot of a search."""
    engines = [_foreign(f"Asked {name}: ", how, look, "") for name, how in view.engines]
    parts = [[_foreign("Question: ", view.query, look, "bold"), *engines]]
    parts += [_source(source, look) for source in view.sources]
    weak = _weak(max((source.held for source in view.sources), default=0.0), look, weak=view.weak)
    return _parts([*parts, weak])


def removed_line(removed: Sequence[tuple[str, int]]) -> str:
    """What reading a page left out, counted, in words."""
    told = ", ".join(f"{count:,} {REMOVED.get(kind, kind)}" for kind, count in removed if count)
    return f"Left out in reading: {told}." if told else "Left out in reading: nothing that is counted."


def bar(total: int, spans: Sequence[Span], width: int, draw: Signs) -> str:
    """A text as so many cells, each as much of it as the others; what is shown is seen however short it is."""
    covered = [0.0] * width
    for start, end in spans:
        first, last = start * width // max(1, total), -(-end * width // max(1, total))
        for cell in range(first, min(width, last)):
            edges = cell * total / width, (cell + 1) * total / width
            covered[cell] += max(0.0, min(end, edges[1]) - max(start, edges[0]))
    whole = max(1, total) / width * 0.99
    return "".join(draw.full if each >= whole else draw.part if each else draw.none for each in covered)


def heat(total: int, places: Iterable[tuple[int, float]], width: int, draw: Signs) -> str:
    """Where something stands in a text: the more in a cell, the higher its sign."""
    cells = [0.0] * width
    for offset, weight in places:
        cells[min(width - 1, offset * width // max(1, total))] += weight
    most = max(cells) or 1.0
    top = len(draw.levels) - 1
    return "".join(draw.levels[-(-int(1_000 * each) * top // int(1_000 * most))] if each else " " for each in cells)


def _bars(view: PageView, look: Look) -> list[Text]:
    draw, width = signs(look), look.width - LABEL - 2 - COUNT - WORD
    line = Text(f"{'page':{LABEL}}").append(draw.edge).append_text(_painted(bar(view.total, view.spans, width, draw)))
    lines = [line.append(draw.edge).append(f"{0:,} to {view.total:,}".rjust(COUNT + WORD)[: COUNT + WORD])]
    top = min((section.level for section in view.sections), default=0)
    main = [(section.start, 1.0) for section in view.sections if section.level <= top + 1]
    if main:
        marks = "".join(draw.mark if sign.strip() else " " for sign in heat(view.total, main, width, draw))
        headings = "main heading" if len(main) == 1 else "main headings"
        lines.append(Text(f"{'heads':{LABEL}}{draw.edge}{marks}{draw.edge}{len(main):>{COUNT},} {headings}"))
    lines += [_word(word, view.total, width, look) for word in view.words[:MOST_WORDS]]
    more = len(view.words) - MOST_WORDS
    return lines + ([Text(f"{'':{LABEL}}and {more} more words of the question")] if more > 0 else [])


def _word(word: Word, total: int, width: int, look: Look) -> Text:
    draw = signs(look)
    drawn = heat(total, word.places, width, draw)
    line = Text(f"{'word':{LABEL}}{draw.edge}").append(drawn, "cyan").append(f"{draw.edge}{word.count:>{COUNT},} ")
    return line.append(one_line(word.word, look.width - cell_len(line.plain)), "" if word.count else "red")


def _outline(sections: Sequence[Section], look: Look) -> list[Text]:
    """The headings; of many, those of what is shown."""
    if not sections:
        return []
    few = sections if len(sections) <= MOST_SECTIONS else [section for section in sections if section.shown]
    named = few[:MOST_SECTIONS]
    lines = [Text("Headings, and how much of what is under each is shown:", "bold")]
    for section in named:
        size = section.end - section.start
        start = f"at {section.start:>9,} {_share(section.shown, size):>6} of {size:>9,}  {'#' * section.level} "
        lines.append(_foreign(start, section.title, look, "green" if section.shown else "dim"))
    rest = len(sections) - len(named)
    return lines + ([Text(f"and {rest:,} more headings, nearly all with nothing shown", "dim")] if rest else [])


def _passages(view: PageView, look: Look) -> list[Text]:
    best = max((passage.score for passage in view.passages), default=0.0)
    words = [word.word for word in view.words if word.count]
    lines: list[Text] = []
    for number, passage in enumerate(view.passages, start=1):
        size = passage.end - passage.start
        lines.append(Text(f"Passage {number}: {passage.start:,} to {passage.end:,}, {size:,} characters", "bold"))
        lines += [_foreign("  under ", passage.heading, look, "dim")] if passage.heading else []
        if passage.start == 0 and passage.parts and len(view.passages) > 1:
            lines.append(Text("  the opening of the page is shown because it says what the page is", "dim"))
        lines += _scored(passage, best, look)
        lines += _opening(passage.opening, words, look)
    return lines


def _scored(passage: Shown, best: float, look: Look) -> list[Text]:
    if not passage.parts:
        return []
    draw = signs(look)
    filled = round(SCORE_BAR * passage.score / best) if best > 0 else 0
    shown = draw.full * filled + draw.none * (SCORE_BAR - filled)
    line = Text("  score ").append_text(_painted(shown)).append(f" {passage.score:.2f} =")
    lines = [line]
    for name, value in passage.parts:
        if abs(value) < LEAST_PART:
            continue
        part = f" {name} {value:+.2f}"
        if cell_len(lines[-1].plain) + len(part) > look.width:
            lines.append(Text(" " * 8))
        lines[-1].append(part, "" if value >= 0 else "red")
    return lines


def _opening(text: str, words: Sequence[str], look: Look) -> list[Text]:
    lines = [Text(f"  {signs(look).edge} {line}") for line in _wrapped(text, look.width - 4, OPENING_LINES)]
    for line in lines:
        line.highlight_words(words, "bold", case_sensitive=False)
    return lines


def _wrapped(text: str, room: int, most: int) -> Iterator[str]:
    """Foreign text as at most so many lines of so many cells, broken between words where there are any."""
    line, count = "", 0
    for word in one_line(text, room * most - most).split(" "):
        while cell_len(word) > room:
            head = _first_cells(word, room - cell_len(line) - bool(line))
            yield f"{line} {head}".strip()
            line, word, count = "", word[len(head) :], count + 1
            if count == most:
                return
        if cell_len(line) + cell_len(word) + 1 > room:
            yield line
            line, count = "", count + 1
            if count == most:
                return
        line = f"{line} {word}".strip()
    yield line


def _first_cells(word: str, room: int) -> str:
    taken = 0
    for place, letter in enumerate(word):
        taken += cell_len(letter)
        if taken > room:
            return word[:place]
    return word


def _match(view: PageView, look: Look) -> list[Text]:
    return [] if view.held is None else _weak(view.held, look, weak=view.weak, words=view.words)


def _weak(held: float, look: Look, *, weak: bool, words: Sequence[Word] = ()) -> list[Text]:
    missing = sum(not word.count for word in words)
    why = f"; {missing} of its {len(words)} words stand nowhere" if missing else ""
    best = f"he best place holds {_percent(held)} of the question{why}"
    if weak:
        return _told(f"Weak match: t{best}, and {WEAK_BELOW:.0%} would be enough.", look, "yellow")
    return _told(f"T{best}; below {WEAK_BELOW:.0%} it would be called weak.", look)


def _left_out(view: PageView, look: Look) -> list[Text]:
    notice = _told(f"Notice: {NOTICES.get(view.notice, view.notice)}", look, "yellow") if view.notice else []
    before = "" if view.read else " The page was read before: scripts, comments and menus are not known any more."
    return [*notice, *_told(removed_line(view.removed) + before, look)]


def _source(source: SourceView, look: Look) -> list[Text]:
    number = f"[{source.number}] " if source.number else "not named: "
    lines = [_foreign(f"Source {number}", source.title or source.url, look, "bold")]
    lines += [_foreign("  ", source.url, look, "dim")] if source.title else []
    facts = [source.state]
    if source.total:
        facts.append(f"best score {source.best:.2f}, holds {_percent(source.held)} of the question")
    lines += _told(f"  {'; '.join(facts)}", look, "" if source.spans else "yellow")
    if source.total:
        draw, width = signs(look), look.width - LABEL - 2 - COUNT - WORD
        drawn = Text(f"  {draw.edge}").append_text(_painted(bar(source.total, source.spans, width, draw)))
        lines.append(drawn.append(f"{draw.edge} {_shown_of(source)}"))
    pairs = zip(source.spans, source.scores, strict=True)
    lines += [
        Text(f"  {start:,} to {end:,}: score {score:.2f}, holds {_percent(held)}")
        for (start, end), (score, held) in pairs
    ]
    lines += [_foreign("  the same text at ", url, look, "dim") for url in source.copies]
    return lines + (_told(f"  {removed_line(source.removed)}", look, "dim") if source.removed else [])


def _shown_of(source: SourceView) -> str:
    return f"{sum(end - start for start, end in source.spans):,} of {source.total:,}"


def _painted(drawn: str) -> Text:
    """A bar in colours: what is left out is dim."""
    text = Text(drawn, "green")
    text.highlight_regex(f"[{re.escape(BLOCKS.none + ASCII.none)}]+", "dim")
    return text


def _told(sentence: str, look: Look, style: str = "") -> list[Text]:
    """Words of ours, on as many lines as they take."""
    return [Text(line, style) for line in textwrap.wrap(sentence, look.width, subsequent_indent="  ")]


def _foreign(before: str, text: str, look: Look, style: str) -> Text:
    return Text(before).append(one_line(text, max(1, look.width - cell_len(before))), style)


def _percent(held: float) -> str:
    """A share of the question; one that agreement brings a little above the whole is the whole."""
    return f"{min(1.0, held):.0%}"


def _share(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return f"{share:.1f} %" if 0 < share < 9.95 else f"{share:.0f} %"


def _parts(parts: Sequence[Sequence[Text]]) -> list[Text]:
    """All the lines, with an empty one between parts that have any."""
    lines: list[Text] = []
    for part in parts:
        lines += [*([Text("")] if lines and part else []), *part]
    return lines
