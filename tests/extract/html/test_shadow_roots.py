"""Declarative shadow roots; the tables of probes have more of them, with Chromium's verdicts."""

from __future__ import annotations

from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html


def words(html: str) -> list[str]:
    root = parse_html(f"<body>{html}</body>")
    prune(root)
    text: str = root.text_content()
    return text.split()


def test_slots_show_the_children_that_name_them_in_the_order_of_the_slots() -> None:
    slots = '<slot name="b">none</slot> and <slot></slot> of <slot name="c">all</slot>'
    children = 'one <i slot="b">two</i> <i slot="d">three</i>'
    html = f'<x-card><template shadowrootmode="open">{slots}</template>{children}</x-card>'
    assert words(html) == ["two", "and", "one", "of", "all"]


def test_comments_among_the_children_of_a_host_are_no_slotted_elements() -> None:
    template = '<template shadowrootmode="open"><p>a</p><slot></slot></template>'
    assert words(f"<x-card>{template}<!-- one -->b<!-- two --><i>c</i><?three?>d</x-card>") == ["abcd"]


def test_the_style_sheets_of_a_root_apply_in_it_alone() -> None:
    template = '<template shadowrootmode="open"><style>p{display:none}</style><p>a</p><b>b</b> </template>'
    assert words(f"<div>{template}</div><p>c</p>") == ["b", "c"]


def test_the_root_of_a_hidden_element_is_hidden() -> None:
    assert words('<div hidden><template shadowrootmode="open"><p>a</p></template></div>b') == ["b"]


def test_a_template_without_a_mode_is_not_shown() -> None:
    assert words("<div><template><p>a</p></template>b</div>") == ["b"]
