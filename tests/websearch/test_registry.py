"""Which engines there are under which settings, and which endpoints the operator opened by naming them."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.config.config import Config, parse_config
from keyhole.config.schema import ENGINES, KEYED_ENGINES
from keyhole.errors import KeyholeError
from keyhole.websearch.registry import api_endpoints, build_engines
from tests.support.fakes import Clock, FakeFetcher

DOCS = Path(__file__).resolve().parents[2] / "docs" / "search-engines" / "engines.md"
FILTERS = ("sites", "exclude_sites", "freshness", "language", "country", "news")
EVERY = {f"KEYHOLE_{name.upper()}_KEY": "0123456789abcdef" for name in KEYED_ENGINES} | {
    "KEYHOLE_SEARXNG_URL": "http://127.0.0.1:8888",
    "KEYHOLE_MEDIAWIKI_URL": "http://wiki.corp.example:8080/api.php",
}


def test_without_settings_the_engines_without_keys_can_run() -> None:
    assert list(build_engines(Config(), FakeFetcher())) == ["keyless", "wikipedia"]


def test_with_every_setting_every_engine_can_run_in_the_order_of_preference() -> None:
    engines = build_engines(parse_config(EVERY), FakeFetcher(), Clock())
    assert tuple(engines) == ENGINES
    assert all(engine.name == name for name, engine in engines.items())
    assert all(engine.supported_filters <= {*FILTERS, "locale"} for engine in engines.values())


@pytest.mark.parametrize("name", KEYED_ENGINES)
def test_a_key_adds_its_engine(name: str) -> None:
    engines = build_engines(parse_config({f"KEYHOLE_{name.upper()}_KEY": "0123456789abcdef"}), FakeFetcher())
    assert set(engines) == {name, "keyless", "wikipedia"}


def test_engines_that_want_dates_apply_freshness_where_there_is_a_clock() -> None:
    for name in ("exa", "mojeek"):
        assert "freshness" in build_engines(parse_config(EVERY), FakeFetcher(), Clock())[name].supported_filters
        assert "freshness" not in build_engines(parse_config(EVERY), FakeFetcher())[name].supported_filters


@pytest.mark.parametrize("engine", [*KEYED_ENGINES, "wikipedia"])
def test_the_documentation_says_what_an_engine_applies(engine: str) -> None:
    table = DOCS.read_text(encoding="utf-8").partition("## What each applies itself")[2]
    (row,) = (line for line in table.splitlines() if line.startswith(f"| `{engine}`"))
    cells = [cell.strip() for cell in row.strip("| ").split("|")][1:7]
    no = ("no", "one site")
    said = {name for name, cell in zip(FILTERS, cells, strict=True) if not cell.startswith(no)}
    environment = {name: value for name, value in EVERY.items() if name.endswith("_KEY")}
    assert said == build_engines(parse_config(environment), FakeFetcher(), Clock())[engine].supported_filters


def test_what_the_operator_named_may_be_private() -> None:
    assert api_endpoints(parse_config(EVERY)) == {"127.0.0.1:8888", "wiki.corp.example:8080"}
    assert api_endpoints(Config()) == frozenset()


@pytest.mark.parametrize("raw", ["wiki.example/api.php", "https://user:pass@wiki.example/api.php", "ftp://a.example/",
                                 "https://wiki.example/api.php?action=query", "https://"])  # fmt: skip
def test_an_address_that_no_query_can_be_added_to_is_refused(raw: str) -> None:
    with pytest.raises(KeyholeError, match="without a query"):
        parse_config({"KEYHOLE_MEDIAWIKI_URL": raw})
