"""Read what a site reader composed from the answers of an API, and the inventory of a site that Sphinx made."""

from __future__ import annotations

import re

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import PARSER_ERRORS, Body
from keyhole.extract.formats.markdown_html import replace_html
from keyhole.extract.formats.plain_text import clean_plain_text, resolve_links
from keyhole.extract.html.link_resolver import resolve_link
from keyhole.extract.markup import fence_code, fragment_to_markdown, lower_headings, to_one_line
from keyhole.records import Document, Metadata
from keyhole.sites.document import Part, SiteDocument, decode_site_document
from keyhole.sites.link_lists import parse_inventory
from keyhole.text.escape import escape_markdown
from keyhole.text.markdown import shorten_link

# Inventories of Sphinx (objects.inv) as a list of links.

_FIELD = re.compile(r"^# (Project|Version): (.*)$", re.MULTILINE)


def read_inventory(body: Body) -> Document:
    """Read an inventory as a list of links. Raises KeyholeError (extraction_failed) for damaged data."""
    entries = list(parse_inventory(body.data))
    if not entries:
        raise KeyholeError(Code.EXTRACTION_FAILED, "the Sphinx inventory is damaged or empty")
    fields = dict(_FIELD.findall(body.data[:1_000].decode("utf-8", "replace")))
    title = " ".join(value.strip() for value in (fields.get("Project", ""), fields.get("Version", "")) if value.strip())
    lines = [f"# {title or 'Inventory'}", ""]
    for each in entries:
        target = shorten_link(resolve_link(body.url, each.address), body.url) or each.address
        role = "" if each.role == "std:doc" else f" {each.role}"
        name = "" if each.title == each.name else f" ({each.name})"
        lines.append(f"- [{each.title}]({target}){name}{role}")
    return Document(title=title, text="\n".join(lines) + "\n", media_type="")


# Documents that a site reader composed: their parts become one Markdown text.


def read_site(body: Body) -> Document:
    """Read a composed document. Raises KeyholeError (extraction_failed) for a body that no site reader composed."""
    try:
        document = decode_site_document(body.data)
    except PARSER_ERRORS as error:
        raise KeyholeError(Code.EXTRACTION_FAILED, "the answer of the site has an unknown form") from error
    title = to_one_line(document.title)
    texts = [f"# {escape_markdown(title)}", *(_convert(part, body.url) for part in document.parts)]
    return Document(
        title=title,
        text="\n\n".join(text for text in texts if text) + "\n",
        media_type="",
        language=document.language,
        metadata=_metadata(document, title),
        cut=document.cut,
    )


def _metadata(document: SiteDocument, title: str) -> Metadata:
    return Metadata(
        title=title,
        author=to_one_line(document.author, 200),
        published=document.published,
        modified=document.modified,
        language=document.language,
        site=to_one_line(document.site, 100),
    )


def _convert(part: Part, url: str) -> str:
    if part.form == "html":
        text = fragment_to_markdown(part.text, url, url)
    elif part.form == "code":
        return fence_code(part.text, part.language).rstrip("\n")
    elif part.form == "plain":
        text = escape_markdown(part.text.strip())
    else:
        cleaned = clean_plain_text(part.text.replace("\r\n", "\n"))[1]
        text = resolve_links(replace_html(cleaned, url), url).strip("\n")
    return lower_headings(text, part.levels) if part.levels else text
