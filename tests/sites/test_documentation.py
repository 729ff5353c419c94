"""The page about sites names each reader, and only these."""

from __future__ import annotations

import re

from keyhole.config.config import SITES
from tests.support.documentation import ROOT


def test_the_table_of_readers_names_the_sites_of_the_setting_in_order() -> None:
    text = (ROOT / "docs" / "how-it-works" / "sites.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == SITES
