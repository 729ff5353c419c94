"""A range of a stored text is answered from that part of the text alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.records import Artifact, ArtifactPart
from keyhole.store.sqlite.store import MemoryStore
from tests.retrieval.test_properties import TEXTS
from tests.support.fakes import Clock, artifact
from tests.support.product import retrieval

ID = artifact().id
LINES = "".join(f"Line {n} of a long text.\n" for n in range(50_000))


class PartOnlyStore(MemoryStore):
    """A store that records the requested parts and fails if a whole text is requested."""

    def __init__(self) -> None:
        super().__init__(Clock())
        self.requested: list[tuple[int, int]] = []

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        self.requested.append((start, end))
        kept = super().get(id)
        start = min(start, len(kept.text))
        return ArtifactPart(replace(kept, text=kept.text[start:end]), start, len(kept.text))

    def get(self, id: str) -> Artifact:
        raise AssertionError("the whole text was read")


class WholeTextStore(MemoryStore):
    """A store that returns the whole text as every part."""

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        kept = self.get(id)
        return ArtifactPart(kept, 0, len(kept.text))


@given(
    text=st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 3, 20, 150])),
    offset=st.integers(-2, 4_000) | st.just(10**30),
    limit=st.none() | st.integers(1, 3_000) | st.just(MAX_BUDGET),
    max_chars=st.sampled_from([500, 700, 2_000, 9_000]),
)
def test_a_range_read_from_a_part_has_the_same_bytes_as_from_the_whole_text(
    text: str, offset: int, limit: int | None, max_chars: int
) -> None:
    kept = artifact(text=text)
    answers = []
    for store in (PartOnlyStore(), WholeTextStore(Clock())):
        store.put(kept, "x")
        product = retrieval(config=Config(max_chars=max_chars), store=store)
        answers.append(asyncio.run(product.read_artifact(ID, offset, limit)))
    assert answers[0] == answers[1]


def test_only_the_window_and_its_continuation_are_read() -> None:
    store = PartOnlyStore()
    store.put(artifact(text=LINES), "x")
    asyncio.run(retrieval(store=store).read_artifact(ID, 600_000, 400))
    asyncio.run(retrieval(store=store).read_artifact(ID, 600_000))
    asyncio.run(retrieval(store=store).read_artifact(ID, 10**40, 10**5))
    assert [start for start, _ in store.requested] == [600_000, 600_000, 2_000_000_000]
    assert [end - start <= 2 * 9_000 or start > len(LINES) for start, end in store.requested] == [True] * 3


def test_an_offset_at_or_beyond_the_end_reports_the_length_of_the_text() -> None:
    store = PartOnlyStore()
    store.put(artifact(text="abc"), "x")
    for offset in (3, 4, 10**18, 10**400):
        answer = asyncio.run(retrieval(store=store).read_artifact(ID, offset))
        assert "Nothing there: the text has 3 characters." in answer.text
        assert answer.facts["next"] is None
