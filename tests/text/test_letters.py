"""Lower-casing that keeps offsets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.text.letters import CHUNK_CHARS, lower


@given(st.text(st.sampled_from("aİıßΣ中é\u0301\ud800ǅﬁ") | st.characters(), max_size=60))
def test_lower_keeps_offsets(text: str) -> None:
    assert len(lower(text)) == len(text)


def test_a_long_text_is_lowered_in_chunks_with_the_same_result() -> None:
    text = "ÉcoleX " * (CHUNK_CHARS // 3)
    assert lower(text) == text.lower()
    assert lower("İ" * 3 + "É" * CHUNK_CHARS) == "i" * 3 + "é" * CHUNK_CHARS
