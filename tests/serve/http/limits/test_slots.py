"""Places are taken and free again, whoever is inside of them and in which order they leave."""

from __future__ import annotations

from keyhole.serve.http.limits.slots import Places


def test_a_place_is_free_when_the_last_who_is_inside_has_left() -> None:
    places, freed = Places(each=1, all=2), []
    request = work = places.hold("a")
    request.on_free(lambda: freed.append("a"))
    with request:
        work.__enter__()
        assert places.full_for("a")
        assert not places.full()
    assert places.full_for("a")
    work.__exit__(None, None, None)
    assert not places.full_for("a")
    assert (places.taken, places.tenants(), freed) == (0, 0, ["a"])


def test_work_that_begins_after_its_request_has_gone_counts_too() -> None:
    places, freed = Places(each=1, all=1), []
    place = places.hold("a")
    place.on_free(lambda: freed.append("a"))
    with place:
        pass
    with place:
        assert places.full()
    assert (places.taken, freed) == (0, ["a"])


def test_only_who_holds_a_place_is_remembered() -> None:
    places = Places(each=2, all=10)
    for n in range(1_000):
        with places.hold(str(n)):
            assert places.tenants() == 1
        assert not places.full_for(str(n))
    assert places.tenants() == 0
