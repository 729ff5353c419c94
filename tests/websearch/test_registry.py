"""Test which engines the settings build and select, and which endpoints may be private."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from keyhole.config.config import ENGINES, KEYED_ENGINES, Config
from keyhole.config.load import parse_config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.client import api_endpoints
from keyhole.websearch.base import Engine
from keyhole.websearch.registry import build_engines, describe_missing_setting, parallel_count, select_engines
from tests.support.fakes import Clock, FakeEngine, search_api

DOCS = Path(__file__).resolve().parents[2] / "docs" / "search-engines" / "engines.md"
FILTERS = ("sites", "exclude_sites", "freshness", "language", "country", "news")
EVERY = {f"KEYHOLE_{name.upper()}_KEY": "0123456789abcdef" for name in KEYED_ENGINES} | {
    "KEYHOLE_SEARXNG_URL": "http://127.0.0.1:8888",
    "KEYHOLE_MEDIAWIKI_URL": "http://wiki.corp.example:8080/api.php",
}


def test_without_settings_only_the_keyless_engines_are_built() -> None:
    assert list(build_engines(Config(), search_api())) == ["keyless", "wikipedia"]


def test_with_every_setting_every_engine_is_built_in_order_of_preference() -> None:
    engines = build_engines(parse_config(EVERY), search_api(), Clock())
    assert tuple(engines) == ENGINES
    assert all(engine.name == name for name, engine in engines.items())
    assert all(engine.supported_filters <= {*FILTERS, "locale"} for engine in engines.values())


@pytest.mark.parametrize("name", KEYED_ENGINES)
def test_a_key_adds_its_engine(name: str) -> None:
    engines = build_engines(parse_config({f"KEYHOLE_{name.upper()}_KEY": "0123456789abcdef"}), search_api())
    assert set(engines) == {name, "keyless", "wikipedia"}


def test_engines_that_need_a_date_apply_freshness_only_with_a_clock() -> None:
    for name in ("exa", "mojeek"):
        assert "freshness" in build_engines(parse_config(EVERY), search_api(), Clock())[name].supported_filters
        assert "freshness" not in build_engines(parse_config(EVERY), search_api())[name].supported_filters


@pytest.mark.parametrize("engine", [*KEYED_ENGINES, "wikipedia"])
def test_the_documentation_lists_the_filters_of_an_engine(engine: str) -> None:
    table = DOCS.read_text(encoding="utf-8").partition("## Filters")[2]
    (row,) = (line for line in table.splitlines() if line.startswith(f"| `{engine}`"))
    cells = [cell.strip() for cell in row.strip("| ").split("|")][1:7]
    not_applied = ("no", "one site")
    documented = {name for name, cell in zip(FILTERS, cells, strict=True) if not cell.startswith(not_applied)}
    environment = {name: value for name, value in EVERY.items() if name.endswith("_KEY")}
    assert documented == build_engines(parse_config(environment), search_api(), Clock())[engine].supported_filters


def test_configured_endpoints_may_be_private() -> None:
    assert api_endpoints(parse_config(EVERY)) == {"127.0.0.1:8888", "wiki.corp.example:8080"}
    assert api_endpoints(Config()) == frozenset()


@pytest.mark.parametrize("raw", ["wiki.example/api.php", "https://user:pass@wiki.example/api.php", "ftp://a.example/",
                                 "https://wiki.example/api.php?action=query", "https://"])  # fmt: skip
def test_an_api_url_with_a_query_or_another_scheme_is_refused(raw: str) -> None:
    with pytest.raises(KeyholeError, match="without a query"):
        parse_config({"KEYHOLE_MEDIAWIKI_URL": raw})


# Selecting engines.


def names(wanted: Sequence[str], built: Sequence[str], custom: Sequence[str] = ()) -> list[str]:
    engines: dict[str, Engine] = {name: FakeEngine(name=name) for name in built}
    return [engine.name for engine in select_engines(wanted, engines, [FakeEngine(name=name) for name in custom])]


def test_without_a_setting_only_the_engines_that_were_set_up_are_selected() -> None:
    assert names((), ["searxng", "brave", "keyless", "wikipedia"]) == ["searxng", "brave"]
    assert names((), ["keyless", "wikipedia"], custom=["intranet"]) == ["intranet"]
    assert names((), ["brave", "keyless", "wikipedia"], custom=["intranet"]) == ["intranet", "brave"]


def test_without_any_engine_set_up_keyless_and_then_wikipedia_are_selected() -> None:
    assert names((), ["wikipedia", "keyless"]) == ["keyless", "wikipedia"]


def test_the_setting_gives_the_order_of_preference() -> None:
    wanted = ["wikipedia", "intranet", "brave", "wikipedia"]
    assert names(wanted, ["searxng", "brave", "keyless", "wikipedia"], custom=["intranet"]) == [
        "wikipedia", "intranet", "brave",
    ]  # fmt: skip


def test_an_engine_that_is_not_set_up_is_left_out() -> None:
    assert names(["tavily", "keyless"], ["keyless", "wikipedia"]) == ["keyless"]


def test_the_missing_setting_of_an_engine_is_named() -> None:
    assert names(["searxng", "brave"], ["keyless", "wikipedia"]) == []
    assert describe_missing_setting("searxng") == "searxng needs KEYHOLE_SEARXNG_URL"
    assert describe_missing_setting("brave") == "brave needs KEYHOLE_BRAVE_KEY"


def test_default_engines_are_queried_one_at_a_time() -> None:
    keyless, wikipedia = FakeEngine(name="keyless"), FakeEngine(name="wikipedia")
    assert parallel_count((), [keyless, wikipedia], 3) == 1
    assert parallel_count(("keyless", "wikipedia"), [keyless, wikipedia], 3) == 3
    assert parallel_count((), [FakeEngine(name="brave")], 3) == 3


def test_an_unknown_engine_is_refused_with_a_suggestion() -> None:
    with pytest.raises(KeyholeError) as caught:
        names(["searxng", "intranett"], ["keyless"], custom=["intranet"])
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert "'intranett' is not one of searxng" in caught.value.message
    assert caught.value.message.endswith("did you mean intranet?")
