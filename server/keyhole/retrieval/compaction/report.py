"""Describe what a compaction decided, in a form that is kept between two calls. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.compaction.notices import NOTHING, Amount


@dataclass(frozen=True, slots=True)
class Report:
    """The decisions of a compaction. Given to the next call as `previous`, they stay and are extended."""

    format: str
    tokens_before: int
    tokens_after: int
    stubs: tuple[tuple[int, int | None], ...] = ()
    """The tool results that were replaced: each the index of an item, and of a block in its content or None."""
    dropped: tuple[int, ...] = ()
    """The indexes of the items that were left out."""
    left_out: Amount = NOTHING
    """The messages, calls, characters and tokens of the items that were left out."""
    ids: tuple[str, ...] = ()
    """The ids of the stored texts: the replaced results, and the items that were left out
    (transcript.py)."""
    digest: str = ""
    """A hash of the items up to the last one that was replaced or left out."""

    def to_json(self) -> str:
        """Return the report as JSON, from which `from_json` makes it again."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Return the report that `to_json` wrote. Raises KeyholeError: invalid_argument."""
        try:
            facts: dict[str, Any] = json.loads(text)
            facts["stubs"] = tuple((int(item), block) for item, block in facts["stubs"])
            facts["dropped"] = tuple(map(int, facts["dropped"]))
            facts["ids"] = tuple(map(str, facts["ids"]))
            return cls(**{**facts, "left_out": Amount(**facts["left_out"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"this is no report of a compaction: {error}") from error
