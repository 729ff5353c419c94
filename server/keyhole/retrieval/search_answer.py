"""Build the answer of a search: choose its sources and pack their passages within the budget.

The lines around a source's passages count as part of its size. A small budget therefore shows long passages of few
sources, and the other sources are listed in one line each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from keyhole.passages.packing.many_texts import GOOD_SHARE, PackedPassages, Packer
from keyhole.passages.packing.unseen import UnseenPacker
from keyhole.passages.rank_sources import join_spans
from keyhole.passages.repeats import ShownSpans, repeats_line_size
from keyhole.passages.stop import NEAREST_PLACES
from keyhole.passages.strength import WEAK_STRENGTH
from keyhole.records import Answer, Passage, Ranked, Repeat, Source
from keyhole.render.answer import UNSTORED, warning_fact, warning_line
from keyhole.render.boundary import NextArguments, read_call
from keyhole.render.fit import fit
from keyhole.render.repeats import repeat_calls_line
from keyhole.render.sources import (
    MAX_SNIPPET,
    NO_MATCH,
    WEAK_MATCH,
    CitedSource,
    ListedSource,
    render_cited,
    render_listed,
    render_sources,
    search_details,
    search_facts,
    search_status,
    shorten_snippet,
)
from keyhole.retrieval.call import Call
from keyhole.retrieval.next_call import may_repeat
from keyhole.retrieval.order_sources import RankedSource, first_different, order_sources, text_of
from keyhole.retrieval.session import repeats_of
from keyhole.retrieval.sources import FoundSources
from keyhole.text.measure import clip

LIST_DIVISOR: Final = 24
"""A twenty-fourth of a budget is reserved for the list of sources without passages, which seldom answer the query. With
a sixth, one answer in fourteen was lost at 4,000 bytes (benchmarks/search/search.py, development half)."""
LONGEST_ID: Final = "x" * 16
MAX_NUMBER: Final = 99
"""The largest number of a source: at most 20 are read."""
MIN_SNIPPET: Final = 60
"""Bytes. A shorter snippet adds nothing to the title."""
MAX_NEAREST: Final = 4
"""Passages of a source that a search shows at most if its pages match weakly: as many as a page shows in any case."""
LIST_OVERHEAD: Final = 16
"""Bytes around the list of sources without passages."""
BLOCK_OVERHEAD: Final = 64
"""Bytes around the block of snippets."""
SNIPPET_OVERHEAD: Final = 8
"""Bytes before each snippet."""

Repeats = Sequence[tuple[Repeat, ...]]
"""For each source the ranges left out because an earlier call of the session showed them."""


def search_answer(
    found: FoundSources,
    ranked: Ranked | None,
    call: Call,
    *,
    count: int,
    scope: str,
    secret: bytes,
    query: str = "",
    note: str = "",
    warning: str = "",
) -> Answer:
    """Return the answer with the best passages of at most `count` sources, and a list of sources that were not read.

    `ranked`: None if the passages could not be ranked. `secret` signs the boundaries. `query`: what the next call
    asks. `note`: faults of the ranking. `warning`: the store's warning code.
    """
    is_ranked = ranked is not None
    ranked = ranked or tuple(() for _ in found.sources)
    in_order = [(found.sources[number], ranked[number]) for number in order_sources(found.sources, ranked)]
    read = first_different([each for each in in_order if each[0].artifact], count)
    chosen = [*read, *[each for each in in_order if not each[0].artifact][:count]]
    status = partial(
        search_status,
        total=len(chosen),
        reports=found.reports,
        late=sum(source.not_read == "timed out" for source, _ in chosen),
        scope=scope,
        stored=sum(source.from_store for source, _ in chosen),
        notes=note,
    )
    stored = [source.stored for source, _ in chosen if source.artifact]
    if not all(stored) and not (warning and any(stored)):
        warning = UNSTORED

    @cache
    def packing(brief: bool) -> _SearchPacking:
        return _SearchPacking(
            chosen, call, secret, query if may_repeat(call, query) else "",
            is_ranked=is_ranked, warning=warning, brief=brief,
        )  # fmt: skip

    def render(brief: bool, space: int) -> Answer:
        return packing(brief).render(partial(status, brief=brief), space)

    forms = (True,) if call.budget.is_brief else (False, True)
    return fit(call.budget, *(partial(render, brief) for brief in forms), wanted=0)


def nearest_passages(ranked: Ranked) -> Ranked:
    """Return the best passages of the first sources that have one, for a search whose pages match weakly.

    These are each source's best passage and those that are nearly as good as the best of all.
    """
    having = [number for number, passages in enumerate(ranked) if passages][:NEAREST_PLACES]
    least = GOOD_SHARE * max((passages[0].score for passages in ranked if passages), default=0.0)
    return tuple(
        passages[:1] + tuple(passage for passage in passages[1:MAX_NEAREST] if passage.score >= least)
        if number in having else ()
        for number, passages in enumerate(ranked)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _SourceList:
    """The listed sources, by number, each with its snippet or "", and the size of the list."""

    snippets: dict[int, str]
    size: int


class _SearchPacking:
    """Packs and renders the chosen sources, given in order, for any size."""

    def __init__(
        self, chosen: Sequence[RankedSource], call: Call, secret: bytes, query: str,
        *, is_ranked: bool, warning: str, brief: bool,
    ) -> None:  # fmt: skip
        self._sources = [source for source, _ in chosen]
        ranked = tuple(passages for _, passages in chosen)
        strongest = max((passages[0].strength for passages in ranked if passages), default=0.0)
        self._weak = is_ranked and strongest < WEAK_STRENGTH and any(source.artifact for source in self._sources)
        self._ranked = nearest_passages(ranked) if self._weak else ranked
        self._is_matched = [bool(passages) for passages in ranked]
        self._secret = secret
        self._next: NextArguments | None = (
            {"query": query, **call.requested_limits} if query and not self._weak else None
        )
        self._brief = brief
        self._measure = measure = call.budget.measure
        self._warning = warning
        texts = [text_of(source) for source in self._sources]
        self._shown = [
            call.shown(source.artifact.id) if source.artifact and source.stored else () for source in self._sources
        ]
        before = [ShownSpans([(each.start, each.end) for each in shown]) for shown in self._shown]
        self._packer = UnseenPacker(texts, self._ranked, before, measure)
        self._head_sizes = [self._head_size(source) for source in self._sources]
        self._next_size = measure(_next_line(LONGEST_ID, self._next))
        self._weak_line = ([WEAK_MATCH] if any(self._ranked) else [NO_MATCH]) if self._weak else []

    def render(self, status: Callable[..., str], space: int) -> Answer:
        """Return the answer whose sources fit `space`. `status` renders the status line from the number of sources."""
        packed, before, listing = self._plan(space)
        opened = [number for number, passages in enumerate(packed.passages) if passages]
        place_of = {number: place for place, number in enumerate(opened, start=1)}
        repeats = [tuple(place_of[other] for other in others if other in place_of) for others in packed.repeats]
        cited = [
            self._make_cited(number, packed.passages[number], repeats[number], before[number]) for number in opened
        ]
        listed = [
            ListedSource(self._sources[number], snippet, repeats[number], before[number])
            for number, snippet in listing.snippets.items()
        ]
        spans = [(each.source, *span) for each in cited for span in each.source.spans]
        first = status(len(cited) + len(listed), characters=sum(end - start for _, start, end in spans))
        warning = warning_line(self._warning, brief=self._brief)
        repeated = repeat_calls_line(repeat for number in (*opened, *listing.snippets) for repeat in before[number])
        lines = [first, *self._weak_line, *filter(None, (warning, repeated))]
        following = self._sources[packed.left] if packed.left is not None else None
        next_line = _next_line(following.artifact.id, self._next) if following and following.artifact else ""
        shown = tuple((source.artifact.id, start, end) for source, start, end in spans if source.artifact)
        return Answer(
            render_sources(lines, cited, listed, self._secret, next_line, brief=self._brief),
            {**search_facts(cited, listed), **warning_fact(self._warning)},
            shown=shown,
            details=search_details(cited, listed, total=len(self._sources), weak=self._weak),
            lacks_text=bool(self._sources and not cited and not listed),
        )

    def _plan(self, space: int) -> tuple[PackedPassages, Repeats, _SourceList]:
        """Pack the passages, with space reserved for the list of other sources. Snippets get the space that is left."""
        space -= self._next_size
        reserve = (0 if self._brief else space // LIST_DIVISOR) if any(self._ranked) else space
        none: Repeats = [()] * len(self._sources)
        packed, without = self._pack(self._packer.all_passages, space, reserve, none)
        repeated = self._packer.find_repeated(packed)
        if not any(repeated):
            return packed, none, self._list(without, space - packed.size, none)
        space -= repeats_line_size([span for spans in repeated for span in spans])
        before = [repeats_of(*each) for each in zip(repeated, self._shown, strict=True)]
        packed, without = self._pack(self._packer.unseen_passages, space, reserve, before)
        # Sources that an earlier call showed match better than those that were never shown, so they are listed first.
        without.sort(key=lambda number: not before[number])
        return packed, before, self._list(without, space - packed.size, before)

    def _pack(self, packer: Packer, space: int, reserve: int, before: Repeats) -> tuple[PackedPassages, list[int]]:
        """Return the packed passages, and the numbers of the sources that show none."""
        without = list(range(len(self._sources)))
        for _ in range(2):
            packed = packer.pack(space - self._list(without, reserve, before).size, self._head_sizes)
            without = [number for number, passages in enumerate(packed.passages) if not passages]
        return packed, without

    def _list(self, numbers: Iterable[int], space: int, before: Repeats) -> _SourceList:
        """Return the list of those sources that fit `space`. Their snippets get equal shares of the space left."""
        left = space - LIST_OVERHEAD
        snippets: dict[int, str] = {}
        for number in numbers:
            source = ListedSource(self._sources[number], before=before[number])
            size = self._measure(f"\n{render_listed(source, MAX_NUMBER, brief=self._brief)}")
            if size <= left:
                snippets[number] = ""
                left -= size
        unread = [number for number in snippets if not self._is_matched[number] and self._sources[number].snippet]
        share = min(MAX_SNIPPET, (left - BLOCK_OVERHEAD) // max(1, len(unread)) - SNIPPET_OVERHEAD)
        if unread and share >= MIN_SNIPPET:
            left -= BLOCK_OVERHEAD
            for number in unread:
                snippets[number] = clip(shorten_snippet(self._sources[number].snippet, share), share, self._measure)
                left -= self._measure(snippets[number]) + SNIPPET_OVERHEAD
        return _SourceList(snippets, space - left if snippets else 0)

    def _make_cited(
        self, number: int, passages: Sequence[Passage], repeats: tuple[int, ...], before: tuple[Repeat, ...]
    ) -> CitedSource:
        """Return a source with its passages."""
        source, text = self._sources[number], text_of(self._sources[number])
        spans = tuple((passage.start, passage.end) for passage in passages)
        scores = tuple(round(passage.score, 3) for passage in passages)
        body = join_spans(text, spans, [passage.label for passage in passages])
        return CitedSource(replace(source, spans=spans, scores=scores), body, repeats, before)

    def _head_size(self, source: Source) -> int:
        """Return the largest size of the lines around a source's passages."""
        cited = CitedSource(source, "")
        return self._measure("\n\n" + render_cited(cited, MAX_NUMBER, self._secret, brief=self._brief))


def _next_line(id: str, arguments: NextArguments | None) -> str:
    """Return the line with the call that reads on in the text with an id, "" without arguments."""
    return f"Next: {read_call(id, arguments)}" if arguments else ""
