"""Read papers of arXiv, with their full text where it exists as HTML, and RFCs as text.

Sources: info.arxiv.org/help/api, and the text and JSON that rfc-editor.org has of each RFC.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from keyhole.extensions.site_apis.answer_text import URL_END, get_text, one_line
from keyhole.extensions.site_apis.site_readers import FixedReader, SiteAnswer, SiteRequest
from keyhole.sites.document import Part, SiteDocument
from keyhole.text.invalid_characters import unescape

_ARXIV = re.compile(
    r"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/((?:\d{4}\.\d{4,5}|[a-z.-]+/\d{7})(?:v\d+)?)(?:\.pdf)?"
    + URL_END
)
_RFC = re.compile(
    r"https?://(?:www\.rfc-editor\.org/(?:rfc|info)|datatracker\.ietf\.org/doc(?:/html)?|tools\.ietf\.org/html)"
    rf"/rfc(\d{{1,5}})(?:\.(?:html|txt))?{URL_END}"
)
_FIELD = re.compile(r"<([\w:]{1,40})(?:\s[^<>]{0,200})?>([^<]{0,20000})</\1>")
_CATEGORY = re.compile(r"<category\b[^>]{0,300}\bterm=\"([^\"]{1,60})\"")


def match_reference(url: str) -> FixedReader | None:
    """Return the reader of a page of a reference work, None for any other address."""
    for pattern, make in ((_ARXIV, _arxiv), (_RFC, _rfc)):
        if match := pattern.match(url):
            return make(match[1])
    return None


def _arxiv(id: str) -> FixedReader:
    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        entry, html = answers[0].text.partition("<entry>")[2].partition("</entry>")[0], answers[1]
        if not _fields(entry, "published"):
            raise ValueError("no such paper")
        authors = ", ".join(_fields(entry, "name"))
        comments = _fields(entry, "arxiv:comment")
        facts = [
            f"Authors: {authors}",
            f"Categories: {', '.join(_CATEGORY.findall(entry))}",
            *(f"Comment: {each}" for each in comments),
            f"PDF: https://arxiv.org/pdf/{id}",
        ]
        body = [Part("## Full text"), Part(html.text, "html", 1)] if html.found else []
        parts = (
            Part("\n".join(f"- {one_line(fact)}" for fact in facts)),
            Part("## Abstract"),
            Part(_fields(entry, "summary")[0], "plain"),
            *body,
        )
        published, modified = _fields(entry, "published")[0], _fields(entry, "updated")[0]
        return SiteDocument(_fields(entry, "title")[0], parts, authors, published, modified, "arXiv", "en")

    query = SiteRequest(f"https://export.arxiv.org/api/query?id_list={id}")
    return FixedReader("arxiv", (query, SiteRequest(f"https://arxiv.org/html/{id}", optional=True)), compose)


def _fields(entry: str, name: str) -> list[str]:
    """Return the texts of the elements of this name in an entry of the Atom feed of arXiv, each as one line."""
    return [" ".join(unescape(text).split()) for tag, text in _FIELD.findall(entry) if tag == name]


def _rfc(number: str) -> FixedReader:
    number = str(int(number))

    def compose(answers: Sequence[SiteAnswer]) -> SiteDocument:
        about, text = answers[0].json(), answers[1].text.replace("\f", "")
        authors = [str(each) for each in about.get("authors") or ()]
        named = {"Status": "status", "Obsoletes": "obsoletes", "Obsoleted by": "obsoleted_by", "Updates": "updates",
                 "Updated by": "updated_by"}  # fmt: skip
        facts = []
        for label, key in named.items():
            value = about.get(key)
            words = ", ".join(str(each).strip() for each in value) if isinstance(value, list) else str(value or "")
            facts += [f"- {label}: {one_line(words)}"] if words.strip() else []
        return SiteDocument(
            f"RFC {number}: {' '.join(get_text(about, 'title').split())}", (Part("\n".join(facts)), Part(text)),
            author=", ".join(authors), published=get_text(about, "pub_date"), site="RFC Editor",
        )  # fmt: skip

    base = f"https://www.rfc-editor.org/rfc/rfc{number}"
    return FixedReader("rfc", (SiteRequest(f"{base}.json"), SiteRequest(f"{base}.txt")), compose)
