"""A name of one of several servers is its own: other servers cannot take it, and it always leads to its server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy import names as names_module
from keyhole.extensions.proxy.names import MAX_NAME, MAX_PREFIX, Names, server_prefixes
from keyhole.extensions.proxy.rewrite import PREFIXED_READER, READER

PARTS = st.text("ab_.é 0f", min_size=1, max_size=40)
SERVERS = st.lists(
    PARTS | st.sampled_from(["github", "git", "git_hub", "read", "keyhole", "a_0123456789", "a_0123456789_b"]),
    min_size=2,
    max_size=5,
    unique=True,
)


@st.composite
def listed(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Return servers and the names that they list, among them such as look like a prefixed name of another server."""
    servers = draw(SERVERS)
    prefixes = list(server_prefixes(servers).values())
    plain = PARTS | st.sampled_from(["search", "artifact", "read_artifact", "", "x" * 70, "0123456789", "0123456789_a"])
    forged = st.builds("{}_{}".format, st.sampled_from(prefixes), plain)
    shown = st.builds(lambda server, name: Names(servers).shown(server, name), st.sampled_from(servers), plain)
    ends = shown.map(lambda name: name.partition("_")[2])
    names = st.lists(plain | forged | shown | ends, max_size=6, unique=True)
    return servers, [(server, name) for server in servers for name in draw(names)]


@given(listed(), st.randoms(use_true_random=False))
def test_each_name_leads_to_its_server_and_no_two_are_the_same_in_any_order(
    given: tuple[list[str], list[tuple[str, str]]], random: st.DataObject
) -> None:
    servers, listed = given
    names = Names(servers)
    shown = {each: names.shown(*each) for each in listed}
    random.shuffle(listed)  # type: ignore[attr-defined]
    again = Names(servers)
    assert {each: again.shown(*each) for each in listed} == shown
    assert len(set(shown.values())) == len(listed)
    for target, name in shown.items():
        assert names.find(name) == again.find(name) == target
        assert len(name) <= MAX_NAME
        assert name not in (READER, PREFIXED_READER)
        assert name.startswith(f"{server_prefixes(servers)[target[0]]}_")


@given(SERVERS, PARTS)
def test_no_server_can_list_a_name_that_leads_to_another(servers: list[str], name: str) -> None:
    names = Names(servers)
    wanted = names.shown(servers[0], name)
    for other in servers[1:]:
        for forged in (name, wanted, wanted.partition("_")[2], wanted.removeprefix(f"{other}_")):
            assert names.shown(other, forged) != wanted
    assert names.find(wanted) == (servers[0], name)


@given(
    SERVERS, st.text(max_size=30) | st.sampled_from(["ui://a/b", "ui://keyhole/git/x", "keyhole:git:x", "file:///a"])
)
def test_a_uri_leads_to_its_server_and_its_own_form(servers: list[str], uri: str) -> None:
    names = Names(servers)
    shown = {server: names.shown_uri(server, uri) for server in servers}
    assert len(set(shown.values())) == len(servers)
    assert {server: names.find_uri(each) for server, each in shown.items()} == {each: (each, uri) for each in servers}


@given(SERVERS)
def test_prefixes_of_servers_are_short_and_unique(servers: list[str]) -> None:
    prefixes = server_prefixes(servers)
    assert list(prefixes) == servers
    assert len(set(prefixes.values())) == len(servers)
    assert all(len(prefix) <= MAX_PREFIX for prefix in prefixes.values())


def test_a_name_begins_with_that_of_its_server() -> None:
    names = Names(["github", "my server"])
    assert names.shown("github", "search") == "github_search"
    assert names.shown("my server", "search") == "my_server_search"
    assert names.shown_uri("my server", "file:///a/{b}") == "keyhole:my_server:file:///a/{b}"
    assert names.shown_uri("my server", "ui://a/b.html") == "ui://keyhole/my_server/a/b.html"


def test_a_name_that_begins_with_the_prefix_of_another_server_has_a_digest() -> None:
    names = Names(["git", "git_hub"])
    assert names.shown("git_hub", "search") == "git_hub_search"
    shown = names.shown("git", "hub_search")
    assert shown.startswith("git_") and shown.endswith("_hub_search") and shown != "git_hub_search"
    assert names.find(shown) == ("git", "hub_search")


def test_the_name_of_keyholes_own_tool_stays_free() -> None:
    names = Names(["read", "keyhole"])
    assert names.shown("read", "artifact") != READER
    assert names.shown("keyhole", "read_artifact") != PREFIXED_READER


@pytest.mark.parametrize("shown", ["search", "", "other_search", "github_0123456789_x", f"github_{'x' * 60}"])
def test_a_name_that_no_server_can_have_listed_is_refused(shown: str) -> None:
    with pytest.raises(KeyholeError, match="no server has listed") as caught:
        Names(["github", "evil"]).find(shown)
    assert caught.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize("uri", ["file:///a", "", "keyhole:other:file:///a", "keyhole:github", "ui://github/a"])
def test_a_uri_that_names_no_server_is_refused_with_the_form_it_should_have(uri: str) -> None:
    with pytest.raises(KeyholeError, match="keyhole:github:URI, keyhole:evil:URI"):
        Names(["github", "evil"]).find_uri(uri)


def test_one_server_cannot_make_the_names_of_another_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "MAX_REMEMBERED", 3)
    names = Names(["github", "evil"])
    shown = names.shown("github", "x" * 70)
    own = [names.shown("evil", f"{'x' * 70}{number}") for number in range(5)]
    assert names.find(shown) == ("github", "x" * 70)
    with pytest.raises(KeyholeError):
        names.find(own[0])
    assert names.find(own[-1])
