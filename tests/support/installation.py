"""An installation of Keyhole in its own folder, and `keyhole artifacts` run on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.extract.workers.child import index_words
from keyhole.records import Artifact
from keyhole.store.base import LOCAL, Store
from keyhole.store.ids import artifact_id
from keyhole.store.open import open_stores
from tests.support.fakes import artifact


class Installation:
    """A home folder of Keyhole. `capsys` captures what its commands print."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run `keyhole artifacts …`; return its exit code, standard output and standard error."""
        self._capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KEYHOLE_HOME", str(self.home))
            try:
                code = main(["artifacts", *words])
            except SystemExit as stop:
                code = int(stop.code or 0)
        return code, *self._capsys.readouterr()

    def facts(self, *words: str) -> Any:
        """Return the value that `keyhole artifacts … --json` printed."""
        return json.loads(self.run(*words, "--json")[1])

    def ids(self) -> list[str]:
        """Return the ids of the artifacts listed."""
        return [row["id"] for row in self.facts("list")]

    @contextmanager
    def store(self, tenant: str = LOCAL) -> Iterator[tuple[Store, bytes]]:
        """Open the store of a tenant; yield it and the secret."""
        stores = open_stores(Config(home=self.home))
        try:
            yield stores.for_tenant(tenant)
        finally:
            stores.close()

    def keep(self, text: str, url: str = "https://example.org/page", tenant: str = LOCAL, **fields: Any) -> Artifact:
        """Store a text as if it came from a fetched page; return the artifact."""
        with self.store(tenant) as (store, secret):
            made = replace(artifact(artifact_id(secret, url, text), text, url=url), **fields)
            store.put(made, index_words(made.title, made.text))
        return made
