"""Texts are split into windows at the borders of prose, code, tables and lists."""

from __future__ import annotations

import re

import pytest

from keyhole.passages.split import DENSE_TARGET_CHARS, MAX_HEADINGS, TARGET_CHARS, WHOLE_TARGETS, sentence_ends, split

LONGEST = TARGET_CHARS * WHOLE_TARGETS


def windows(text: str) -> list[str]:
    starts = split(text).starts
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    ("sentence", "stop"),
    [
        ("The governor of the town left the hall in the evening. ", ". "),
        ("Where did he go, and who was with him on the way? ", "? "),
        ("शहर का राज्यपाल भवन में था और फिर वह चला गया। ", "। "),
        ("متى ترك الحاكم المدينة ومن كان معه في الطريق؟ ", "؟ "),
        ("总督离开了城市，没有人知道他去了哪里。", "。"),
        ("彼は町を出て、誰も行き先を知らなかった。", "。"),
        ("He said: “We leave at dawn and will not come back.” ", ".” "),
    ],
)
def test_windows_of_one_long_line_end_with_a_sentence_in_any_script(sentence: str, stop: str) -> None:
    found = windows(sentence * 60)
    assert len(found) > 5
    assert all(window.endswith(stop) for window in found)


def test_a_full_stop_before_lower_case_does_not_end_a_sentence() -> None:
    text = "He lived approx. forty miles from the town, as is told, e.g. by the clerk. " * 30
    assert not any(window.endswith(("approx. ", "e.g. ")) for window in windows(text))


def test_windows_are_near_the_target_length_and_shorter_in_dense_scripts() -> None:
    latin = windows("The governor of the town left the hall in the evening. " * 100)
    han = windows("总督离开了城市，没有人知道他去了哪里。" * 100)
    for found, target in ((latin, TARGET_CHARS), (han, DENSE_TARGET_CHARS)):
        assert all(target / 2 <= len(window) <= 2 * target for window in found[:-1])


def test_a_long_paragraph_ends_its_window() -> None:
    paragraph = "He left. " * 10 + "The governor left the hall, " + "and the town, " * 22 + "alone.\n\n"
    assert windows(paragraph * 5) == [paragraph] * 5


def test_a_heading_begins_the_window_of_its_text() -> None:
    text = "Before it. " * 20 + "\n\n## The siege\n\nAmherst came. " + "After it. " * 80
    (found,) = [window for window in windows(text) if "The siege" in window]
    assert found.startswith("## The siege\n\nAmherst came.")


def test_consecutive_headings_stay_together() -> None:
    text = "Before it. " * 40 + "\n\n# Town\n\n## The siege\n\nAmherst came.\n\n" + "After it. " * 80
    assert any(window.startswith("# Town\n\n## The siege\n\nAmherst") for window in windows(text))


def test_headings_beyond_the_maximum_are_ordinary_lines() -> None:
    text = "# Item\n\n" * (MAX_HEADINGS + 500)
    assert len(split(text).headings) == MAX_HEADINGS
    assert "".join(windows(text)) == text


def test_a_number_sign_without_a_space_or_inside_a_line_is_not_a_heading() -> None:
    assert split("He wrote # one, and #two.\n#three\n").headings == []


def test_sections_end_at_the_next_heading_of_the_same_or_a_higher_level() -> None:
    body = "The governor of the town left the hall in the evening. " * 20 + "\n\n"
    headings = split(f"# A\n\n{body}## B\n\n{body}### C\n\n{body}## D\n\n{body}# E\n\n{body}").headings
    a, b, c, d, e = headings
    assert [heading.level for heading in headings] == [1, 2, 3, 2, 1]
    assert [heading.parent for heading in headings] == [-1, 0, 1, 0, -1]
    assert b.last == c.last == d.first
    assert a.last == d.last == e.first


@pytest.mark.parametrize("sign", ["", "> "], ids=["plain", "in a quote"])
def test_a_code_block_is_not_cut_when_it_fits(sign: str) -> None:
    lines = "".join(f"{sign}value_{n} = compute({n});  # no. {n}. Then\n{sign}\n" for n in range(24))
    code = f"{sign}```\n{lines}{sign}```\n"
    assert TARGET_CHARS * 2 < len(code) < LONGEST
    assert any(code in window for window in windows("Before it. " * 40 + "\n\n" + code + "\n" + "After it. " * 80))


def test_lines_of_a_short_code_block_stay_together() -> None:
    code = "".join(f"value_{n} = compute({n});  # no. {n}. Then\n\n" for n in range(14))
    assert len(code) > TARGET_CHARS
    found = windows("Before it. " * 40 + "\n\n```\n" + code + "```\n\n" + "After it. " * 80)
    assert any(code.rstrip() in window for window in found)


def test_a_long_code_block_is_cut() -> None:
    code = "```\n" + "".join(f"value_{n} = compute({n});\n" for n in range(400)) + "```\n"
    assert max(map(len, windows(code))) <= LONGEST


def test_text_after_an_unclosed_fence_is_still_split() -> None:
    text = "```\n" + "The governor of the town left the hall. " * 500
    assert max(map(len, windows(text))) <= LONGEST


def test_table_rows_are_not_cut() -> None:
    row = "| Dr. Amherst left. Then he came. | " + "He was seen by the river. " * 12 + "|\n"
    assert all(re.fullmatch(r"(\|.*\|\n)+", window) for window in windows(row * 30))


def test_a_lead_in_stays_with_the_first_item() -> None:
    text = "Before it all. " * 23 + "The parts were these:\n- the town\n- the river\n" + "After it all. " * 60
    (found,) = [window for window in windows(text) if "The parts" in window]
    assert "The parts were these:\n- the town\n" in found


def test_a_run_without_borders_is_cut_at_clauses_and_spaces() -> None:
    found = windows("alpha beta, " * 800)
    assert all(window.endswith((", ", " ")) for window in found)
    assert max(map(len, found)) <= LONGEST


@pytest.mark.parametrize("char", ["a", "e\u0301\u0301", "क्षि", "\ud800\udfff"])
def test_a_run_of_one_letter_is_never_cut_before_a_combining_mark(char: str) -> None:
    found = windows(char * 5_000)
    assert len(found) > 5
    assert not any(window[0] in "\u0301\u094d\u093f\udfff" for window in found)


def test_sentence_ends_include_the_end_of_the_window() -> None:
    text = "First. Second one. Third."
    assert sentence_ends(text, 7, len(text)) == [19, 25]
    assert sentence_ends("```\na\nb\n```", 0, 11)[-1] == 11


def test_long_code_is_cut_where_an_object_ends() -> None:
    objects = [f'  {{\n    "code": "{n}",\n    "name": "town number {n}"\n  }},\n' for n in range(60)]
    text = "```json\n[\n" + "".join(objects) + "]\n```\n"
    layout = split(text)
    assert len(layout.starts) > 5
    assert all(text[start:].startswith("  {\n") for start in layout.starts[1:])  # with the indent of its first line


@pytest.mark.parametrize("title", ["**Tip**", "> **Tip**", "**Cons:**"])
def test_no_window_ends_with_a_title_in_bold_type(title: str) -> None:
    sign = "> " if title[0] == ">" else ""
    note = (
        f"{title}\n{sign}\n{sign}It turns by itself, which nobody expects of a valve.\n\n"
        if sign
        else f"{title}\n\n- It turns.\n\n"
    )
    found = windows(("The pump runs and the valve of it turns in the wind of the evening.\n\n" * 3 + note) * 9)
    assert not any(window.rstrip("> \n").endswith("**") for window in found)


def test_a_window_of_source_code_begins_with_the_indent_of_its_first_line() -> None:
    body = "".join(f"        self.valve_{n}.open(pressure={n})\n\n" for n in range(60))
    assert all(window.startswith("        self") for window in windows(f"class Pump:\n    def run(self):\n{body}")[1:])


def test_the_number_of_a_list_item_stays_with_its_text() -> None:
    items = "".join(f"{n}. The committee met in the long hall and spoke about grain and roads.\n" for n in range(1, 60))
    text = f"It did these things:\n\n{items}"
    assert not any(text[start - 3 : start].strip().rstrip(".").isdigit() for start in split(text).starts[1:])


def test_the_term_of_a_definition_begins_a_window_also_after_a_short_one() -> None:
    body = "It can only be set in the file of the server or on its command line, which is described elsewhere. "
    entries = [f"`setting_{n}`\n: The setting {n} is {n}. {body * 5}".strip() for n in range(8)]
    text = "These settings control the daemon.\n\n" + "\n\n".join(entries)
    assert {text.index(f"`setting_{n}`") for n in range(1, 8)} <= set(split(text).starts)


def test_a_line_after_a_wide_colon_stays_with_what_it_introduces() -> None:
    lead_in = "水泵的运行方式很多，" * 16 + "常见的用法有："
    text = f"{lead_in}\n\n* 打开水泵的阀门。\n* 关闭水泵的阀门。\n\n" + "其他内容与水泵无关。" * 40
    assert text.index("* 打开") not in split(text).starts
