"""A range of a stored text is read from that stretch alone, and says what the whole text would have said."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.config.schema import MAX_BUDGET
from keyhole.records import Artifact, Part
from keyhole.store.memory import MemoryStore
from tests.retrieval.test_laws import TEXTS
from tests.support.fakes import Clock, artifact
from tests.support.product import retrieval

ID = artifact().id
LINES = "".join(f"Line {n} of a long text.\n" for n in range(50_000))


class Counting(MemoryStore):
    """A store that says how much of a text was asked for, and refuses to give a whole one."""

    def __init__(self) -> None:
        super().__init__(Clock())
        self.asked: list[tuple[int, int]] = []

    def part(self, id: str, start: int, end: int) -> Part:
        self.asked.append((start, end))
        kept = super().get(id)
        start = min(start, len(kept.text))
        return Part(replace(kept, text=kept.text[start:end]), start, len(kept.text))

    def get(self, id: str) -> Artifact:
        raise AssertionError("the whole text was read")


class Whole(MemoryStore):
    """A store whose parts are the whole text."""

    def part(self, id: str, start: int, end: int) -> Part:
        kept = self.get(id)
        return Part(kept, 0, len(kept.text))


@given(
    text=st.builds(lambda text, times: text * times, TEXTS, st.sampled_from([1, 3, 20, 150])),
    offset=st.integers(-2, 4_000) | st.just(10**30),
    limit=st.none() | st.integers(1, 3_000) | st.just(MAX_BUDGET),
    max_chars=st.sampled_from([500, 700, 2_000, 9_000]),
)
def test_a_part_of_a_text_is_answered_with_the_same_bytes_as_the_whole(
    text: str, offset: int, limit: int | None, max_chars: int
) -> None:
    kept = artifact(text=text)
    answers = []
    for store in (Counting(), Whole(Clock())):
        store.put(kept, "x")
        product = retrieval(config=Config(max_chars=max_chars), store=store)
        answers.append(asyncio.run(product.read_artifact(ID, offset, limit)))
    assert answers[0] == answers[1]


def test_no_more_is_read_than_the_window_and_its_continuation_may_take() -> None:
    store = Counting()
    store.put(artifact(text=LINES), "x")
    asyncio.run(retrieval(store=store).read_artifact(ID, 600_000, 400))
    asyncio.run(retrieval(store=store).read_artifact(ID, 600_000))
    asyncio.run(retrieval(store=store).read_artifact(ID, 10**40, 10**5))
    assert [start for start, _ in store.asked] == [600_000, 600_000, 2_000_000_000]
    assert [end - start <= 2 * 9_000 or start > len(LINES) for start, end in store.asked] == [True] * 3


def test_an_offset_at_or_beyond_the_end_says_how_long_the_text_is() -> None:
    store = Counting()
    store.put(artifact(text="abc"), "x")
    for offset in (3, 4, 10**18, 10**400):
        answer = asyncio.run(retrieval(store=store).read_artifact(ID, offset))
        assert "Nothing there: the text has 3 characters." in answer.text
        assert answer.facts["next"] is None
