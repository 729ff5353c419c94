"""The pictures of `keyhole look` are those that their command takes, and small."""

from __future__ import annotations

import sys
import time
from itertools import chain
from pathlib import Path

from keyhole.cli.build import open_stores
from keyhole.config.load import parse_config
from keyhole.store.base import LOCAL
from tests.store.calls import samples
from tests.support.documentation import DOCS

sys.path.append(str(DOCS / "make"))

import look_pictures

MAX_BYTES = 150_000
"""Bytes of a picture, so that a page with five loads quickly."""


def test_every_picture_is_taken_by_the_command_and_shown_on_the_page() -> None:
    names = {f"look-{name}.png" for name in ("app", *chain(*look_pictures.TAKEN.values()))}
    page = (DOCS / "look.md").read_text(encoding="utf-8")
    assert {path.name for path in look_pictures.SHOTS.glob("look-*.png")} == names
    assert all(f"(shots/{name})" in page for name in names)


def test_the_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in look_pictures.SHOTS.glob("look-*.png")}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}


def test_the_sessions_of_the_pictures_are_spread_over_days_in_their_order(tmp_path: Path) -> None:
    stores = open_stores(parse_config({"KEYHOLE_HOME": str(tmp_path)}))
    log = stores.calls_for(LOCAL)
    for number, session in enumerate(("old", "old", "new", "new", "newest")):
        log.add(samples.call(f"call-{number}", session, started_at=time.time() - 60 + number))
    look_pictures.spread_times(tmp_path)
    found = log.sessions(9)
    stores.close()
    assert [(session.id, session.calls) for session in found] == [("newest", 1), ("new", 2), ("old", 2)]
    assert found[0].last_at - found[2].last_at > 86_400
