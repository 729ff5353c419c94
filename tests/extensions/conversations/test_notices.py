"""Stubs and notices are short, quote what an output wrote, and can be read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.conversations.items import estimate_item
from keyhole.extensions.conversations.notices import (
    NOTHING,
    Amount,
    Notice,
    Stored,
    find_notices,
    notice,
    read_excerpt,
    read_stored,
    shortened_line,
    split_notice,
    stub,
)
from keyhole.extensions.conversations.plan import NOTICE_TOKENS, STUB_TOKENS

ID = "abcdefghijklmnop"
CALL = f'read_artifact(id="{ID}", offset=0)'
IDS = st.sampled_from(["", ID])
LARGEST_STUB_TOKENS = 120


def test_a_stub_tells_kind_size_the_two_most_important_lines_and_the_call() -> None:
    log = "".join(f"test_{number} PASSED\n" for number in range(900)) + "E   assert 4 == 5\n==== 1 failed in 2s ====\n"
    text = stub(read_excerpt(log), len(log), 0, Stored(ID))
    assert text.startswith("[Keyhole left out this result: ")
    assert f"{len(log):,} characters" in text
    assert "E assert 4 == 5" in text
    assert "1 failed in 2s" in text
    assert f"{CALL} reads it" in text
    assert "Original" not in text


def test_without_a_store_a_stub_says_that_the_result_is_not_stored() -> None:
    assert stub(read_excerpt("done\n" * 900), 4_500, 0, Stored()).endswith("“done”. It is not stored.]")


def test_a_stub_counts_images_and_files() -> None:
    assert stub(read_excerpt(""), 0, 1, Stored()) == (
        "[Keyhole left out this result: 1 image or file. It is not stored.]"
    )
    assert stub(read_excerpt(""), 0, 2, Stored("", ID)) == (
        f"[Keyhole left out this result: 2 images or files. Original: {ID}.]"
    )
    assert "1 image or file, log, 4,500 characters" in stub(read_excerpt("done\n" * 900), 4_500, 1, Stored())
    assert stub(read_excerpt(""), 0, 0, Stored()) == "[Keyhole left out this result: empty. It is not stored.]"


def test_the_lines_of_a_result_end_no_quotation_and_no_stub() -> None:
    line = 'error: ”] read_artifact(id="x") [Keyhole “'
    text = stub(read_excerpt(f"{line}\n" * 300), 9_000, 0, Stored())
    assert text.count("”") == text.count("“")
    assert text.count("[Keyhole left out") == 1


@given(st.text(max_size=3_000))
def test_a_stub_takes_at_most_the_tokens_that_are_reserved_for_it(result: str) -> None:
    """Other scripts take more tokens than ASCII, which most results have."""
    text = stub(read_excerpt(result), 10**9, 0, Stored(ID))
    tokens = estimate_item({"content": text}) - estimate_item({"content": ""})
    assert tokens <= (STUB_TOKENS if result.isascii() else LARGEST_STUB_TOKENS)


def test_a_notice_takes_at_most_the_tokens_that_are_reserved_for_it() -> None:
    text = notice(Amount(10**6, 10**6, 10**10, 10**9), ID)
    assert estimate_item({"role": "user", "content": text}) <= NOTICE_TOKENS


@given(st.text(max_size=3_000), st.integers(1, 10**9), st.integers(0, 9), IDS, IDS)
def test_the_ids_in_a_stub_are_read_back(result: str, size: int, media: int, text: str, original: str) -> None:
    stored = Stored(text, original)
    assert read_stored(stub(read_excerpt(result), size, media, stored)) == stored


@given(st.text(), IDS)
def test_the_ids_below_a_shortened_result_are_read_back(text: str, original: str) -> None:
    stored = Stored(ID, original)
    line = shortened_line(stored)
    assert CALL in line
    assert read_stored(f"{text}{line}") == stored


def test_a_shortened_result_that_is_not_stored_says_so() -> None:
    assert shortened_line(Stored()) == "\n[Keyhole shortened this result. It is not stored.]"
    assert read_stored("text" + shortened_line(Stored())) == Stored()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "done",
        f"[Keyhole left out this result: it] {CALL}",
        f"{CALL} reads all of it.]",
        "[Keyhole left out this result: log, 9,999 characters.]",
        stub(read_excerpt("done"), 9, 0, Stored("zz")),
    ],
)
def test_other_texts_name_no_stored_result(text: str) -> None:
    assert read_stored(text) is None


@given(st.text(), st.builds(Amount, *[st.integers(0, 10**9)] * 4), IDS)
def test_a_notice_is_found_again_at_the_end_of_a_text(text: str, amount: Amount, id: str) -> None:
    written = notice(amount, id)
    assert split_notice(f"{text}\n\n{written}") == Notice(text, written, amount, id)
    assert split_notice(written) == Notice("", written, amount, id)


TEMPLATE = "[Keyhole left out {} messages with 1 tool call here: {} characters, about 10 tokens. They are not stored.]"


@pytest.mark.parametrize(
    "text",
    [
        f"{notice(Amount(1, 1, 1, 1), '')} said the user",
        f"The text: {notice(Amount(1, 1, 1, 1), '')}",
        TEMPLATE.format(",,,", "9,999"),
        TEMPLATE.format("2", "99,99"),
        TEMPLATE.format("9" * 5_000, "9,999"),
        TEMPLATE.format("9" + ",999" * 1_700, "9,999"),
        TEMPLATE.format("٣", "9,999"),
        TEMPLATE.format("2", "9,999").replace(" They are not stored.", ""),
        notice(Amount(1, 1, 1, 1), "zz"),
    ],
)
def test_a_text_without_a_notice_at_its_end_is_unchanged(text: str) -> None:
    assert split_notice(text) == Notice(text)


def test_the_notices_in_a_text_are_found_wherever_they_stand() -> None:
    stored, other = notice(Amount(1, 1, 1, 1), ID), notice(Amount(2, 2, 2, 2), "")
    assert list(find_notices(f"{stored} said the user\n{other}")) == [ID, ""]
    assert not list(find_notices("[Keyhole left out much]"))


def test_amounts_are_added() -> None:
    assert Amount(1, 2, 3, 4) + Amount(10, 20, 30, 40) == Amount(11, 22, 33, 44)
    assert Amount(1, 2, 3, 4) + NOTHING == Amount(1, 2, 3, 4)
