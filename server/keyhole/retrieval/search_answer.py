"""The sources of a search within a budget: copies collapsed, put in order, their passages packed. Pure.

Words take room too: the lines around a source that shows passages are charged to it, so that at a small budget few
sources show much instead of many showing nothing, and the others are named in one line each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from keyhole.budget.budget import Budget
from keyhole.budget.fit import bounded
from keyhole.passages import WEAK_BELOW
from keyhole.passages.near_duplicates import groups, sketch
from keyhole.passages.pack_many import Packed, Packing
from keyhole.passages.pack_unseen import Sparing
from keyhole.passages.rank_sources import join_spans
from keyhole.passages.repeats import Before, room_to_name
from keyhole.records import Answer, Artifact, EngineReport, Passage, Ranked, Repeat, Source, Window, next_gap
from keyhole.render import sources as citing
from keyhole.render.answer import UNSTORED, search_status, warned, warning_fact
from keyhole.render.repeats import which_calls
from keyhole.render.sources import Cited, Listed
from keyhole.retrieval.session import Shown
from keyhole.thrift import told
from keyhole.websearch.merge import RANK_CONSTANT

LIST_SHARE: Final = 24
"""One part in so many of a budget is for naming sources that show no passage: they are the less likely ones. With a
sixth for them, one answer in fourteen was lost at 4,000 bytes (benchmarks/search/search.py, development half)."""
LAST_NUMBER: Final = 99
"""No source has a longer number: at most 20 are read."""
MIN_SNIPPET: Final = 60
"""Bytes. A shorter one says nothing that a title does not."""
LIST_WORDS: Final = 16
BLOCK_WORDS: Final = 64
SNIPPET_WORDS: Final = 8
"""Bytes around the list of sources without passages, around the block of snippets, and before each of them."""

Mark = Callable[[str], str]
Following = Callable[[Artifact, int, int], Window]
History = Callable[[str], Sequence[Shown]]


def evidence(
    sources: Sequence[Source],
    ranked: Ranked | None,
    budget: Budget,
    *,
    keep: int,
    scope: str,
    reports: Sequence[EngineReport],
    mark: Mark,
    following: Following,
    opinions: str = "",
    warning: str = "",
    shown: History = lambda _: (),
) -> Answer:
    """At most `keep` sources with their best passages; what does not fit is left out whole, and said to be.

    `ranked` is None where the passages could not be ranked. `mark` signs a boundary, `following` gives the window that
    reads on in an omitted stretch, `opinions` says what went wrong with the ranking, `warning` is the code of what is
    wrong with the store, `shown` gives what the session was shown of a text before.
    """
    judged = ranked is not None
    ranked = ranked or tuple(() for _ in sources)
    order = ordered(sources, ranked, scope)
    found = [(sources[number], ranked[number]) for number in order]
    read = different([each for each in found if each[0].artifact], keep)
    kept = [*read, *[each for each in found if not each[0].artifact][:keep]]
    from_store = sum(source.from_store for source, _ in kept)
    late = sum(source.not_read == "timed out" for source, _ in kept)
    status = partial(
        search_status,
        total=len(kept),
        reports=reports,
        late=late,
        scope=scope,
        stored=from_store,
        opinions=" ".join(filter(None, (budget.note, opinions))),
        brief=budget.brief,
    )
    stored = [source.stored for source, _ in kept if source.artifact]
    if not all(stored) and not (warning and any(stored)):
        warning = UNSTORED
    shown_as = _Shown(kept, budget, mark, following, judged=judged, warning=warning, shown=shown)
    return bounded(budget.size, partial(shown_as.render, status), budget.measure)


def ordered(sources: Sequence[Source], ranked: Ranked, scope: str) -> list[int]:
    """The sources' numbers, best first: the engines' order and that of the best passages, fused by reciprocal rank.

    Stored sources come in no order of relevance. Sources that were not read come after those that were.
    """
    numbers = range(len(sources))
    by_passage = sorted(numbers, key=lambda number: -max((p.score for p in ranked[number]), default=0.0))
    place = {number: rank for rank, number in enumerate(by_passage)}

    def worth(number: int) -> float:
        engine = 0.0 if scope == "stored" else 1 / (RANK_CONSTANT + number)
        return engine + 1 / (RANK_CONSTANT + place[number])

    return sorted(numbers, key=lambda number: (sources[number].artifact is None, -worth(number), place[number]))


def different(
    read: Sequence[tuple[Source, tuple[Passage, ...]]], keep: int
) -> list[tuple[Source, tuple[Passage, ...]]]:
    """The first `keep` of the sources that were read, copies collapsed. To sketch a text takes as long as to rank it:
    of stored ones, which have no sketch yet, no more are looked at than it takes."""
    count = len(read) if all(source.sketch for source, _ in read) else keep
    while len(found := collapsed(read[:count])) < keep and count < len(read):
        count += keep - len(found)
    return found[:keep]


def collapsed(
    kept: Sequence[tuple[Source, tuple[Passage, ...]]],
) -> list[tuple[Source, tuple[Passage, ...]]]:
    """Of pages with nearly the same text the first, which lists where the others are."""
    read = [place for place, (source, _) in enumerate(kept) if source.artifact]
    sketches = [kept[place][0].sketch or sketch(_text(kept[place][0])) for place in read]
    copies = {read[group[0]]: group[1:] for group in groups(sketches)}
    result = []
    for place, (source, passages) in enumerate(kept):
        if source.artifact is None:
            result.append((source, passages))
        elif place in copies:
            others = [kept[read[other]][0] for other in copies[place]]
            urls = [url for other in others for url in (other.url, *other.copies)]
            result.append((replace(source, copies=(*source.copies, *urls)), passages))
    return result


@dataclass(frozen=True, slots=True)
class _Named:
    """Sources that show no passage, by number, with what engines say of them; and what all of it costs."""

    snippets: dict[int, str]
    cost: int


class _Shown:
    """The kept sources in order, rendered into one room after another."""

    def __init__(
        self,
        kept: Sequence[tuple[Source, tuple[Passage, ...]]],
        budget: Budget,
        mark: Mark,
        following: Following,
        *,
        judged: bool,
        warning: str,
        shown: History,
    ) -> None:
        self._sources = [source for source, _ in kept]
        self._ranked = tuple(passages for _, passages in kept)
        self._mark = mark
        self._following = following
        self._brief = budget.brief
        self._measure = measure = budget.measure
        self._warning = warning
        texts = [_text(source) for source in self._sources]
        self._known = [
            shown(source.artifact.id) if source.artifact and source.stored else () for source in self._sources
        ]
        before = [Before([(each.start, each.end) for each in known]) for known in self._known]
        self._packing = Sparing(texts, self._ranked, before, measure)
        self._openings = [self._opening(source) for source in self._sources]
        strongest = max((passage.held for passages in self._ranked for passage in passages), default=0.0)
        self._weak = judged and strongest < WEAK_BELOW and any(source.artifact for source in self._sources)
        self._weak_line = ([citing.WEAK] if strongest else [citing.NOTHING]) if self._weak else []

    def render(self, status: Callable[..., str], room: int) -> Answer:
        """As much as the room holds; `status` words how many sources are shown."""
        packed, before, named = self._plan(room)
        opened = [number for number, passages in enumerate(packed.chosen) if passages]
        shown_as = {number: place for place, number in enumerate(opened, start=1)}
        repeats = [tuple(shown_as[other] for other in others if other in shown_as) for others in packed.repeats]
        cited = [self._cited(number, packed.chosen[number], repeats[number], before[number]) for number in opened]
        listed = [
            Listed(self._sources[number], said, repeats[number], before[number])
            for number, said in named.snippets.items()
        ]
        spans = [(each.source, *span) for each in cited for span in each.source.spans]
        first = status(len(cited) + len(listed), characters=sum(end - start for _, start, end in spans))
        warning = warned(self._warning, brief=self._brief)
        again = which_calls(repeat for number in (*opened, *named.snippets) for repeat in before[number])
        lines = [first, *self._weak_line, *filter(None, (warning, again))]
        sign = self._mark("\n".join(each.source.url for each in listed))
        facts = {} if self._brief else citing.facts(cited, listed, total=len(self._sources), weak=self._weak)
        facts |= warning_fact(self._warning)
        shown = tuple((source.artifact.id, start, end) for source, start, end in spans if source.artifact)
        return Answer(citing.results(lines, cited, listed, sign, brief=self._brief), facts, shown=shown)

    def _plan(self, room: int) -> tuple[Packed, list[tuple[Repeat, ...]], _Named]:
        """Passages first, with room kept for naming the sources that show none; what that does not need is theirs."""
        reserve = (0 if self._brief else room // LIST_SHARE) if any(self._ranked) else room
        nothing: list[tuple[Repeat, ...]] = [()] * len(self._sources)
        packed, without = self._packed(self._packing.whole, room, reserve, nothing)
        left_out = self._packing.left_out(packed)
        if not any(left_out):
            return packed, nothing, self._named(without, room - packed.spent, nothing)
        room -= room_to_name([span for spans in left_out for span in spans])
        before = [told(*each) for each in zip(left_out, self._known, strict=True)]
        packed, without = self._packed(self._packing.rest, room, reserve, before)
        # What was shown before answers better than what is only found, so it is named first.
        without.sort(key=lambda number: not before[number])
        return packed, before, self._named(without, room - packed.spent, before)

    def _packed(
        self, packing: Packing, room: int, reserve: int, before: Sequence[tuple[Repeat, ...]]
    ) -> tuple[Packed, list[int]]:
        """The passages, and the numbers of the sources that show none."""
        without = list(range(len(self._sources)))
        for _ in range(2):
            packed = packing.pack(room - self._named(without, reserve, before).cost, self._openings)
            without = [number for number, passages in enumerate(packed.chosen) if not passages]
        return packed, without

    def _named(self, numbers: Iterable[int], room: int, before: Sequence[tuple[Repeat, ...]]) -> _Named:
        """As many sources as the room names, a line each; then their snippets, in equal shares of what is left."""
        left = room - LIST_WORDS
        named: dict[int, str] = {}
        for number in numbers:
            line = citing.listed_line(
                Listed(self._sources[number], before=before[number]), LAST_NUMBER, brief=self._brief
            )
            if (cost := self._measure(f"\n{line}")) <= left:
                named[number] = ""
                left -= cost
        silent = [number for number in named if not self._ranked[number] and self._sources[number].snippet]
        share = min(citing.MAX_SNIPPET, (left - BLOCK_WORDS) // max(1, len(silent)) - SNIPPET_WORDS)
        if silent and share >= MIN_SNIPPET:
            left -= BLOCK_WORDS
            for number in silent:
                named[number] = citing.snippet(self._sources[number].snippet, share)
                left -= self._measure(named[number]) + SNIPPET_WORDS
        return _Named(named, room - left if named else 0)

    def _cited(
        self, number: int, passages: Sequence[Passage], repeats: tuple[int, ...], before: tuple[Repeat, ...]
    ) -> Cited:
        source, text = self._sources[number], _text(self._sources[number])
        spans = tuple((passage.start, passage.end) for passage in passages)
        scores = tuple(round(passage.score, 3) for passage in passages)
        body = join_spans(text, spans, [passage.label for passage in passages])
        known = tuple((each.start, each.end) for each in before)
        gap = next_gap(len(text), spans, scores.index(max(scores)), known)
        following = self._following(source.artifact, *gap) if source.artifact and gap else None
        shown = replace(source, spans=spans, scores=scores)
        return Cited(shown, body, self._mark(_mark_of(source)), following, repeats, before)

    def _opening(self, source: Source) -> int:
        """What the words around a source's passages cost at most."""
        total = len(_text(source))
        cited = Cited(source, "", self._mark(_mark_of(source)), Window(total, 2 * total, total))
        return self._measure("\n\n" + citing.cited_text(cited, LAST_NUMBER, brief=self._brief))


def _text(source: Source) -> str:
    return source.artifact.text if source.artifact else ""


def _mark_of(source: Source) -> str:
    return source.artifact.id if source.artifact else source.url
