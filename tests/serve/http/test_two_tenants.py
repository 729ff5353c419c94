"""Two tenants of one server over real HTTP: whatever one of them does, the other sees what it would see alone."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

from keyhole.config.config import Config
from tests.serve.http.test_tenants_over_http import ERAS, answer, client_of
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.server_process import NameVerifier, application_server

NO_IDS = ["a" * 16, "b" * 16, "c" * 16]
"""What tenant two guesses where tenant one has stored nothing."""
SECRET_WORD = "zebrafish"
QUERY = "Which pump lifts water?"
_ID = re.compile(r"(?<![a-z2-7])[a-z2-7]{16}(?![a-z2-7])")
_MARK = re.compile(r"(?<=--- untrusted text )[a-z2-7]{8}|(?<=--- end )[a-z2-7]{8}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?")


def pages(site: Site) -> Responder:
    """Serve an index that links to a page with the secret word, and a page that both tenants read."""
    bodies = {
        "/index": f"<h1>Index</h1><p>The pump of the <a href='/secret'>{SECRET_WORD}</a> stands here.",
        "/secret": f"<h1>{SECRET_WORD}</h1><p>The {SECRET_WORD} needs a pump that lifts water.",
        "/shared": "<h1>Pumps</h1>" + "".join(f"<p>Pump {n} lifts water to floor {n}." for n in range(400)),
    }

    def talk(call: Call) -> None:
        headers = {"Content_Type": "text/html", "ETag": '"the-same"', "Cache_Control": "max-age=3600"}
        if "if-none-match" in call.headers:
            call.send(response(status="304 Not Modified", ETag='"the-same"'))
        else:
            call.send(response(bodies[call.path].encode(), **headers))

    return talk


def settings(home: Path, site: Site, stateless: bool) -> Config:
    return Config(
        home=home,
        allow_private=frozenset({site.endpoint}),
        stateless=stateless,
        engines=("searxng",),
        url_policy="known",
        known_urls=frozenset({site.url("/index"), site.url("/shared")}),
    )


async def use(client: Client, site: Site) -> list[str]:
    """Do what a tenant does: fetch, follow a link, search, read on, list. Return the ids of its pages."""
    ids = [(await answer(client, "web_fetch", url=site.url(path)))[1]["artifact_id"] for path in ("/index", "/secret")]
    _, facts = await answer(client, "web_fetch", url=site.url("/shared"), query=QUERY)
    ids.append(facts["artifact_id"])
    await answer(client, "search", query=SECRET_WORD, scope="stored")
    await answer(client, "read_artifact", id=ids[-1], query=QUERY)
    await client.list_resources(cache_mode="bypass")
    return ids


async def look_around(client: Client, site: Site, ids: Sequence[str]) -> list[str]:
    """Return all that a tenant is answered who tries everything that could show the pages of another."""
    seen: list[Any] = []

    async def ask(tool: str, **arguments: Any) -> None:
        seen.append((tool, *(await answer(client, tool, **arguments))))

    async def read(uri: str) -> None:
        try:
            seen.append((await client.read_resource(uri)).model_dump(mode="json"))
        except MCPError as error:
            seen.append((error.code, error.message, error.data))

    for id in ids:
        for arguments in ({}, {"offset": 10}, {"query": SECRET_WORD}, {"find": SECRET_WORD}, {"limit": 5}):
            await ask("read_artifact", id=id, **arguments)
        for uri in (f"artifact://{id}", f"artifact://{id}?offset=0&limit=9"):
            await read(uri)
    for query in (SECRET_WORD, QUERY):
        await ask("search", query=query, scope="stored")
    seen.append((await client.list_resources(cache_mode="bypass")).model_dump(mode="json"))
    for template in (await client.list_resource_templates()).resource_templates:
        for value in ("", SECRET_WORD, "secret", *ids):
            reference = ResourceTemplateReference(uri=template.uri_template)
            seen.append((await client.complete(reference, {"name": "id", "value": value})).completion.values)
    # The secret page is known to the tenant that read the index, and to nobody else.
    await ask("web_fetch", url=site.url("/secret"))
    await ask("web_fetch", url=site.url("/shared"), query=QUERY)
    await ask("web_fetch", url=site.url("/shared"), query=QUERY, max_chars=4_000)
    await ask("search", query=QUERY, scope="stored")
    return [json.dumps(each, default=str) for each in seen]


def masked(lines: Sequence[str]) -> list[str]:
    """Return answers without what differs between any two servers: ids, boundary marks and times."""
    return [_TIME.sub("TIME", _MARK.sub("MARK", _ID.sub("ID", line))) for line in lines]


def seen_by_two(home: Path, site: Site, era: str, stateless: bool, *, is_alone: bool) -> tuple[list[str], list[bytes]]:
    """Return what tenant two sees on a new server, and the requests that the site gets for it."""

    async def run(url: str) -> tuple[list[str], list[bytes]]:
        async with client_of(url, "one", era) as one, client_of(url, "two", era) as two:
            ids = NO_IDS if is_alone else await use(one, site)
            before = len(site.calls)
            seen = await look_around(two, site, ids)
            return seen, [call.head for call in site.calls[before:]]

    with application_server(settings(home, site, stateless), NameVerifier()) as server:
        return asyncio.run(run(server.url))


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_a_tenant_sees_the_same_with_and_without_another_tenant(tmp_path: Path, era: str, stateless: bool) -> None:
    with serve(pages) as site:
        alone, requests = seen_by_two(tmp_path / "alone", site, era, stateless, is_alone=True)
        beside, same_requests = seen_by_two(tmp_path / "beside", site, era, stateless, is_alone=False)
    assert masked(beside) == masked(alone)
    assert same_requests == requests  # the stored page of the other is neither used nor asked about
    assert sum(head.startswith(b"GET /shared ") for head in requests) == 1
    (refused,) = (line for line in beside if "url_not_known" in line)
    assert SECRET_WORD not in refused


@pytest.mark.parametrize("era", ERAS)
def test_the_same_page_has_another_id_and_another_mark_for_each_tenant(tmp_path: Path, era: str) -> None:
    with serve(pages) as site, application_server(settings(tmp_path, site, False), NameVerifier()) as server:

        async def fetch(tenant: str) -> str:
            async with client_of(server.url, tenant, era) as client:
                return (await answer(client, "web_fetch", url=site.url("/index")))[0]

        one, two, again = (asyncio.run(fetch(tenant)) for tenant in ("one", "two", "one"))
    assert one == again
    assert masked([one]) == masked([two])
    for pattern in (_ID, _MARK):
        assert pattern.findall(one)
        assert not set(pattern.findall(one)) & set(pattern.findall(two))
