"""The events that real clients gave to a hook, and a long output to put into them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

PAYLOADS: Final = Path(__file__).resolve().parents[1] / "outputs" / "hooks" / "payloads"
LONG: Final = "".join(f"10:00:{n % 60:02} served request {n}\n" for n in range(2_000)) + "ERROR no route to host\nend\n"
"""A log of 60,000 characters."""


def recorded(name: str) -> dict[str, Any]:
    """Return a recorded event by the name of its file."""
    event: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text("utf-8"))
    return event


def all_recorded(client: str) -> list[str]:
    """Return the names of the recorded events of a client."""
    return sorted(path.stem for path in PAYLOADS.glob(f"{client}-*.json"))
