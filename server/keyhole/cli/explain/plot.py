"""Draw a view as lines for a terminal: bars of the page, its outline, and each passage with its score.

Text from pages is always at the end of its line, after a label of Keyhole's. So a terminal that reverses right-to-left
text moves no column. Widths are counted in cells. A Chinese character takes two.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from keyhole.cli.colours import PlotStyle
from keyhole.cli.table import one_line
from keyhole.render.answer import NOTICES
from keyhole.retrieval.answer_view import PageView, SearchView, Section, ShownPassage, SourceView, Span, Word
from keyhole.text.output_facts import is_output, kind_name

LABEL_COLUMNS: Final = 7
COUNT_COLUMNS: Final = 7
"""Width of the label before a bar, and of the count after the bar."""
WORD_COLUMNS: Final = 20
"""Width of the word after the count."""
MAX_WORDS: Final = 12
MAX_SECTIONS: Final = 20
"""Greatest numbers of words and headings that are listed, so that they fit on a screen."""
OPENING_LINES: Final = 3
"""Greatest number of lines shown from the beginning of a passage."""
SCORE_BAR_COLUMNS: Final = 12
MIN_PART: Final = 0.005
"""Smallest part of a score that is shown; a smaller part would be printed as 0.00."""

REMOVED_NAMES: Final = {
    "scripts": "scripts and styles",
    "hidden": "hidden parts",
    "comments": "comments",
    "boilerplate": "parts around the content, such as menus",
    "invisible": "invisible characters",
}
"""Descriptions of the kinds of removed parts. Other kinds are shown by their own name."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a plot."""

    full: str
    """A cell whose text is shown completely."""
    part: str
    """A cell whose text is shown partly."""
    none: str
    """A cell whose text is not shown."""
    levels: str
    """Levels of a heat line, in ascending order."""
    edge: str
    """The ends of a bar."""
    mark: str
    """A heading."""


BLOCKS: Final = Glyphs("█", "▒", "·", " ▁▂▃▄▅▆▇█", "│", "▾")
ASCII: Final = Glyphs("#", "+", ".", " .:=#", "|", "^")


def choose_glyphs(style: PlotStyle) -> Glyphs:
    """Return the characters for an output of this style."""
    return ASCII if style.plain else BLOCKS


def draw_page(view: PageView, style: PlotStyle) -> list[Text]:
    """Return the plot of one text."""
    shown = sum(end - start for start, end in view.spans)
    head = [_page_text("Title: ", view.title, style, "bold")] if view.title else []
    if is_output(view.url):
        head.append(Text(f"Kind of output: {kind_name(view.url)}", "dim"))
    elif view.url:
        head.append(_page_text("From ", view.url, style, "dim"))
    count = len(view.spans)
    ranges = f"{count} range{'s' if count != 1 else ''}"
    share = _format_share(shown, view.total)
    head += _wrap_sentence(f"Shown: {shown:,} of {view.total:,} characters ({share}) in {ranges}.", style)
    parts = [head, _draw_bars(view, style), _draw_outline(view.sections, style), _draw_passages(view, style)]
    match = [] if view.coverage is None else _match_lines(view.coverage, style, weak=view.weak, words=view.words)
    return _join_parts([*parts, [*match, *_removed_lines(view, style)]])


def draw_search(view: SearchView, style: PlotStyle) -> list[Text]:
    """Return the plot of a search."""
    engines = [_page_text(f"Engine {name}: ", outcome, style, "") for name, outcome in view.engines]
    parts = [[_page_text("Question: ", view.query, style, "bold"), *engines]]
    parts += [_draw_source(source, style) for source in view.sources]
    coverage = max((source.coverage for source in view.sources), default=0.0)
    return _join_parts([*parts, _match_lines(coverage, style, weak=view.weak)])


def describe_removed(removed: Sequence[tuple[str, int]]) -> str:
    """Return a sentence with the numbers of the parts that extraction removed."""
    counts = ", ".join(f"{count:,} {REMOVED_NAMES.get(kind, kind)}" for kind, count in removed if count)
    return f"Left out: {counts}." if counts else "Left out: none of the parts that are counted."


def draw_bar(total: int, spans: Sequence[Span], width: int, glyphs: Glyphs) -> str:
    """Return a bar of `width` cells for a text of `total` characters. A cell with shown text is never empty."""
    covered = [0.0] * width
    for start, end in spans:
        first, last = start * width // max(1, total), -(-end * width // max(1, total))
        for cell in range(first, min(width, last)):
            edges = cell * total / width, (cell + 1) * total / width
            covered[cell] += max(0.0, min(end, edges[1]) - max(start, edges[0]))
    complete = max(1, total) / width * 0.99
    return "".join(glyphs.full if each >= complete else glyphs.part if each else glyphs.none for each in covered)


def draw_heat(total: int, places: Iterable[tuple[int, float]], width: int, glyphs: Glyphs) -> str:
    """Return a line of `width` cells, with higher levels where `places` (offset and weight) are denser."""
    cells = [0.0] * width
    for offset, weight in places:
        cells[min(width - 1, offset * width // max(1, total))] += weight
    most = max(cells) or 1.0
    top = len(glyphs.levels) - 1
    return "".join(glyphs.levels[-(-int(1_000 * each) * top // int(1_000 * most))] if each else " " for each in cells)


def _draw_bars(view: PageView, style: PlotStyle) -> list[Text]:
    glyphs, width = choose_glyphs(style), style.width - LABEL_COLUMNS - 2 - COUNT_COLUMNS - WORD_COLUMNS
    after = COUNT_COLUMNS + WORD_COLUMNS
    line = Text(f"{'page':{LABEL_COLUMNS}}{glyphs.edge}")
    line.append_text(_paint(draw_bar(view.total, view.spans, width, glyphs)))
    lines = [line.append(glyphs.edge).append(f"{0:,} to {view.total:,}".rjust(after)[:after])]
    top = min((section.level for section in view.sections), default=0)
    main = [(section.start, 1.0) for section in view.sections if section.level <= top + 1]
    if main:
        marks = "".join(glyphs.mark if level.strip() else " " for level in draw_heat(view.total, main, width, glyphs))
        headings = "main heading" if len(main) == 1 else "main headings"
        bar = f"{glyphs.edge}{marks}{glyphs.edge}"
        lines.append(Text(f"{'heads':{LABEL_COLUMNS}}{bar}{len(main):>{COUNT_COLUMNS},} {headings}"))
    lines += [_draw_word(word, view.total, width, style) for word in view.words[:MAX_WORDS]]
    hidden = len(view.words) - MAX_WORDS
    return lines + ([Text(f"{'':{LABEL_COLUMNS}}and {hidden} more words of the question")] if hidden > 0 else [])


def _draw_word(word: Word, total: int, width: int, style: PlotStyle) -> Text:
    glyphs = choose_glyphs(style)
    drawn = draw_heat(total, word.places, width, glyphs)
    line = Text(f"{'word':{LABEL_COLUMNS}}{glyphs.edge}").append(drawn, "cyan")
    line.append(f"{glyphs.edge}{word.count:>{COUNT_COLUMNS},} ")
    return line.append(one_line(word.word, style.width - cell_len(line.plain)), "" if word.count else "red")


def _draw_outline(sections: Sequence[Section], style: PlotStyle) -> list[Text]:
    """Return the headings; if there are too many, only those with shown text."""
    if not sections:
        return []
    candidates = sections if len(sections) <= MAX_SECTIONS else [section for section in sections if section.shown]
    listed = candidates[:MAX_SECTIONS]
    lines = [Text("Headings, and how much of the text under each is shown:", "bold")]
    for section in listed:
        size = section.end - section.start
        start = f"at {section.start:>9,} {_format_share(section.shown, size):>6} of {size:>9,}  {'#' * section.level} "
        lines.append(_page_text(start, section.title, style, "green" if section.shown else "dim"))
    rest = len(sections) - len(listed)
    return lines + ([Text(f"and {rest:,} more headings, most of them with nothing shown", "dim")] if rest else [])


def _draw_passages(view: PageView, style: PlotStyle) -> list[Text]:
    best = max((passage.score for passage in view.passages), default=0.0)
    words = [word.word for word in view.words if word.count]
    lines: list[Text] = []
    for number, passage in enumerate(view.passages, start=1):
        size = passage.end - passage.start
        lines.append(Text(f"Passage {number}: {passage.start:,} to {passage.end:,}, {size:,} characters", "bold"))
        lines += [_page_text("  under ", passage.heading, style, "dim")] if passage.heading else []
        if passage.start == 0 and passage.parts and len(view.passages) > 1:
            lines.append(Text("  the beginning of the page is shown because it says what the page is about", "dim"))
        lines += _draw_score(passage, best, style)
        lines += _draw_opening(passage.opening, words, style)
    return lines


def _draw_score(passage: ShownPassage, best: float, style: PlotStyle) -> list[Text]:
    if not passage.parts:
        return []
    glyphs = choose_glyphs(style)
    filled = round(SCORE_BAR_COLUMNS * passage.score / best) if best > 0 else 0
    shown = glyphs.full * filled + glyphs.none * (SCORE_BAR_COLUMNS - filled)
    line = Text("  score ").append_text(_paint(shown)).append(f" {passage.score:.2f} =")
    lines = [line]
    for name, value in passage.parts:
        if abs(value) < MIN_PART:
            continue
        part = f" {name} {value:+.2f}"
        if cell_len(lines[-1].plain) + len(part) > style.width:
            lines.append(Text(" " * 8))
        lines[-1].append(part, "" if value >= 0 else "red")
    return lines


def _draw_opening(text: str, words: Sequence[str], style: PlotStyle) -> list[Text]:
    lines = [Text(f"  {choose_glyphs(style).edge} {line}") for line in _wrap_text(text, style.width - 4, OPENING_LINES)]
    for line in lines:
        line.highlight_words(words, "bold", case_sensitive=False)
    return lines


def _wrap_text(text: str, width: int, max_lines: int) -> Iterator[str]:
    """Yield at most `max_lines` lines of at most `width` cells, broken between words where possible."""
    line, count = "", 0
    for word in one_line(text, width * max_lines - max_lines).split(" "):
        while cell_len(word) > width:
            head = _first_cells(word, width - cell_len(line) - bool(line))
            yield f"{line} {head}".strip()
            line, word, count = "", word[len(head) :], count + 1
            if count == max_lines:
                return
        if cell_len(line) + cell_len(word) + 1 > width:
            yield line
            line, count = "", count + 1
            if count == max_lines:
                return
        line = f"{line} {word}".strip()
    yield line


def _first_cells(word: str, width: int) -> str:
    """Return the beginning of a word that fits `width` cells."""
    cells = 0
    for index, letter in enumerate(word):
        cells += cell_len(letter)
        if cells > width:
            return word[:index]
    return word


def _match_lines(coverage: float, style: PlotStyle, *, weak: bool, words: Sequence[Word] = ()) -> list[Text]:
    missing = sum(not word.count for word in words)
    lacking = f"; the text lacks {missing} of its {len(words)} words" if missing else ""
    sentence = f"the best passage covers {_format_percent(coverage)} of the question{lacking}"
    if weak:
        return _wrap_sentence(f"Weak match: {sentence}.", style, "yellow")
    return _wrap_sentence(f"{sentence.capitalize()}.", style)


def _removed_lines(view: PageView, style: PlotStyle) -> list[Text]:
    notice = _wrap_sentence(f"Notice: {NOTICES.get(view.notice, view.notice)}", style, "yellow") if view.notice else []
    if is_output(view.url):
        return notice
    unknown = "" if view.read else " For a stored page the numbers of scripts, comments and menus are not known."
    return [*notice, *_wrap_sentence(describe_removed(view.removed) + unknown, style)]


def _draw_source(source: SourceView, style: PlotStyle) -> list[Text]:
    number = f"[{source.number}] " if source.number else "not in the answer: "
    lines = [_page_text(f"Source {number}", source.title or source.url, style, "bold")]
    lines += [_page_text("  ", source.url, style, "dim")] if source.title else []
    facts = [source.state]
    if source.total:
        facts.append(f"best score {source.best:.2f}, covers {_format_percent(source.coverage)} of the question")
    lines += _wrap_sentence(f"  {'; '.join(facts)}", style, "" if source.spans else "yellow")
    if source.total:
        glyphs, width = choose_glyphs(style), style.width - LABEL_COLUMNS - 2 - COUNT_COLUMNS - WORD_COLUMNS
        drawn = Text(f"  {glyphs.edge}").append_text(_paint(draw_bar(source.total, source.spans, width, glyphs)))
        lines.append(drawn.append(f"{glyphs.edge} {_shown_share(source)}"))
    pairs = zip(source.spans, source.scores, strict=True)
    lines += [
        Text(f"  {start:,} to {end:,}: score {score:.2f}, covers {_format_percent(coverage)}")
        for (start, end), (score, coverage) in pairs
    ]
    lines += [_page_text("  the same text at ", url, style, "dim") for url in source.copies]
    return lines + (_wrap_sentence(f"  {describe_removed(source.removed)}", style, "dim") if source.removed else [])


def _shown_share(source: SourceView) -> str:
    return f"{sum(end - start for start, end in source.spans):,} of {source.total:,}"


def _paint(bar: str) -> Text:
    """Return a bar in colours, with the empty cells dim."""
    text = Text(bar, "green")
    text.highlight_regex(f"[{re.escape(BLOCKS.none + ASCII.none)}]+", "dim")
    return text


def _wrap_sentence(sentence: str, style: PlotStyle, color: str = "") -> list[Text]:
    """Return a sentence of Keyhole's, wrapped to the width of the plot."""
    return [Text(line, color) for line in textwrap.wrap(sentence, style.width, subsequent_indent="  ")]


def _page_text(label: str, text: str, style: PlotStyle, color: str) -> Text:
    """Return text from a page after a label, shortened to the width of the plot."""
    return Text(label).append(one_line(text, max(1, style.width - cell_len(label))), color)


def _format_percent(share: float) -> str:
    """Return a share of the question as a percentage. A share may exceed 1 slightly; 100 % is printed then."""
    return f"{min(1.0, share):.0%}"


def _format_share(part: int, total: int) -> str:
    share = 100 * part / max(1, total)
    return f"{share:.1f} %" if 0 < share < 9.95 else f"{share:.0f} %"


def _join_parts(parts: Sequence[Sequence[Text]]) -> list[Text]:
    """Return the lines of all parts, with an empty line between them."""
    lines: list[Text] = []
    for part in parts:
        lines += [*([Text("")] if lines and part else []), *part]
    return lines
