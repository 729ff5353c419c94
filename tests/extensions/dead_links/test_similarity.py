"""Which of the addresses that exist are named for a dead one."""

from __future__ import annotations

import pytest

from keyhole.extensions.dead_links.address_words import language_of, read_address
from keyhole.extensions.dead_links.similarity import (
    MAX_NEAR,
    CandidateSource,
    CandidateUrl,
    choose_near,
    rank_candidates,
)

SITE = "https://docs.example"
PAGES = {
    "/en/3.2/": "Works documentation",
    "/en/3.2/topics/db/models.html": "Models",
    "/en/3.2/topics/db/queries.html": "Making queries",
    "/en/3.2/ref/models/fields.html": "Model field reference",
    "/en/3.2/intro/quickstart.html": "Quickstart",
    "/en/3.2/ref/functions-aggregate.html": "Aggregate Functions",
    "/en/3.2/ref/create_table.html": "CREATE TABLE",
    "/en/3.2/faq/help.html": "FAQ: Getting help",
}
CANDIDATES = [CandidateUrl(SITE + path, title, CandidateSource.SITEMAP) for path, title in PAGES.items()]


@pytest.mark.parametrize(
    ("dead", "wanted"),
    [
        ("/en/4.2/topics/db/models/", "/en/3.2/topics/db/models.html"),
        ("/en/3.2/topics/db/model.html", "/en/3.2/topics/db/models.html"),
        ("/topics/db/models.md", "/en/3.2/topics/db/models.html"),
        ("/en/stable/db/querying.html", "/en/3.2/topics/db/queries.html"),
        ("/en/3.2/quick-start", "/en/3.2/intro/quickstart.html"),
        ("/en/3.2/getting-started/", "/en/3.2/intro/quickstart.html"),
        ("/en/3.2/ref/aggregate-functions", "/en/3.2/ref/functions-aggregate.html"),
        ("/en/3.2/ref/createtable.html", "/en/3.2/ref/create_table.html"),
        ("/en/3.2/ref/create/table", "/en/3.2/ref/create_table.html"),
        ("/en/3.2/topics/db/modles.html", "/en/3.2/topics/db/models.html"),
        ("/en/3.2/intro/Quickstart.HTML", "/en/3.2/intro/quickstart.html"),
    ],
)
def test_the_page_that_was_meant_comes_first(dead: str, wanted: str) -> None:
    assert choose_near(rank_candidates(SITE + dead, CANDIDATES))[0].url == SITE + wanted


def test_nothing_is_named_for_an_address_that_is_like_none() -> None:
    assert choose_near(rank_candidates(f"{SITE}/pricing", CANDIDATES)) == ()


def test_the_reason_says_what_is_alike_and_where_the_address_is_named() -> None:
    near = rank_candidates(f"{SITE}/en/4.2/topics/db/models", CANDIDATES)
    assert near[0].why == "another version, named by the sitemap"
    near = rank_candidates(f"{SITE}/en/3.2/models", CANDIDATES)
    assert near[0].why == "the same name in another folder, named by the sitemap"


def test_at_most_three_addresses_are_named_and_each_once() -> None:
    candidates = [
        CandidateUrl(f"{SITE}/part{n}/models{slash}", "", CandidateSource.PAGE) for n in range(8) for slash in ("", "/")
    ]
    near = choose_near(rank_candidates(f"{SITE}/models", candidates))
    assert len({each.url.rstrip("/") for each in near}) == len(near) == MAX_NEAR


def test_a_page_is_named_in_one_version_the_one_that_answered_or_the_newest() -> None:
    candidates = [CandidateUrl(f"{SITE}/{version}/models", "", CandidateSource.PAGE) for version in ("v4", "v18", "v9")]
    assert [each.url for each in choose_near(rank_candidates(f"{SITE}/v20/models", candidates))] == [
        f"{SITE}/v18/models"
    ]
    candidates.append(CandidateUrl(f"{SITE}/v9/models", "", CandidateSource.ANSWERED))
    assert [each.url for each in choose_near(rank_candidates(f"{SITE}/v20/models", candidates))] == [
        f"{SITE}/v9/models"
    ]


LANGUAGES = ["/da/docs/install", "/docs/install", "/de/docs/install", "/fr/docs/install"]


@pytest.mark.parametrize(
    ("languages", "named"),
    [(("en",), "/docs/install"), (("de", "en"), "/de/docs/install"), (("sv", "en"), "/docs/install")],
)
def test_a_page_is_named_in_one_language_the_reader_s_or_else_english(languages: tuple[str, ...], named: str) -> None:
    candidates = [CandidateUrl(SITE + path, "", CandidateSource.ANSWERED) for path in LANGUAGES]
    near = choose_near(rank_candidates(f"{SITE}/docs/instal", candidates), languages)
    assert [each.url for each in near] == [SITE + named]


def test_a_page_in_another_language_comes_last() -> None:
    paths = ["/da/docs/install.html", "/docs/installing.html"]
    candidates = [CandidateUrl(SITE + path, "", CandidateSource.PAGE) for path in paths]
    ranked = rank_candidates(f"{SITE}/docs/install.html", candidates)
    assert [each.url for each in ranked] == [SITE + path for path in paths]
    assert [each.url for each in choose_near(ranked)] == [SITE + path for path in reversed(paths)]


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://docs.example/pt-BR/docs/", "pt"), ("https://da.docs.example/docs/", "da"),
        ("https://docs.example/db/", "en"), ("https://id.example/", "en"),
    ],
)  # fmt: skip
def test_a_folder_or_the_host_names_the_language(url: str, language: str) -> None:
    assert language_of(url) == language


def test_the_order_of_the_lists_does_not_change_what_is_named() -> None:
    dead = f"{SITE}/en/3.2/ref/model.html"
    assert rank_candidates(dead, CANDIDATES) == rank_candidates(dead, CANDIDATES[::-1])


def test_an_address_is_divided_into_name_folder_and_version() -> None:
    address = read_address("https://docs.example/en/v4.2/Topics/db_models/index.html?page=2#top")
    assert (address.name, address.folder, address.variants) == ("db-models-page=2", ("topics",), ("en", "v4.2"))
