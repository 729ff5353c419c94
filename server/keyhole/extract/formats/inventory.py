"""Read the inventory of a site that Sphinx made (objects.inv) as a list of links."""

from __future__ import annotations

import re

from keyhole.errors import Code, KeyholeError
from keyhole.extract.body import Body
from keyhole.extract.html.link_resolver import resolve_link
from keyhole.records import Document
from keyhole.sites.link_lists import parse_inventory
from keyhole.text.markdown import shorten_link

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
