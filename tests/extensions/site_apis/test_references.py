"""Papers of arXiv and RFCs. The answers are written from the documentation of the APIs."""

from __future__ import annotations

import pytest

from tests.extensions.site_apis.reading import read

FEED = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title><entry>
<id>http://arxiv.org/abs/2401.00001v2</id><updated>2024-02-01T00:00:00Z</updated><published>2024-01-01T00:00:00Z</published>
<title>Valves &amp;
  Pipes</title><summary>  We open
valves. </summary><author><name>Ann Smith</name></author><author><name>Bob</name></author>
<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">12 pages</arxiv:comment>
<category term="cs.SE" scheme="http://arxiv.org/schemas/atom"/></entry></feed>"""
QUERY = "https://export.arxiv.org/api/query?id_list=2401.00001"


@pytest.mark.parametrize("kind", ["abs/2401.00001", "pdf/2401.00001.pdf", "html/2401.00001"])
def test_a_paper_has_its_abstract_and_its_full_text(kind: str) -> None:
    full = "<html><head><style>p{}</style></head><body><h2>1 Introduction</h2><p>Long.</p></body></html>"
    document, _ = read(f"https://arxiv.org/{kind}", {QUERY: FEED, "https://arxiv.org/html/2401.00001": full})
    assert document.title == "Valves & Pipes"
    assert document.metadata.author == "Ann Smith, Bob"
    assert "- Comment: 12 pages" in document.text
    assert "## Abstract\n\nWe open valves." in document.text
    assert document.text.endswith("### 1 Introduction\n\nLong.\n")


def test_a_paper_without_html_has_its_abstract() -> None:
    text = read("https://arxiv.org/abs/2401.00001", {QUERY: FEED})[0].text
    assert "Full text" not in text
    assert "- PDF: https://arxiv.org/pdf/2401.00001" in text


def test_a_paper_that_does_not_exist_is_an_answer_of_another_form() -> None:
    with pytest.raises(ValueError, match="no such paper"):
        read("https://arxiv.org/abs/2401.00001", {QUERY: "<feed></feed>"})


@pytest.mark.parametrize(
    "url",
    ["https://datatracker.ietf.org/doc/html/rfc0793", "https://www.rfc-editor.org/rfc/rfc793.html",
     "https://tools.ietf.org/html/rfc793#section-3", "https://datatracker.ietf.org/doc/rfc793/"],
)  # fmt: skip
def test_an_rfc_has_its_status_and_its_text(url: str) -> None:
    about = {"title": "Valve  Protocol", "status": "PROPOSED STANDARD", "obsoleted_by": ["RFC9293"], "obsoletes": [],
             "authors": ["J. Postel"], "pub_date": "September 1981"}  # fmt: skip
    base = "https://www.rfc-editor.org/rfc/rfc793"
    document, _ = read(url, {f"{base}.json": about, f"{base}.txt": "1.  Introduction\n\n   Open it.\n\f\n"})
    assert document.title == "RFC 793: Valve Protocol"
    assert "- Status: PROPOSED STANDARD\n- Obsoleted by: RFC9293" in document.text
    assert "   Open it." in document.text
