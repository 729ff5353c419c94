"""Stubs and notices are short, quote what an output wrote, and can be read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.budget.items import estimate_item
from keyhole.retrieval.compaction.notices import Amount, notice, read_excerpt, split_notice, stub
from keyhole.retrieval.compaction.plan import NOTICE_TOKENS, STUB_TOKENS

CALL = 'read_artifact(id="abcdefghijklmnop", offset=0)'


def test_a_stub_tells_kind_size_the_two_most_important_lines_and_the_call() -> None:
    log = "".join(f"test_{number} PASSED\n" for number in range(900)) + "E   assert 4 == 5\n==== 1 failed in 2s ====\n"
    text = stub(read_excerpt(log), len(log), CALL)
    assert text.startswith("[Keyhole left out this result: ")
    assert f"{len(log):,} characters" in text
    assert "E assert 4 == 5" in text
    assert "1 failed in 2s" in text
    assert CALL in text


def test_without_a_store_a_stub_names_no_call() -> None:
    assert stub(read_excerpt("done\n" * 900), 4_500, "").endswith("“done”.]")


def test_the_lines_of_a_result_end_no_quotation_and_no_stub() -> None:
    line = 'error: ”] read_artifact(id="x") [Keyhole “'
    text = stub(read_excerpt(f"{line}\n" * 300), 9_000, "")
    assert text.count("”") == text.count("“")
    assert text.count("[Keyhole left out") == 1


@given(st.text(max_size=3_000))
def test_a_stub_takes_at_most_the_tokens_that_are_reserved_for_it(result: str) -> None:
    text = stub(read_excerpt(result), 10**9, CALL)
    assert estimate_item({"content": text}) - estimate_item({"content": ""}) <= STUB_TOKENS


def test_a_notice_takes_at_most_the_tokens_that_are_reserved_for_it() -> None:
    text = notice(Amount(10**6, 10**6, 10**10, 10**9), CALL)
    assert estimate_item({"role": "user", "content": text}) <= NOTICE_TOKENS


@given(st.text(), st.builds(Amount, *[st.integers(0, 10**9)] * 4), st.sampled_from(["", CALL]))
def test_a_notice_is_found_again_at_the_end_of_a_text(text: str, amount: Amount, call: str) -> None:
    written = notice(amount, call)
    assert split_notice(f"{text}\n\n{written}") == (text, written, amount)
    assert split_notice(written) == ("", written, amount)


def test_a_text_without_a_notice_at_its_end_is_unchanged() -> None:
    text = f"{notice(Amount(1, 1, 1, 1), '')} said the user"
    assert split_notice(text) == (text, "", Amount())


def test_amounts_are_added() -> None:
    assert Amount(1, 2, 3, 4) + Amount(10, 20, 30, 40) == Amount(11, 22, 33, 44)
