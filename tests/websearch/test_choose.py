"""Which engines are asked: what the setting says, or else what was set up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.websearch.base import Engine
from keyhole.websearch.registry import missing_setting, parallel_count, select_engines
from tests.support.fakes import FakeEngine


def names(wanted: Sequence[str], available: Sequence[str], own: Sequence[str] = ()) -> list[str]:
    engines: dict[str, Engine] = {name: FakeEngine(name=name) for name in available}
    return [engine.name for engine in select_engines(wanted, engines, [FakeEngine(name=name) for name in own])]


def test_without_a_setting_those_that_were_set_up_are_asked_and_no_others() -> None:
    assert names((), ["searxng", "brave", "keyless", "wikipedia"]) == ["searxng", "brave"]
    assert names((), ["keyless", "wikipedia"], own=["intranet"]) == ["intranet"]
    assert names((), ["brave", "keyless", "wikipedia"], own=["intranet"]) == ["intranet", "brave"]


def test_with_nothing_set_up_keyless_is_asked_and_wikipedia_is_its_reserve() -> None:
    assert names((), ["wikipedia", "keyless"]) == ["keyless", "wikipedia"]


def test_the_setting_is_the_order_of_preference() -> None:
    wanted = ["wikipedia", "intranet", "brave", "wikipedia"]
    assert names(wanted, ["searxng", "brave", "keyless", "wikipedia"], own=["intranet"]) == [
        "wikipedia", "intranet", "brave",
    ]  # fmt: skip


def test_an_engine_that_is_not_set_up_is_left_out() -> None:
    assert names(["tavily", "keyless"], ["keyless", "wikipedia"]) == ["keyless"]


def test_the_setting_that_an_engine_needs_is_named() -> None:
    assert names(["searxng", "brave"], ["keyless", "wikipedia"]) == []
    assert missing_setting("searxng") == "searxng needs KEYHOLE_SEARXNG_URL"
    assert missing_setting("brave") == "brave needs KEYHOLE_BRAVE_KEY"


def test_of_the_engines_that_nobody_asked_for_one_is_asked_at_once() -> None:
    keyless, wikipedia = FakeEngine(name="keyless"), FakeEngine(name="wikipedia")
    assert parallel_count((), [keyless, wikipedia], 3) == 1
    assert parallel_count(("keyless", "wikipedia"), [keyless, wikipedia], 3) == 3
    assert parallel_count((), [FakeEngine(name="brave")], 3) == 3


def test_an_unknown_engine_is_refused_with_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(KeyholeError) as caught:
        names(["searxng", "intranett"], ["keyless"], own=["intranet"])
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert "'intranett' is none of searxng" in caught.value.message
    assert caught.value.message.endswith("did you mean intranet?")
